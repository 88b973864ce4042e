"""A reply that goes in circles is found as it streams, wherever the chunks are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.engine.loops.chanting import MOST_KEPT, Chant, Chanting

LIMIT = 3


def chant_in(text: str, size: int = 5) -> Chant | None:
    chanting = Chanting()
    for at in range(0, len(text), size):
        if found := chanting.feed(text[at : at + size], LIMIT):
            return found
    return chanting.finish(LIMIT)


@given(st.integers(1, 300))
def test_the_cuts_between_chunks_make_no_difference(size: int) -> None:
    for text in (
        "I will check it again. " * 30,
        "Good prose.\n" + "```\nx\n```\nOnce more:\n" * 30,
    ):
        assert chant_in(text, size)
    for text in ("```\n" + "x = 1\n" * 99 + "```\n", "- one\n" * 99, "a | b | c\n" * 99):
        assert chant_in(text, size) is None


@pytest.mark.parametrize(
    "excluded",
    [
        "```python\n" + "retry()\n" * 200 + "```\n",
        "~~~~\n```\n" + "text\n" * 200 + "```\n~~~~\n",
        "> ```\n" + "> quoted code\n" * 0 + "x\n" * 100 + "> ```\n",
        "| yes | no |\n" * 100,
        "yes | no | yes\n" * 100,
        "* the same point\n" * 100,
        "1. the same point\n" * 100,
        "    indented code\n" * 100,
    ],
)
def test_code_tables_and_lists_may_repeat(excluded: str) -> None:
    assert chant_in(f"See here:\n\n{excluded}\nThat is all.") is None


def test_a_fence_that_stays_open_ends_with_its_reply() -> None:
    assert chant_in("```\n" + "x\n" * 300) is None
    assert chant_in("Round and round it goes. " * 30)


def test_the_unit_is_shown_from_its_beginning() -> None:
    found = chant_in("First something else was said. " + "Now I see it. Let me fix that. " * 30)
    assert found
    assert found.unit.strip() in (
        "Now I see it. Let me fix that.",
        "Let me fix that. Now I see it.",
    )


def test_what_is_kept_of_an_endless_reply_is_bounded() -> None:
    chanting = Chanting()
    for number in range(20_000):
        assert chanting.feed(f"word{number * 7919} ", LIMIT) is None
    assert len(chanting._text) <= MOST_KEPT  # pyright: ignore[reportPrivateUsage] the bound itself
