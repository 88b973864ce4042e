"""Text as lines: what can be asked of it, and where in the lines a place of the text is."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Protocol

from textual.strip import Strip


class Lines(Protocol):
    """Text laid out for a width."""

    @property
    def line_count(self) -> int:
        """How many lines there are."""
        ...

    def feed(self, text: str) -> int:
        """Append text; returns the first line that changed."""
        ...

    def finish(self) -> int:
        """No more text comes; returns the first line that changed."""
        ...

    def strip(self, y: int) -> Strip:
        """A line for the screen."""
        ...

    def plain(self, y: int) -> str:
        """A line for copying."""
        ...

    def source_range(self, y: int) -> tuple[int, int]:
        """The part of the text a line shows. Lines that share a part have the same range."""
        ...


def lines_at(lines: Lines, source: int) -> range:
    """The lines that show a place of the text: several where they share a part of it."""
    every = range(lines.line_count)

    def start_of(y: int) -> int:
        return lines.source_range(y)[0]

    last = max(bisect_right(every, source, key=start_of) - 1, 0)
    if last >= len(every):
        return range(0)
    first = bisect_left(every, start_of(last), hi=last, key=start_of)
    return range(first, last + 1)
