"""Rows of the stream as they were drawn: when the view scrolls, most only stand elsewhere."""

from __future__ import annotations

from collections.abc import Hashable

from textual.strip import Strip

MOST_ROWS = 500
"""Some screens full; then all are forgotten."""


class KeptRows:
    """Rows by the line of the entry they show, for as long as that line is the same."""

    def __init__(self) -> None:
        self._rows: dict[tuple[int, int], tuple[Strip, Strip]] = {}
        self._looks: Hashable = None

    def drawn_with(self, looks: Hashable) -> None:
        """Forget all rows if they were drawn with other looks: styles, widths."""
        if looks != self._looks or len(self._rows) > MOST_ROWS:
            self._rows.clear()
            self._looks = looks

    def find(self, at: tuple[int, int], content: Strip) -> Strip | None:
        """Return the row of a line as it was drawn, if it had the same content then."""
        known = self._rows.get(at)
        return known[1] if known and known[0] is content else None

    def keep(self, at: tuple[int, int], content: Strip, row: Strip) -> None:
        """Note how a line was drawn."""
        self._rows[at] = content, row

    def clear(self) -> None:
        """Forget all rows."""
        self._rows.clear()
