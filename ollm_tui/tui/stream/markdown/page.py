"""The lines of a text as drawn: margin, segments and the source each came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style

from ollm_tui.tui.stream.markdown.wrapping import cells

LEAST_ROOM = 6
"""Cells that stay for the text, however deep it is nested."""


class Indent(NamedTuple):
    """What one quote or list item puts before its first line and before all others."""

    first: Segment
    rest: Segment
    copied: bool
    """Whether it belongs to the text when a line is copied."""


class Lead(NamedTuple):
    """The margin of a line: all that stands before its text."""

    segments: tuple[Segment, ...]
    width: int
    plain: str
    """The part of it that is copied with the text."""


_NO_LEAD = Lead((), 0, "")


class Line(NamedTuple):
    """One line of the screen."""

    lead: Lead
    segments: Sequence[Segment]
    source: int
    """The offset into the source at which it begins."""
    fill: Style | None = None
    """Fills the rest of the line, as behind code."""


class Page:
    """All lines drawn so far, and the first one that changed since `changed` was set."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[Line] = []
        self.changed = 0

    def put(self, top: int, lines: Sequence[Line]) -> None:
        """Replace all lines from `top` on by these."""
        if top < len(self.lines):
            self.changed = min(self.changed, top)
            del self.lines[top:]
        self.lines.extend(lines)


def leads(indents: Sequence[Indent], width: int) -> tuple[Lead, Lead]:
    """Return the margins of the first line and of the others; if room is short, without the outer
    indents."""
    if not indents:
        return _NO_LEAD, _NO_LEAD
    limit = max(width - LEAST_ROOM, 0)
    sizes = [cells(indent.first.text) for indent in indents]
    first = 0
    while sum(sizes[first:]) > limit and first < len(sizes) - 1:
        first += 1
    kept = indents[first:]
    return (
        _lead([(indent.first, indent.copied) for indent in kept], limit),
        _lead([(indent.rest, indent.copied) for indent in kept], limit),
    )


def _lead(parts: Sequence[tuple[Segment, bool]], limit: int) -> Lead:
    width = sum(cells(segment.text) for segment, _ in parts)
    plain = "".join(segment.text for segment, copied in parts if copied)
    if width > limit:
        # One indent alone is too wide: a list number of many digits on a narrow screen.
        text = "".join(segment.text for segment, _ in parts)[:limit]
        return Lead((Segment(text, parts[0][0].style),), len(text), plain)
    return Lead(tuple(segment for segment, _ in parts), width, plain)
