"""Paragraphs and headings: text that is wrapped, and grows by redoing its last lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from rich.segment import Segment
from rich.style import Style

from ollm_tui.tui.stream.markdown.block import Block
from ollm_tui.tui.stream.markdown.inline import InlineReader
from ollm_tui.tui.stream.markdown.page import Indent, Line, Page
from ollm_tui.tui.stream.markdown.styled_text import Piece, StyledText
from ollm_tui.tui.stream.markdown.styles import TARGET, Palette
from ollm_tui.tui.stream.markdown.wrapping import chopped, line_spans

DEFINITION = re.compile(r"\[[^\]]{1,60}\]:")
"""How the definition of a link or a note begins."""


class TextBlock(Block):
    """Wrapped text in one base style."""

    def __init__(self, page: Page, palette: Palette, indents: Sequence[Indent]) -> None:
        super().__init__(page, palette, indents)
        self.base: Style = palette.styles.text
        self._content = StyledText()
        self._starts: list[int] = []
        """Where in the text each line drawn so far begins."""
        self._raw_starts: list[int] = []
        """Where in the raw text each line of source begins."""
        self._sources: list[tuple[int, int]] = []
        """Where each line of source begins, and where its text does."""
        self._targets: list[str] = []
        """The addresses of links, which stand below the text."""

    def _draw_from(self, changed: int) -> None:
        """Draw again the lines that text from `changed` on may have altered."""
        starts = self._starts
        # New text can pull a word back to the line above, but changes no line before that.
        keep = max(bisect_right(starts, changed) - 2, 0)
        start = starts[keep] if starts else 0
        del starts[keep:]
        lines: list[Line] = []
        for first, last in line_spans(self._content.since(start), 0, self.room):
            lines.append(self._line(start + first, start + last, is_first=not starts))
            starts.append(start + first)
        if not starts:
            # A heading without text takes a line too.
            lines.append(Line(self.first_lead, (), self._sources[0][0]))
            starts.append(0)
        self.page.put(self.top + keep, [*lines, *self._target_lines()])

    def _target_lines(self) -> Iterator[Line]:
        style, lead = self.palette.combined(self.base, TARGET), self.lead(False)
        source = self._source(self._starts[-1]) if self._targets else 0
        for target in dict.fromkeys(self._targets):
            for first, last in chopped(target, self.room):
                yield Line(lead, (Segment(target[first:last], style),), source)

    def _line(self, first: int, last: int, is_first: bool) -> Line:
        return Line(
            self.lead(is_first),
            tuple(self._content.segments(first, last, self.palette, self.base)),
            self._sources[0][0] if is_first else self._source(first),
        )

    def _source(self, at: int) -> int:
        raw = self._content.raw_offset(at)
        number = max(bisect_right(self._raw_starts, raw) - 1, 0)
        line_start, text_start = self._sources[number]
        within = raw - self._raw_starts[number]
        return text_start + within if within else line_start

    def _add_source(self, raw_start: int, source: int, line_start: int) -> None:
        self._raw_starts.append(raw_start)
        self._sources.append((line_start, source))


class Paragraph(TextBlock):
    """Text of any length: read once up to where it is settled, then only its end again."""

    def __init__(self, page: Page, palette: Palette, indents: Sequence[Indent]) -> None:
        super().__init__(page, palette, indents)
        self._lines: list[list[str]] = []
        """The parts of each line of source."""
        self._size = 0
        self._pending: str = ""
        """Raw text that is not settled."""
        self._before: str = ""
        """The character in front of the pending text."""
        self._settled = self._content.mark()
        self._settled_targets = 0
        self._is_drawn = True

    @property
    def last_line(self) -> str:
        """The source of the last line: it may turn out to be the head of a table."""
        line = self._lines[-1]
        # Kept joined: this is asked again with every chunk of an undecided line.
        line[:] = ["".join(line)]
        return line[0]

    @property
    def is_one_line(self) -> bool:
        """Whether only one line of source has come so far."""
        return len(self._lines) == 1

    def begin_line(self, text: str, source: int, line_start: int) -> None:
        """Begin another line of source."""
        if self._lines:
            # Definitions of links and notes are shown as written, each on its own line.
            self._append("  \n" if DEFINITION.match(text) else "\n")
        self._add_source(self._size, source, line_start)
        self._lines.append([])
        self.extend(text)

    def extend(self, text: str) -> None:
        """Append text to the line of source."""
        self._lines[-1].append(text)
        self._append(text)

    def draw(self) -> None:
        """Read the raw text that is not settled, and draw the lines it is on."""
        if self._is_drawn:
            return
        self._is_drawn = True
        changed = self._settled[0]
        self._content.cut(self._settled)
        reader = InlineReader(self.shown(self._pending, self._before), self._before)
        settled = reader.settled()
        del self._targets[self._settled_targets :]
        early, late = reader.split(settled)
        first = self._without_targets(early)
        base = self._size - len(self._pending)
        if settled:
            self._content.add(first, base)
            self._content.settle()
            self._settled = self._content.mark()
            self._settled_targets = len(self._targets)
            self._before = self._pending[settled - 1]
            self._pending = self._pending[settled:]
        self._content.add(self._without_targets(late), base)
        self._draw_from(changed)

    def _without_targets(self, pieces: Sequence[Piece]) -> list[Piece]:
        """Return pieces without the addresses of links, which are noted."""
        self._targets += [piece.text for piece in pieces if piece.look & TARGET]
        return [piece for piece in pieces if not piece.look & TARGET]

    def close(self) -> None:
        """Draw what is missing and forget the source, which is needed no longer."""
        self.draw()
        self._lines.clear()
        self._pending = ""

    def take_last_line(self) -> tuple[str, int]:
        """Remove the last line of source and draw the rest anew; returns the line and its start."""
        lines, sources = ["".join(parts) for parts in self._lines], self._sources
        last, last_source = lines.pop(), sources.pop()
        self._lines, self._sources, self._raw_starts = [], [], []
        self._content = StyledText()
        self._targets, self._settled_targets = [], 0
        self._starts.clear()
        self._settled = self._content.mark()
        self._before = self._pending = ""
        self._size = 0
        for line, (line_start, source) in zip(lines, sources, strict=True):
            self.begin_line(line, source, line_start)
        if lines:
            self.draw()
        else:
            self.page.put(self.top, [])
        return last, last_source[0]

    def shown(self, raw: str, before: str) -> str:
        """Return the part of the unsettled raw text that is to be read."""
        del before
        return raw

    def become_heading(self, level: int) -> None:
        """Draw the text as a heading: it was underlined."""
        self.draw()
        self.base = self.palette.styles.heading[level - 1]
        self._starts.clear()
        self._draw_from(0)

    def _append(self, raw: str) -> None:
        self._pending += raw
        self._size += len(raw)
        self._is_drawn = False


class Heading(Paragraph):
    """One line of source with `#` in front of it, and perhaps behind it."""

    def __init__(self, page: Page, palette: Palette, indents: Sequence[Indent], level: int) -> None:
        super().__init__(page, palette, indents)
        self.base = palette.styles.heading[level - 1]

    def shown(self, raw: str, before: str) -> str:
        """Return the text without the marks behind it."""
        text = raw.rstrip(" \t")
        shorter = text.rstrip("#")
        return shorter if (shorter or before)[-1:] in ("", " ", "\t") else text
