"""Titles made from a user's first message."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.intake import UNSAFE
from ollm_tui.core.session.titles import columns, title_of
from tests.cases import every


@every(
    ("text", "expected"),
    [
        ("How do I sort a list?", "How do I sort a list?"),
        ("\n\n  How   do\tI sort?  \nMore below.", "How do I sort?"),
        ("```python\nx = 1\n```\nWhy does this fail?", "Why does this fail?"),
        ("````\n```\ninner\n```\n````\nOutside", "Outside"),
        ("```python\nx = 1\n```", "x = 1"),
        ("> quoted words", "quoted words"),
        ("## A heading", "A heading"),
        ("- [ ] first item\n- second", "first item"),
        ("12. twelfth", "twelfth"),
        ("---\nAfter the rule", "After the rule"),
        ("/explain this", "explain this"),
        ("@src/main.py what is this?", "src/main.py what is this?"),
        ("Hi, can you fix the build?", "can you fix the build?"),
        ("hello there!\nPlease fix the build.", "Please fix the build."),
        ("Good morning\n\n```\nx\n```", "Good morning"),
        ("Hi!", "Hi!"),
        ("Hello world in C", "Hello world in C"),
        ("High availability", "High availability"),
        ("**Bold**, *slanted*, `code` and ~~gone~~", "Bold, slanted, code and gone"),
        ("see [the docs](https://example.org/a) and ![a cat](cat.png)", "see the docs and a cat"),
        ("what is 2 * 3 * 4 in snake_case_name or __init__?",) * 2,
        ("_really_ important", "really important"),
        ("a\x1b]0;title\x07b\x00c\u202e", "abc"),
        ("🎉", "🎉"),
        ("???", "???"),
        ("", "Untitled"),
        (" \n\t\n", "Untitled"),
        ("\u200d\u200b", "Untitled"),
        ("```\n```", "Untitled"),
    ],
)
def test_the_title_is_the_first_line_that_says_something(text: str, expected: str) -> None:
    assert title_of(text) == expected


@every(
    ("text", "limit", "expected"),
    [
        ("one two three", 13, "one two three"),
        ("one two three", 12, "one two…"),
        ("one two three", 8, "one two…"),
        ("one, two three", 6, "one…"),
        ("abcdefghijkl", 5, "abcd…"),
        ("a bcdefghijkl", 8, "a bcdef…"),
        ("日本語の長い題名", 16, "日本語の長い題名"),
        ("日本語の長い題名", 9, "日本語の…"),
        ("ab👩\u200d💻cd", 6, "ab👩…"),
        ("e\u0301e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301…"),
    ],
)
def test_a_long_title_is_cut_between_words_by_columns(text: str, limit: int, expected: str) -> None:
    assert title_of(text, limit) == expected


@given(st.text(max_size=200), st.integers(8, 80))
def test_a_title_fits_and_is_one_safe_visible_line(text: str, limit: int) -> None:
    title = title_of(text, limit)
    assert 0 < columns(title) <= limit
    assert not UNSAFE.search(title)
    assert "\n" not in title
    assert "\t" not in title


@every("unit", ["*a", "[", "_a ", "> ", "`", "hi, ", "- "])
def test_a_hostile_paste_still_gets_a_short_title(unit: str) -> None:
    assert columns(title_of(unit * 100_000)) <= 60
