"""Parts of a line marked: characters are counted, so their widths do not matter."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip


def marked(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """A line with the characters from `start` to `end` in a style; -1 is the end of the line."""
    segments: list[Segment] = []
    at = 0
    for text, own, _ in strip:
        first = min(max(start - at, 0), len(text))
        last = len(text) if end < 0 else min(max(end - at, first), len(text))
        parts = (text[:first], own), (text[first:last], own + style if own else style)
        segments += [Segment(*part) for part in (*parts, (text[last:], own)) if part[0]]
        at += len(text)
    return Strip(segments, strip.cell_length)
