"""Long output is cut to what the model may get: its head, its tail and the errors between."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.cut_output import cut_words
from ollm_tui.engine.tools.tool_output import LEAST_TOKENS, MOST_TOKENS, allowance, cut


def words(text: str) -> int:
    return len(text.split())


def test_a_small_window_gives_little_and_a_large_one_no_more_than_is_useful() -> None:
    assert allowance(3_400) == 680
    assert allowance(500) == LEAST_TOKENS
    assert allowance(1_000_000) == allowance(None) == MOST_TOKENS


def test_what_fits_stays_as_it_is() -> None:
    assert cut("a few words", 200, words) == "a few words"


def test_the_note_and_the_mark_say_how_much_is_missing() -> None:
    lines = [f"line {number}" for number in range(1, 10_001)]
    text = "\n".join(lines)
    short = cut(text, 300, words, "c7")
    head, note, mark, tail = re.split(r"\n(\[\d.*\])\n(\[….*…\])\n", short)
    assert text.startswith(head) and text.endswith(tail)
    assert len(head) > 2 * len(tail)
    shown = head.count("\n") + 1 + tail.count("\n") + 1
    first = head.count("\n") + 2
    assert mark == f"[… lines {first}-{10_000 - tail.count(chr(10)) - 1} cut …]"
    how = f"read_output call=c7 start={first} end={first + 199}"
    assert note == f"[{10_000 - shown} of 10000 lines cut; {how}]"
    assert cut_words(short) == f"cut {10_000 - shown:,} of 10,000 lines"
    assert "read_output" not in cut(text, 300, words)


def test_a_line_that_is_too_long_is_cut_in_its_middle() -> None:
    short = cut("x" * 50_000, 300, len)
    assert cut_words(short).endswith(" of 50,000 characters")


def log(errors: Mapping[int, str], length: int = 40_000) -> str:
    """Many ordinary lines, and some others at their numbers."""
    return "\n".join(errors.get(number, f"step {number} ok") for number in range(1, length + 1))


@pytest.mark.parametrize(
    "error",
    [
        "E   AssertionError: assert 4 == 5",
        "src/main.rs:10:5: error: expected `;`",
        "Traceback (most recent call last):",
        "something failed: no space left on device",
        "java.lang.NullPointerException: null",
    ],
)
def test_an_error_in_the_middle_is_kept_with_its_neighbours(error: str) -> None:
    short = cut(log({20_000: error}), 680, lambda text: len(text) // 3)
    assert f"step 19998 ok\nstep 19999 ok\n{error}\nstep 20001 ok\nstep 20002 ok\n" in short
    assert "-19997 cut …]\n" in short and "\n[… lines 20004-" in short
    assert short.startswith("step 1 ok\n") and short.endswith("step 40000 ok")


def test_one_other_error_is_kept_among_thousands_that_are_alike() -> None:
    errors = {number: f"warning: retry {number} failed" for number in range(1000, 39_000, 5)}
    short = cut(log({**errors, 20_001: "disk /dev/sda1: I/O error"}), 680, lambda t: len(t) // 3)
    assert "disk /dev/sda1: I/O error" in short


def test_errors_are_taken_from_everywhere_and_leave_most_of_the_room() -> None:
    errors = {
        number: f"ERROR: part {'abcdefghij'[number // 4000]}" for number in range(999, 39_999)
    }
    short = cut(log(errors), 1000, lambda text: len(text) // 3)
    kept = list(map(int, re.findall(r"lines (\d+)-", short)))
    assert max(kept) - min(kept) > 20_000
    assert sum("ERROR" in line for line in short.split("\n")) * 14 < 0.5 * 3000 + 14 * 40
    assert short.count("step") > 60


@given(st.text(max_size=6_000), st.integers(min_value=200, max_value=900))
def test_it_never_takes_more_than_it_may(text: str, tokens: int) -> None:
    short = cut(text, tokens, len)
    assert short == text or len(short) <= max(tokens, LEAST_TOKENS + 100)
