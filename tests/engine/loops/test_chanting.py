"""A reply that goes in circles is found as it streams, wherever the chunks are cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.engine.loops.chanting import MOST_KEPT, Chant, Chanting, Repetitions
from tests.cases import every

LIMIT = 3


def chant_in(text: str, size: int = 5) -> Chant | None:
    chanting = Chanting()
    for at in range(0, len(text), size):
        if found := chanting.feed(text[at : at + size], LIMIT):
            return found
    return chanting.finish(LIMIT)


def numbered(line: str) -> str:
    return "".join(line.format(number) for number in range(99))


@given(st.integers(1, 300))
def test_the_cuts_between_chunks_make_no_difference(size: int) -> None:
    for text in (
        "I will check it again. " * 30,
        "Good prose.\n" + "```\nx\n```\nOnce more:\n" * 30,
        "```\n" + "    retry_the_request()\n" * 30 + "```\n",
        "- pytest -q gives 15 passed\n" * 28,
    ):
        assert chant_in(text, size)
    for text in (numbered("x = {}\n"), numbered("- item {}\n"), numbered("a | {} | c\n")):
        assert chant_in(text, size) is None


DIFFERENT = [
    "```python\n{}```\n".format(numbered("retry({})\n")),
    "~~~~\n```\n{}```\n~~~~\n".format(numbered("text {}\n")),
    numbered("| {} yes | no |\n"),
    numbered("* point {}\n"),
    numbered("1. point {}\n"),
    numbered("    indented_code({})\n"),
    "```\n" + "0 0 0 0 0 0 0 0\n" * 20 + "```\n",
    "```\n" + "    }\n" * 30 + "```\n",
]
THE_SAME = [
    "```python\n" + "retry_the_request()\n" * 40 + "```\n",
    "~~~~\n```\n" + "the same text\n" * 40 + "```\n~~~~\n",
    "| yes | the same |\n" * 40,
    "* the same point\n" * 28,
    "".join(f"{n}. the same point\n" for n in range(1, 29)),
    "".join(f"| {n} | the same row |\n" for n in range(1, 29)),
    "    indented code\n" * 40,
    "```yaml\n" + "- name: step\n  run: make\n" * 20 + "```\n",
    "```\nconfig" + "_set" * 120 + "\n```\n",
    "- config" + "_set" * 120,
]


@every("content", DIFFERENT)
def test_different_content_of_code_tables_and_lists_is_no_chant(content: str) -> None:
    assert chant_in(f"See here:\n\n{content}\nThat is all.") is None


@every("content", THE_SAME)
def test_the_same_line_again_and_again_is_a_chant_anywhere(content: str) -> None:
    assert chant_in(f"See here:\n\n{content}\nThat is all.")


@every("heading", ["## {0}. Check the log", "### Step {0}: check", "**Try {0}:**"])
def test_a_section_under_ever_new_numbers_is_a_chant(heading: str) -> None:
    section = (
        f"{heading}\n\nOpen the log and look for an error; if there is none, go on to this:\n\n"
    )
    found = chant_in(numbered(section))
    assert found and "…" in found.unit
    assert chant_in(numbered(section.replace("log", "log {0}"))) is None


@every("word", ["Attempt", "Try", "Retry", "Iteration", "Round"])
def test_a_sentence_behind_the_number_of_a_try_is_a_chant(word: str) -> None:
    tries = word + " {0}: that did not work either, I run it again.\n"
    assert chant_in(numbered(tries))
    assert chant_in(numbered(tries.replace("run it", "run it with {0} jobs"))) is None


def test_the_number_of_anything_but_a_try_is_content() -> None:
    assert chant_in(numbered("Room {0}: the window is shut and the light is off.\n")) is None
    assert chant_in(numbered("Round {0}: Ann wins.\n")) is None


def test_the_same_finding_under_heading_after_heading_is_no_chant() -> None:
    assert chant_in(numbered("## File {}\n\nNothing to change.\n\n")) is None


def test_a_fence_that_stays_open_ends_with_its_reply() -> None:
    assert chant_in("```\n" + numbered("x{}\n")) is None
    assert chant_in("Round and round it goes. " * 30)


def test_the_unit_is_shown_from_its_beginning() -> None:
    found = chant_in("First something else was said. " + "Now I see it. Let me fix that. " * 30)
    assert found
    assert found.unit.strip() in (
        "Now I see it. Let me fix that.",
        "Let me fix that. Now I see it.",
    )


def test_what_is_kept_of_an_endless_reply_is_bounded() -> None:
    repetitions = Repetitions()
    for number in range(20_000):
        repetitions.append(f"word{number * 7919} ")
    assert len(repetitions.text) <= MOST_KEPT
