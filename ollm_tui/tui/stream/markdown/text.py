"""Markdown text that grows while it arrives, laid out as lines for the screen."""

from __future__ import annotations

from typing import NamedTuple

from rich.segment import Segment
from textual.strip import Strip

from ollm_tui.core.intake import UNSAFE
from ollm_tui.tui.stream.markdown import code_block
from ollm_tui.tui.stream.markdown.page import Page
from ollm_tui.tui.stream.markdown.reader import BlockReader
from ollm_tui.tui.stream.markdown.styles import MarkdownStyles, Palette

LEAST_WIDTH = 10
"""A narrower view gets lines of this width, and the widget cuts them."""
_MOST_STRIPS = 256
"""Lines kept ready for the screen: more than one screen shows, few in a long text."""


class CodeBlock(NamedTuple):
    """A block of code and the lines it is on."""

    first_line: int
    last_line: int
    """Inclusive."""
    language: str
    text: str


class MarkdownText:
    """Markdown that comes in pieces, laid out as it comes.

    What was fed decides what is shown, not how it was cut: the beginning of a line that may
    still become a mark of some kind is not shown until that is clear.
    """

    def __init__(self, styles: MarkdownStyles, width: int) -> None:
        self._palette = Palette(styles)
        self._page = Page(max(width, LEAST_WIDTH))
        self._reader = BlockReader(self._page, self._palette)
        self._size = 0
        self._strips: dict[int, Strip] = {}

    @property
    def line_count(self) -> int:
        """The number of lines laid out so far."""
        return len(self._page.lines)

    def feed(self, text: str) -> int:
        """Append text; returns the first line that changed, the old count if none did."""
        self._size += len(text)
        self._page.changed = len(self._page.lines)
        # Intake has removed what steers a terminal; nothing here may depend on that alone.
        # One character replaces one, so that offsets into the source stay right.
        self._reader.feed(UNSAFE.sub("\ufffd", text) if UNSAFE.search(text) else text)
        return self._changed()

    def finish(self) -> int:
        """End the text; returns the first line that changed."""
        self._page.changed = len(self._page.lines)
        self._reader.finish()
        return self._changed()

    def strip(self, y: int) -> Strip:
        """Return a line ready for the screen; only code is filled to the full width."""
        strip = self._strips.get(y)
        if strip is None:
            if len(self._strips) >= _MOST_STRIPS:
                self._strips.clear()
            strip = self._strips[y] = self._strip(y)
        return strip

    def plain(self, y: int) -> str:
        """Return the text of a line for copying: without quote bars, margins and fillings."""
        line = self._page.lines[y]
        return line.lead.plain + "".join(segment.text for segment in line.segments)

    def code_blocks(self) -> list[CodeBlock]:
        """Return all blocks of code, from the top."""
        blocks = self._reader.blocks
        ends = [*(block.top for block in blocks[1:]), self.line_count]
        return [
            CodeBlock(block.top, end - 1, block.language, block.text)
            for block, end in zip(blocks, ends, strict=False)
            if isinstance(block, code_block.CodeBlock)
        ]

    def source_range(self, y: int) -> tuple[int, int]:
        """Return the part of the source a line shows; lines that share a part have one range."""
        lines = self._page.lines
        start = lines[y].source
        for below in range(y + 1, len(lines)):
            if lines[below].source > start:
                return start, lines[below].source
        return start, self._size

    def _changed(self) -> int:
        first = self._page.changed
        for y in [y for y in self._strips if y >= first]:
            del self._strips[y]
        return first

    def _strip(self, y: int) -> Strip:
        line = self._page.lines[y]
        strip = Strip([*line.lead.segments, *line.segments])
        if line.fill is None:
            return strip
        missing = self._page.width - strip.cell_length
        return Strip([*strip, Segment(" " * missing, line.fill)], self._page.width)
