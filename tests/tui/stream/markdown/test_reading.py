"""Markdown is read as CommonMark and GitHub read it: blocks, lists, quotes and their text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tests.cases import every
from tests.tui.stream.markdown.documents import documents
from tests.tui.stream.markdown.reference import drawn_lines, reference_lines
from tests.tui.stream.markdown.screen import STYLES, drawn, finished, style_of


@settings(max_examples=400)
@given(documents)
def test_structure_and_text_are_those_of_markdown_it(source: str) -> None:
    assert drawn_lines(source) == reference_lines(source)


@every(
    ("source", "expected"),
    [
        ("# One #\n\nText", ["One", "", "Text"]),
        ("Two\n---", ["Two"]),
        ("a  \nb\\\nc\nd", ["a", "b", "c d"]),
        ("- a\n- b\n\n- c", [" • a", " • b", "", " • c"]),
        ("- a\n  - b\n    - c\n      - d", [" • a", "    ◦ b", "       ▪ c", "          • d"]),
        ("9. a\n1. b", [" 9. a", "10. b"]),
        ("- [ ] open\n- [x] done", [" ☐ open", " ☑ done"]),
        ("- a\n\n  b\n\n      code", [" • a", "", "   b", "", "     code"]),
        ("1. a\n   ```\n   x\n   ```\n2. b", [" 1. a", "      x", " 2. b"]),
        ("> a\n> - b\n>\n> > c\nlazy", ["▎ a", "▎  • b", "▎", "▎ ▎ c lazy"]),
        ("***", ["─" * 60]),
        ("~~~\n```\n~~~", ["  ```"]),
        ("-\n  late", [" • late"]),
        ("<div>\n*raw*\n</div>", ["<div>", "*raw*", "</div>"]),
        ("a &lt; b &copy; &nosuch;", ["a < b © &nosuch;"]),
        ("one<br>two", ["one", "two"]),
        ("[1]: https://a.b\n[2]: https://c.d", ["[1]: https://a.b", "[2]: https://c.d"]),
    ],
)
def test_blocks_are_drawn(source: str, expected: list[str]) -> None:
    assert drawn(source) == expected


@pytest.mark.parametrize(
    ("source", "part", "name"),
    [
        ("a **b** c", "b", "strong"),
        ("a __b__ c", "b", "strong"),
        ("a *b* c", "b", "emphasis"),
        ("a _b_ c", "b", "emphasis"),
        ("a ~~b~~ c", "b", "strike"),
        ("a ``b`c`` d", "b`c", "code"),
    ],
)
def test_inline_marks_give_their_style(source: str, part: str, name: str) -> None:
    text = finished(source)
    assert style_of(text, part) == STYLES.text + getattr(STYLES, name)
    assert style_of(text, "a ") == STYLES.text


def test_styles_add_up_where_marks_overlap() -> None:
    text = finished("***both*** and **`code`**")
    assert style_of(text, "both") == STYLES.text + STYLES.strong + STYLES.emphasis
    assert style_of(text, "code") == STYLES.text + STYLES.strong + STYLES.code


@pytest.mark.parametrize("source", ["snake_case_name", "2 * 3 * 4", "a ~ b", "\\*no\\*", "**open"])
def test_what_is_no_mark_stays(source: str) -> None:
    text = finished(source)
    assert drawn(source) == [source.replace("\\", "")]
    assert {style for line in range(text.line_count) for _, style, _ in text.strip(line)} == {
        STYLES.text
    }


def test_headings_have_the_style_of_their_level() -> None:
    source = "\n\n".join(f"{'#' * level} level{level}" for level in range(1, 7))
    text = finished(source)
    for level in range(1, 7):
        assert style_of(text, f"level{level}") == STYLES.heading[level - 1]


def test_an_underline_makes_the_paragraph_above_a_heading() -> None:
    assert style_of(finished("first\nsecond *x*\n==="), "first") == STYLES.heading[0]


def test_blank_lines_in_the_source_decide_how_loose_a_list_is() -> None:
    assert drawn("Points:\n- a\n- b\n\nEnd") == ["Points:", " • a", " • b", "", "End"]


def test_deep_nesting_leaves_room_for_the_text() -> None:
    for width in (10, 20):
        for line in drawn(">" * 30 + " word", width):
            assert len(line) <= width
        assert "word" in "".join(drawn("- " * 20 + "word", width))
