"""A hit in one line: as much as fits, the first find always in it."""

from __future__ import annotations

from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from ollm_tui.core.search import Snippet
from ollm_tui.tui.search.hit_list import MarkedText, one_line
from ollm_tui.tui.search.words import moment_words

WORDS = st.text(st.sampled_from("ab \n\tä漢"), max_size=120)


def test_a_short_snippet_stays_whole_in_one_line() -> None:
    snippet = Snippet("one\n  two three", ((6, 9),))
    assert one_line(snippet, 40) == MarkedText("one two three", ((4, 7),))


def test_a_long_one_begins_near_what_was_found() -> None:
    snippet = Snippet("far too many words before the hit comes and some more after", ((30, 33),))
    text, marks = one_line(snippet, 30)
    assert text == "…the hit comes and some more…"
    assert [text[start:end] for start, end in marks] == ["hit"]


def test_no_word_is_cut_in_a_narrow_line() -> None:
    assert one_line(Snippet("Set max_connections to 40"), 12).text == "Set…"
    assert one_line(Snippet("a retried max_connections", ((2, 7),)), 14).text == "a retried…"


@given(WORDS, WORDS, WORDS, st.integers(20, 60))
def test_it_fits_and_shows_the_first_find(before: str, found: str, after: str, width: int) -> None:
    found = f"x{found.strip()[:4]}x".replace("\n", " ").replace("\t", " ")
    snippet = Snippet(before + found + after, ((len(before), len(before) + len(found)),))
    text, marks = one_line(snippet, width)
    assert cell_len(text) <= width
    assert text[slice(*marks[0])].split() == found.split()


def test_a_moment_is_short() -> None:
    now = datetime(2025, 10, 14, 12).astimezone()
    at = "2025-10-14T09:05:00+00:00"
    assert moment_words(at, now).startswith("today ")
    assert moment_words("2025-03-02T12:00:00+00:00", now).startswith("02 Mar ")
    assert moment_words("2023-03-02T12:00:00+00:00", now) == "02 Mar 2023"
    assert moment_words("never", now) == ""
