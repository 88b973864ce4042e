"""A hit in one line: when, who, and the words around what was found."""

from __future__ import annotations

from datetime import date, datetime
from typing import NamedTuple

from rich.cells import cell_len

from ollm_tui.core import clock
from ollm_tui.core.search import Snippet
from ollm_tui.core.session.message import Role

SPEAKERS: dict[Role, str] = {
    "user": "you",
    "assistant": "model",
    "tool": "tool",
    "system": "system",
}
BEFORE_CELLS = 24
"""So much may stand before the first hit of a line, where there is more after it."""


class MarkedText(NamedTuple):
    """A text, and where in it the marks begin and end."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


def one_line(snippet: Snippet, width: int) -> MarkedText:
    """As much of a snippet as so many cells hold, with its first hit in it."""
    text, marks = _joined(snippet)
    if cell_len(text) <= width:
        return MarkedText(text, marks)
    start = _start(text, marks[0][0] if marks else 0, width)
    front = "…" if start else ""
    end = _fitting(text, start, width - len(front))
    shift = len(front) - start
    shown = tuple(
        (max(first, start) + shift, min(last, end) + shift)
        for first, last in marks
        if first < end and last > start
    )
    return MarkedText(front + text[start:end] + ("…" if end < len(text) else ""), shown)


def day_of(timestamp: str) -> date | None:
    """The day on which something was said, in the user's zone."""
    try:
        return clock.parse(timestamp).astimezone().date()
    except (ValueError, OverflowError):
        return None


def moment_words(timestamp: str, now: datetime) -> str:
    """When something was said, in at most twelve cells: the time today, then the day too."""
    try:
        moment = clock.parse(timestamp).astimezone()
    except (ValueError, OverflowError):
        return ""
    if moment.date() == now.date():
        return f"today {moment:%H:%M}"
    if moment.year == now.year:
        return f"{moment:%d %b %H:%M}"
    return f"{moment:%d %b %Y}"


def _joined(snippet: Snippet) -> MarkedText:
    """The text with one blank for all that is blank; the marks move along."""
    places: list[int] = []
    text = ""
    for mark in snippet.text:
        places.append(len(text))
        if not mark.isspace():
            text += mark
        elif text and not text.endswith(" "):
            text += " "
    places.append(len(text))
    marks = tuple((places[first], places[last]) for first, last in snippet.marks)
    return MarkedText(text.rstrip(), marks)


def _start(text: str, hit: int, width: int) -> int:
    """Where to begin so that the hit is seen, at the border of a word if one is near."""
    before = min(BEFORE_CELLS, width // 3)
    if cell_len(text[:hit]) <= before:
        return 0
    start = hit
    while start and cell_len(text[start - 1 : hit]) <= before:
        start -= 1
    border = text.find(" ", start, hit)
    return border + 1 if border >= 0 else start


def _fitting(text: str, start: int, width: int) -> int:
    """The end of what fits, with a cell to spare for the sign that there is more."""
    if cell_len(text[start:]) <= width:
        return len(text)
    end, room = start, width - 1
    while end < len(text) and (room := room - cell_len(text[end])) >= 0:
        end += 1
    return end
