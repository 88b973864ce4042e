"""Text shown as it was typed, wrapped; when it grows, only the last lines are wrapped again."""

from __future__ import annotations

from array import array
from bisect import bisect_right

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from ollm_tui.core.intake import UNSAFE
from ollm_tui.tui.stream.markdown.wrapping import cells, line_spans

_TAB = "    "
_NO_BREAK = "\N{NO-BREAK SPACE}"
"""Keeps words on one line; on the screen it is drawn as a blank."""


def shown(text: str) -> str:
    """Return text that is safe to draw: intake filters what steers a terminal, this makes sure."""
    text = text.replace("\t", _TAB)
    return UNSAFE.sub("\ufffd", text) if UNSAFE.search(text) else text


class PlainText:
    """Text in one style. Empty lines before and after it are not shown."""

    def __init__(self, style: Style, width: int) -> None:
        self._style = style
        self._width = max(width, 1)
        self._lines: list[str] = []
        self._starts = array("Q")
        """Where each line begins in the text with expanded tabs."""
        self._tab_ends = array("Q")
        """Where each tab ends in the text with expanded tabs."""
        self._size = 0
        self._open = ""
        """The text of the last two lines: what comes next may change them."""
        self._open_at = 0
        self._held = ""
        """Line ends at the end of the text, shown only when more text follows."""

    @property
    def line_count(self) -> int:
        """The number of lines laid out so far."""
        return len(self._lines)

    def feed(self, text: str) -> int:
        """Append text; returns the first line that changed."""
        at = self._size
        for piece in text.split("\t")[:-1]:
            at += len(piece) + len(_TAB)
            self._tab_ends.append(at)
        text = shown(text)
        self._size += len(text)
        text = self._held + text
        more = text.rstrip("\n")
        self._held = text[len(more) :]
        if not more:
            return len(self._lines)
        if not self._lines:
            self._open_at = len(more) - len(more := more.lstrip("\n"))
        self._open += more
        return self._wrap()

    def finish(self) -> int:
        """Return the line count: the end of the text changes no line."""
        return len(self._lines)

    def strip(self, y: int, style: Style | None = None) -> Strip:
        """Return a line for the screen; with a background it is filled to the full width."""
        text, style = self._lines[y].replace(_NO_BREAK, " "), style or self._style
        if style.bgcolor:
            text += " " * (self._width - cells(text))
        return Strip([Segment(text, style)])

    def plain(self, y: int) -> str:
        """Return a line for copying."""
        return self._lines[y]

    def source_range(self, y: int) -> tuple[int, int]:
        """Return the part of the text a line shows."""
        end = self._starts[y + 1] if y + 1 < len(self._starts) else self._size
        return self._source(self._starts[y]), self._source(end)

    def _source(self, at: int) -> int:
        """Return the offset in the original text, where a tab is one character."""
        return at - (len(_TAB) - 1) * bisect_right(self._tab_ends, at)

    def _wrap(self) -> int:
        # New text can change the last line and the one before it, and no other.
        kept = max(len(self._lines) - 2, 0)
        del self._lines[kept:]
        del self._starts[kept:]
        for first, last in line_spans(self._open, 0, self._width):
            self._lines.append(self._open[first:last])
            self._starts.append(self._open_at + first)
        if len(self._lines) > 2:
            done = self._starts[-2] - self._open_at
            self._open = self._open[done:]
            self._open_at += done
        return kept
