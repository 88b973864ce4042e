"""Tables: alignment, wrapping, and records where there is no room for columns."""

from __future__ import annotations

import pytest

from ollm_tui.tui.stream.markdown.table_layout import fit_columns
from tests.tui.stream.markdown.screen import STYLES, drawn, finished, style_of


def test_cells_are_aligned() -> None:
    source = "| left | centre | right |\n|:--|:-:|--:|\n| a | b | c |\n| long one | x | 10 |"
    assert drawn(source) == [
        "left     │ centre │ right",
        "─────────┼────────┼──────",
        "a        │   b    │     c",
        "long one │   x    │    10",
    ]


def test_cells_hold_inline_styles_and_escaped_bars() -> None:
    text = finished("a | b\n--|--\n**x** | `y\\|z`")
    assert [text.plain(y) for y in range(3)][2] == "x │ y|z"
    assert style_of(text, "x") == STYLES.text + STYLES.strong
    assert style_of(text, "a") == STYLES.table_head


def test_short_rows_are_filled_and_long_ones_cut() -> None:
    assert drawn("|a|b|\n|-|-|\n|1|\n|1|2|3|")[2:] == ["1 │", "1 │ 2"]


def test_too_wide_a_table_wraps_its_cells() -> None:
    source = "| name | text |\n|---|---|\n| short | some words that need more room |"
    assert drawn(source, 24) == [
        "name  │ text",
        "──────┼─────────────────",
        "short │ some words that",
        "      │ need more room",
    ]


def test_too_many_columns_become_records() -> None:
    head = "|".join(f"column {number}" for number in range(6))
    row = "|".join(f"value {number}" for number in range(6))
    lines = drawn(f"{head}\n{'-|' * 6}\n{row}\n{row}", 30)
    assert lines[:2] == ["column 0: value 0", "column 1: value 1"]
    assert lines[6] == ""
    assert len(lines) == 13


def test_the_last_line_of_a_paragraph_may_be_the_head() -> None:
    assert drawn("text\na | b\n--|--\n1 | 2") == ["text", "", "a │ b", "──┼──", "1 │ 2"]


def test_a_table_within_an_item_has_its_mark() -> None:
    assert drawn("- a | b\n  --|--\n  1 | 2") == [" • a │ b", "   ──┼──", "   1 │ 2"]


@pytest.mark.parametrize(
    ("natural", "room", "expected"),
    [
        ([3, 4], 20, (3, 4)),
        ([3, 40], 26, (3, 20)),
        ([40, 40], 23, (10, 10)),
        ([0, 5], 20, (1, 5)),
        ([40, 40, 40], 20, None),
    ],
)
def test_narrow_columns_get_what_they_need(
    natural: list[int], room: int, expected: tuple[int, ...] | None
) -> None:
    assert fit_columns(natural, room) == expected
