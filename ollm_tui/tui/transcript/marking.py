"""Parts of a line marked: characters counted as they are drawn, whatever their width."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from ollm_tui.tui.markdown.wrapping import cells


def marked(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """A line with the characters from `start` to `end` in a style; -1 is the end of the line."""
    text = strip.text
    first = cells(text[:start])
    last = strip.cell_length if end < 0 else cells(text[:end])
    if last <= first:
        return strip
    chosen = [
        Segment(segment.text, segment.style + style if segment.style else style)
        for segment in strip.crop(first, last)
    ]
    return Strip.join([strip.crop(0, first), Strip(chosen), strip.crop(last)])
