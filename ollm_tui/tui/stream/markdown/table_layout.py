"""How a table fits the screen: widths of columns, rows of cells, or one record after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.segment import Segment
from rich.style import Style

from ollm_tui.tui.stream.markdown.inline import InlineReader
from ollm_tui.tui.stream.markdown.styled_text import StyledText
from ollm_tui.tui.stream.markdown.styles import TARGET, Palette
from ollm_tui.tui.stream.markdown.wrapping import cells, line_spans

Alignment = Literal["left", "centre", "right"]
Cell = StyledText
Drawn = list[Segment]
"""The segments of one line."""

SEPARATOR = " │ "
_LEAST_COLUMN = 8
"""A column narrower than its text needs at least this, or the table becomes records."""
_MOST_COLUMNS = 100
"""A delimiter row with more bars is text."""
_HANGING = 2
"""Cells a value is set in by below a name that has lines of its own."""


def split_row(line: str) -> list[str]:
    """Return the cells of a row; an escaped bar is text."""
    row = line.strip(" \t")
    row = row.removeprefix("|")
    if row.endswith("|") and not row.endswith("\\|"):
        row = row[:-1]
    parts = row.split("|")
    found = [parts[0]]
    for part in parts[1:]:
        if found[-1].endswith("\\"):
            found[-1] = f"{found[-1][:-1]}|{part}"
        else:
            found.append(part)
    return [cell.strip(" \t") for cell in found]


def read_alignments(line: str) -> list[Alignment] | None:
    """Return the alignments a delimiter row gives; None if the line is not one."""
    if "|" not in line or "-" not in line or line.count("|") > _MOST_COLUMNS:
        return None
    found: list[Alignment] = []
    for cell in split_row(line):
        if not cell.strip(":") or cell.removeprefix(":").removesuffix(":").strip("-"):
            return None
        sides = cell.startswith(":"), cell.endswith(":")
        found.append("centre" if all(sides) else "right" if sides[1] else "left")
    return found


def read_cells(line: str, columns: int) -> tuple[Cell, ...]:
    """Return as many cells as the table has columns: empty ones where the row is short."""
    texts = split_row(line)[:columns]
    return tuple(map(_cell, texts + [""] * (columns - len(texts))))


def natural_widths(row: Sequence[Cell]) -> list[int]:
    """Return the width in cells that each text of a row would take on one line."""
    return [max(map(cells, cell.text.split("\n"))) for cell in row]


def fit_columns(natural: Sequence[int], room: int) -> tuple[int, ...] | None:
    """Return the widths of the columns; None if there are too many for the room."""
    room -= len(SEPARATOR) * (len(natural) - 1)
    if sum(natural) <= room:
        return tuple(max(width, 1) for width in natural)
    if sum(min(width, _LEAST_COLUMN) for width in natural) > room:
        return None
    found = list(natural)
    left = len(natural)
    # The narrow columns take what they need; the wide ones share the rest.
    for column in sorted(range(len(natural)), key=lambda column: natural[column]):
        found[column] = max(min(natural[column], room // left), 1)
        room -= found[column]
        left -= 1
    return tuple(found)


class RowDrawing:
    """Draws rows in columns of fixed widths, or as records where there are no widths."""

    def __init__(
        self,
        palette: Palette,
        alignments: Sequence[Alignment],
        head: Sequence[Cell],
        widths: tuple[int, ...] | None,
        room: int,
    ) -> None:
        self.widths = widths
        self._palette = palette
        self._alignments = alignments
        self._head = head
        self._room = room
        border = palette.styles.table_border
        self._separator = Segment(SEPARATOR, border)

    def head(self) -> list[Drawn]:
        """Return the names of the columns over a light rule; records have no head."""
        if self.widths is None:
            return []
        rule = "─┼─".join("─" * width for width in self.widths)
        line = Segment(rule, self._palette.styles.table_border)
        return [*self._columns(self._head, self._palette.styles.table_head), [line]]

    def row(self, row: Sequence[Cell], number: int) -> list[Drawn]:
        """Return the lines of a row."""
        if self.widths is None:
            return self._record(row, number)
        return self._columns(row, self._palette.styles.text)

    def _columns(self, row: Sequence[Cell], base: Style) -> list[Drawn]:
        widths = self.widths or ()
        spans = [
            list(line_spans(cell.text, 0, width)) for cell, width in zip(row, widths, strict=True)
        ]
        height = max(1, *map(len, spans))
        return [
            self._line(row, [_at(column, line) for column in spans], base, widths)
            for line in range(height)
        ]

    def _line(
        self,
        row: Sequence[Cell],
        spans: Sequence[tuple[int, int]],
        base: Style,
        widths: Sequence[int],
    ) -> Drawn:
        segments: list[Segment] = []
        last = len(widths) - 1
        for number, (cell, (first, end), width) in enumerate(zip(row, spans, widths, strict=True)):
            free = width - cells(cell.text[first:end])
            before = _space_before(self._alignments[number], free)
            if before:
                segments.append(Segment(" " * before, base))
            segments += cell.segments(first, end, self._palette, base)
            if number < last:
                if free > before:
                    segments.append(Segment(" " * (free - before), base))
                segments.append(self._separator)
        return segments

    def _record(self, row: Sequence[Cell], number: int) -> list[Drawn]:
        drawn: list[Drawn] = [[]] if number else []
        for name, value in zip(self._head, row, strict=True):
            drawn += self._field(name, value)
        return drawn

    def _field(self, name: Cell, value: Cell) -> list[Drawn]:
        """Draw `name: value`, wrapped, with the following lines set in."""
        styles = self._palette.styles
        label = [*name.segments(0, len(name.text), self._palette, styles.table_head)]
        label.append(Segment(": ", styles.table_border))
        used = cells(name.text.replace("\n", "")) + 2
        drawn: list[Drawn] = []
        if used > self._room // 2 or "\n" in name.text:
            for first, end in line_spans(name.text, 0, max(self._room - 1, 1)):
                drawn.append(name.segments(first, end, self._palette, styles.table_head))
            if drawn:
                drawn[-1].append(Segment(":", styles.table_border))
            label, used = [Segment(" " * _HANGING, styles.text)], _HANGING
        spans = list(line_spans(value.text, 0, max(self._room - used, 1))) or [(0, 0)]
        for first, end in spans:
            segments = value.segments(first, end, self._palette, styles.text)
            drawn.append([*label, *segments])
            label = [Segment(" " * used, styles.text)]
        return drawn


def _cell(raw: str) -> Cell:
    cell = StyledText()
    pieces = InlineReader(raw).split(0)[1]
    for piece in pieces:
        if piece.look & TARGET:  # a cell has no room below its text
            piece.text = f" ({piece.text})"
    cell.add(pieces)
    return cell


def _at(spans: Sequence[tuple[int, int]], line: int) -> tuple[int, int]:
    return spans[line] if line < len(spans) else (0, 0)


def _space_before(alignment: Alignment, free: int) -> int:
    if alignment == "left":
        return 0
    return free if alignment == "right" else free // 2
