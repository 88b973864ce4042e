"""Lines break at words, never lose text, and are measured in cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, get_character_cell_size

from ollm_tui.tui.stream.markdown.wrapping import chopped, line_spans
from tests.tui.stream.markdown.screen import drawn, finished

ALPHABET = st.sampled_from(
    ["a", "bcd", " ", "  ", "\n", "日", "本。", "👩‍💻", "❤️", "e\u0301", "—", "“"]
)
TEXTS = st.lists(ALPHABET, max_size=60).map("".join)


@given(TEXTS, st.integers(4, 30))
def test_every_line_fits_and_only_spaces_and_newlines_go(text: str, width: int) -> None:
    spans = list(line_spans(text, 0, width))
    at = 0
    for start, end in spans:
        assert text[at:start].strip(" \n") == ""
        assert cell_len(text[start:end]) <= width
        assert "\n" not in text[start:end]
        at = end
    assert text[at:].strip(" \n") == ""


@given(TEXTS, st.integers(4, 30))
def test_chopped_text_leaves_nothing_out(text: str, width: int) -> None:
    text = text.replace("\n", "")
    assert "".join(text[start:end] for start, end in chopped(text, width)) == text
    assert all(cell_len(text[start:end]) <= width for start, end in chopped(text, width))


@given(st.text(st.characters(max_codepoint=0x2FFF, exclude_categories=["Cc", "Cs"]), max_size=40))
def test_characters_taken_for_narrow_are_narrow(text: str) -> None:
    text = text.replace("\n", "")
    for start, end in chopped(text, 5):
        assert sum(map(get_character_cell_size, text[start:end])) <= 6
        assert cell_len(text[start:end]) <= 5


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("one two three four", ["one two", "three four"]),
        ("0123456789abcdef", ["0123456789", "abcdef"]),
        ("go 0123456789ab", ["go", "0123456789", "ab"]),
        ("日本語のテキスト", ["日本語のテ", "キスト"]),
        ("日本語の字。また", ["日本語の", "字。また"]),
        ("— “quoted” —", ["— “quoted”", "—"]),
        ("👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻", ["👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻", "👩‍💻"]),
        ("e\u0301" * 12, ["e\u0301" * 10, "e\u0301" * 2]),
    ],
)
def test_lines_break_where_a_reader_expects_it(source: str, expected: list[str]) -> None:
    assert drawn(source, width=10) == expected


def test_the_length_of_a_strip_is_its_length_on_the_screen() -> None:
    text = finished("日本 **語** 👩‍💻 `é`\n\n```\nテ\t👍🏽\n```", 40)
    for y in range(text.line_count):
        assert text.strip(y).cell_length == cell_len(text.strip(y).text)


def test_a_continued_item_is_set_in() -> None:
    assert drawn("1. one two three four five", 14) == [" 1. one two", "    three four", "    five"]
