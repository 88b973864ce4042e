"""A table that grows by rows. Its columns are fitted again ever more rarely, and at its end."""

from __future__ import annotations

from collections.abc import Sequence

from ollm_tui.tui.stream.markdown.block import Block
from ollm_tui.tui.stream.markdown.page import Indent, Line, Page
from ollm_tui.tui.stream.markdown.styles import Palette
from ollm_tui.tui.stream.markdown.table_layout import (
    Alignment,
    Cell,
    Drawn,
    RowDrawing,
    fit_columns,
    natural_widths,
    read_cells,
)

_FITTED_ROWS = 16
"""Up to this many rows each one may widen the columns. Later they are fitted again only when the
rows or a width have doubled: fitting draws all rows again."""


class TableBlock(Block):
    """Head, rule and rows; only the last row is drawn again while it grows."""

    def __init__(
        self,
        page: Page,
        palette: Palette,
        indents: Sequence[Indent],
        head: str,
        alignments: Sequence[Alignment],
        source: int,
    ) -> None:
        super().__init__(page, palette, indents)
        self._alignments = alignments
        self._head = read_cells(head, len(alignments))
        self._source = source
        self._rows: list[tuple[Cell, ...]] = []
        self._row_sources: list[int] = []
        self._row: str | None = None
        """The row that is being written."""
        self._needed = natural_widths(self._head)
        self._fitted = self._needed
        """The widths the columns were fitted to."""
        self._drawing: RowDrawing | None = None
        self._drawn = 0
        self._drawn_lines = 0

    def begin_line(self, text: str, source: int, line_start: int) -> None:
        """Begin another row."""
        self._row = text
        self._row_sources.append(line_start)

    def extend(self, text: str) -> None:
        """Append text to the row."""
        self._row = (self._row or "") + text

    def end_line(self) -> None:
        """Read the row, which is complete, and widen the columns if it is time to."""
        if self._row is None:
            return
        row = read_cells(self._row, len(self._head))
        self._row = None
        self._rows.append(row)
        self._needed = _wider(self._needed, natural_widths(row))
        count = len(self._rows)
        # A power of two: the rows have doubled since the last one.
        if count <= _FITTED_ROWS or count & (count - 1) == 0 or self._has_doubled():
            self._fitted = self._needed

    def draw(self) -> None:
        """Draw the rows that are new, or all of them if the columns changed."""
        row = None if self._row is None else read_cells(self._row, len(self._head))
        fitted = self._fitted
        if row and len(self._rows) < _FITTED_ROWS:
            fitted = _wider(fitted, natural_widths(row))
        widths = fit_columns(fitted, self.room)
        if self._drawing is None or self._drawing.widths != widths:
            self._drawing = RowDrawing(
                self.palette, self._alignments, self._head, widths, self.room
            )
            self._drawn = self._drawn_lines = 0
        self._draw_rows(self._drawing, row)

    def close(self) -> None:
        """Fit the columns to all rows and draw what changed."""
        self.end_line()
        self._fitted = self._needed
        self.draw()

    def _has_doubled(self) -> bool:
        pairs = zip(self._needed, self._fitted, strict=True)
        return any(needed >= 2 * max(fitted, 1) for needed, fitted in pairs)

    def _draw_rows(self, drawing: RowDrawing, row: tuple[Cell, ...] | None) -> None:
        top = self._drawn_lines
        lines: list[Line] = []
        if not top:
            self._add(lines, drawing.head(), self._source)
        for number in range(self._drawn, len(self._rows)):
            self._add(lines, drawing.row(self._rows[number], number), self._row_sources[number])
        self._drawn = len(self._rows)
        self._drawn_lines = top + len(lines)
        if row:
            self._add(lines, drawing.row(row, len(self._rows)), self._row_sources[-1])
        elif not self._drawn_lines:
            # Drawn as records, a table without rows would have no line at all.
            self._add(lines, drawing.row(read_cells("", len(self._head)), 0), self._source)
        self.page.put(self.top + top, lines)

    def _add(self, lines: list[Line], drawn: Sequence[Drawn], source: int) -> None:
        """Append what was drawn as lines; the first one of the block has the mark of its item."""
        for segments in drawn:
            lead = self.lead(not lines and not self._drawn_lines)
            lines.append(Line(lead, tuple(segments), source))


def _wider(one: Sequence[int], other: Sequence[int]) -> list[int]:
    return [max(pair) for pair in zip(one, other, strict=True)]
