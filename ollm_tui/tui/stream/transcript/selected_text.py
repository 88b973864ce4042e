"""What is copied when a part of the stream is selected with the mouse.

Lines of a selection are numbered by entry and line, not from the top of the stream: entries
get their real heights only when they are looked at, and what is selected must not move then.
"""

from __future__ import annotations

from textual.selection import Selection

from ollm_tui.tui.stream.transcript.entry_layout import EntryLayout
from ollm_tui.tui.stream.transcript.stack import EntryStack

_BITS = 32


def line_number(place: int, line: int) -> int:
    """The number of a line of an entry."""
    return (place << _BITS) + line


def selected_text(stack: EntryStack, selection: Selection) -> str:
    """The words of the selected lines, as they are seen but without margins."""
    first = selection.start.y if selection.start else 0
    last = selection.end.y if selection.end else line_number(len(stack), 0)
    lines: list[str] = []
    for place in range(first >> _BITS, min(last >> _BITS, len(stack) - 1) + 1):
        layout = stack.passing_layout(place)
        lines += [
            _copied(layout, line, *span)
            for line in range(layout.height)
            if (span := selection.get_span(line_number(place, line)))
        ]
    return "\n".join(lines).rstrip("\n")


def _copied(layout: EntryLayout, line: int, start: int, end: int) -> str:
    text = layout.plain(line)
    if start <= 0 and end < 0:
        return text
    lead = layout.lead(line)
    return text[max(start - lead, 0) : max(end - lead, 0) if end >= 0 else None]
