"""How a text was cut into chunks makes no difference, and only what changed is redone."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tui.stream.markdown.documents import fragments, long_paragraphs
from tests.tui.stream.markdown.screen import finished, grown, lines, shown

WIDTHS = st.sampled_from([10, 14, 20, 40, 80, 300])


def cut(source: str, places: list[int]) -> list[str]:
    borders = sorted({place % (len(source) + 1) for place in places} | {0, len(source)})
    return [source[start:end] for start, end in pairwise(borders)]


@settings(max_examples=150)
@given(fragments | long_paragraphs, st.lists(st.integers(0, 10_000), max_size=20), WIDTHS)
def test_any_cuts_give_the_lines_of_the_whole_text(
    source: str, places: list[int], width: int
) -> None:
    text = grown(cut(source, places), width)
    text.finish()
    assert shown(text) == shown(finished(source, width))


@settings(max_examples=150)
@given(fragments, WIDTHS)
def test_every_prefix_looks_as_if_it_had_come_at_once(source: str, width: int) -> None:
    text = grown([], width)
    for end, character in enumerate(source, start=1):
        before = lines(text)
        changed = text.feed(character)
        assert changed <= len(before)
        assert lines(text)[:changed] == before[:changed]
        assert shown(text) == shown(grown([source[:end]], width))


@settings(max_examples=150)
@given(fragments, WIDTHS)
def test_no_line_is_too_wide_or_holds_a_control_character(source: str, width: int) -> None:
    text = finished(source, width)
    for y in range(text.line_count):
        strip = text.strip(y)
        assert strip.cell_length <= width
        assert strip.text.isprintable() or "\u200d" in strip.text or "\ufe0f" in strip.text
        assert not any(ord(c) < 32 or 127 <= ord(c) < 160 or c == "\u202e" for c in strip.text)


@given(fragments, WIDTHS)
def test_the_lines_cover_the_source_from_top_to_bottom(source: str, width: int) -> None:
    text = finished(source, width)
    ranges = sorted({text.source_range(y) for y in range(text.line_count)})
    assert all(end == start for (_, end), (start, _) in pairwise(ranges))
    if ranges:
        assert ranges[-1][1] == len(source)
        assert not source[: ranges[0][0]].strip(" \t\n>")


@pytest.mark.parametrize(
    ("source", "added"),
    [
        ("word *emphasis* `code` " * 500, "more"),
        ("```python\n" + "x = [1, 2]  # numbers\n" * 300, "y = 2\n"),
        ("| a | b |\n|---|---|\n" + "| some | cells |\n" * 300, "| x | y |\n"),
        ("- item with text\n" * 300, "- next\n"),
        ("- item\n  1. inner\n     - innermost\n" * 100, "  1. inner\n"),
        ("> quoted words\n" * 300, "> more\n"),
        ("```\n" + "x" * 10_000, "x"),
        ("# " + "heading " * 1000, "x"),
    ],
)
def test_only_the_end_of_a_long_block_is_drawn_again(source: str, added: str) -> None:
    text = grown([source])
    count = text.line_count
    assert text.feed(added) >= count - 4


def test_columns_are_fitted_to_all_rows_when_the_table_ends() -> None:
    text = grown(["| name | b |\n|---|---|\n" + "| 1 | 2 |\n" * 20 + "| wider | 2 |\n"])
    assert lines(text)[-2:] == ["wide │ 2", "r    │"]
    text.feed("\n")
    assert lines(text)[-1] == "wider │ 2"


def test_a_column_that_needs_twice_its_width_gets_it_at_once() -> None:
    text = grown(["| name | b |\n|---|---|\n" + "| 1 | 2 |\n" * 20 + "| much wider | 2 |\n"])
    assert lines(text)[-1] == "much wider │ 2"


def test_a_beginning_that_may_become_a_mark_is_not_shown_yet() -> None:
    for beginning in ("-", "--", "=", "1.", "#", "```py", "| a | b |\n|--", "* *", "[x]"):
        source = "text\n" + beginning
        assert lines(grown([source]))[-1] in ("text", "text | a | b |"), beginning


def test_a_reply_cut_off_in_the_middle_shows_everything() -> None:
    assert lines(finished("text\n``")) == ["text ``"]
    assert lines(finished("see [the li")) == ["see [the li"]
    assert lines(finished("```py\nx = 1"))[1:] == ["  x = 1"]
