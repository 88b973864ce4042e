"""Text shown as it is, line by line: code with its colours, and HTML without any.

A long line goes on below with a mark in the margin, so that nothing is out of sight.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.segment import Segment

from ollm_tui.tui.stream.markdown.block import Block
from ollm_tui.tui.stream.markdown.page import Indent, Lead, Line, Page
from ollm_tui.tui.stream.markdown.styles import Palette
from ollm_tui.tui.stream.markdown.wrapping import cells, chopped

if TYPE_CHECKING:
    from ollm_tui.tui.stream.markdown.code_lexing import LexerState, LineLexer

TAB_WIDTH = 4
LONGEST_CODE = 400
"""Longer lines are data, not code for people: they have no colours, and grow row by row."""
_MARGIN, _CONTINUED = "  ", "↳ "


class VerbatimBlock(Block):
    """Lines as they are, each drawn once when it is complete."""

    def __init__(self, page: Page, palette: Palette, indents: Sequence[Indent]) -> None:
        super().__init__(page, palette, indents)
        self.base = palette.styles.text
        self._texts: list[str] = []
        self._sources: list[int] = []
        self._drawn = 0
        """How many complete lines were drawn."""
        self._drawn_lines = 0
        """How many lines of the page the complete lines and the head take."""
        self._is_open = False
        self._final = (0, 0)
        """How many characters and rows of an open long line cannot change any more."""

    @property
    def text(self) -> str:
        """All lines as they were written."""
        return "".join(f"{line}\n" for line in self._texts)

    @property
    def last_line(self) -> str:
        """The line that was begun last."""
        return self._texts[-1]

    def begin_line(self, text: str, source: int, line_start: int) -> None:
        """Begin another line."""
        self._texts.append(text)
        self._sources.append(line_start)
        self._is_open = True
        self._final = (0, 0)

    def extend(self, text: str) -> None:
        """Append text to the last line."""
        self._texts[-1] += text

    def end_line(self) -> None:
        """Mark the last line as complete."""
        self._is_open = False

    def draw(self) -> None:
        """Draw the lines that are new or were not complete when last drawn."""
        keep, lines = self._drawn_lines, list[Line]()
        # The line of an empty block goes when its first text comes.
        if not self._drawn and len(head := self.head()) != keep:
            keep, lines = 0, head
        complete = len(self._texts) - self._is_open
        for number in range(self._drawn, complete):
            segments = self.coloured(_expanded(self._texts[number]), is_complete=True)
            lines += self._rows(segments, number)
        self._drawn, self._drawn_lines = complete, keep + len(lines)
        if lines:
            # They replace the rows of the open line too: none of those may be skipped.
            self._final = (0, 0)
        if self._is_open:
            rows, more = self._open_rows(complete)
            keep += rows
            lines += more
        self.page.put(self.top + keep, lines)

    def head(self) -> list[Line]:
        """Return the lines above the text."""
        return []

    def coloured(self, text: str, is_complete: bool) -> Sequence[Segment]:
        """Return one line in its colours; one that is not complete is asked for again."""
        del is_complete
        return self._plain(text)

    def margin(self, number: int, row: int) -> Lead:
        """Return what stands before a row of a line."""
        return self.lead(not number and not row)

    def _open_rows(self, number: int) -> tuple[int, list[Line]]:
        """Return how many rows of the open line are final, and the rows after those."""
        text = _expanded(self._texts[-1])
        if len(text) <= LONGEST_CODE:
            return 0, self._rows(self.coloured(text, is_complete=False), number)
        start, rows = self._final
        margins = self.margin(number, 0), self.margin(number, 1)
        room = max(self.page.width - margins[0].width, 1)
        spans = list(chopped(text[start:], room))
        lines = [
            self._row(margins[bool(rows + row)], self._plain(text[start + a : start + b]), number)
            for row, (a, b) in enumerate(spans)
        ]
        # More text can change the last two rows, but none before them.
        if len(spans) > 2:
            self._final = start + spans[-2][0], rows + len(spans) - 2
        return rows, lines

    def _plain(self, text: str) -> Sequence[Segment]:
        return (Segment(text, self.base),) if text else ()

    def _row(self, lead: Lead, segments: Sequence[Segment], number: int) -> Line:
        fill = self.base if self.base.bgcolor else None
        return Line(lead, segments, self._sources[number], fill)

    def _rows(self, segments: Sequence[Segment], number: int) -> list[Line]:
        room = max(self.page.width - self.margin(number, 0).width, 1)
        if sum(cells(segment.text) for segment in segments) <= room:
            return [self._row(self.margin(number, 0), segments, number)]
        text = "".join(segment.text for segment in segments)
        return [
            self._row(self.margin(number, row), _part(segments, first, last), number)
            for row, (first, last) in enumerate(chopped(text, room))
        ]


class CodeBlock(VerbatimBlock):
    """A fenced or indented block of code, on a background of its own."""

    def __init__(
        self,
        page: Page,
        palette: Palette,
        indents: Sequence[Indent],
        source: int,
        language: str = "",
    ) -> None:
        super().__init__(page, palette, indents)
        self._margins: dict[tuple[bool, bool], Lead] = {}
        self.base = palette.styles.code_block
        self.language = language
        self._source = source
        self._lexer: LineLexer | None = None
        self._state: LexerState | None = None
        if language:
            self._lexer = _line_lexer(language)
            self._state = self._lexer.start if self._lexer else None

    def head(self) -> list[Line]:
        """Return the line with the language; an empty block has a line too, to be seen at all."""
        if not self.language and self._texts:
            return []
        styles = self.palette.styles
        margin = self._margin(True, False)
        room = self.room - 2 * len(_MARGIN)
        words = (f"{self.language} · {styles.copy_hint}", self.language)
        label = next((each for each in words if self.language and cells(each) <= room), "")
        # All of it is margin: what is copied is code only.
        gap = Segment(" " * (room - cells(label) + len(_MARGIN) - 1), styles.code_block)
        head = (*margin.segments, gap, Segment(label, styles.code_label)) if label else ()
        lead = Lead(head, self.page.width - 1, "") if label else margin
        return [Line(lead, (), self._source, self.base)]

    def begin_line(self, text: str, source: int, line_start: int) -> None:
        """Begin another line; without a language above, the first one stands for the fence too."""
        is_top = not self._texts and not self.language
        super().begin_line(text, source, self._source if is_top else line_start)

    def add_blank_lines(self, sources: Sequence[int]) -> None:
        """Add the blank lines that turned out to be within indented code."""
        for source in sources:
            self.begin_line("", source, source)
        self.end_line()

    def coloured(self, text: str, is_complete: bool) -> Sequence[Segment]:
        """Return one line in its colours, read from the state its predecessor left."""
        if self._lexer is None or self._state is None or len(text) > LONGEST_CODE:
            return super().coloured(text, is_complete)
        tokens, state = self._lexer.line(text, self._state)
        # An open line is read again from the same state when it has grown.
        if is_complete:
            self._state = state
        found: list[Segment] = []
        for name, value in tokens:
            style = self.palette.token(name)
            if found and found[-1].style is style:
                found[-1] = Segment(found[-1].text + value, style)
            else:
                found.append(Segment(value, style))
        return tuple(found)

    def margin(self, number: int, row: int) -> Lead:
        """Return the margin before the text, or the mark of a line that goes on."""
        return self._margin(not (number or row or self.language), bool(row))

    def _margin(self, is_first: bool, is_continued: bool) -> Lead:
        known = self._margins.get((is_first, is_continued))
        if known is None:
            lead, styles = self.lead(is_first), self.palette.styles
            mark = (
                Segment(_CONTINUED, styles.code_label)
                if is_continued
                else Segment(_MARGIN, styles.code_block)
            )
            known = Lead((*lead.segments, mark), lead.width + len(_MARGIN), "")
            self._margins[is_first, is_continued] = known
        return known


def _line_lexer(language: str) -> LineLexer | None:
    # Imported late: Pygments is heavy, and most texts have no code.
    from ollm_tui.tui.stream.markdown.code_lexing import line_lexer

    return line_lexer(language)


def _expanded(text: str) -> str:
    return text.expandtabs(TAB_WIDTH) if "\t" in text else text


def _part(segments: Sequence[Segment], first: int, last: int) -> Sequence[Segment]:
    """Return the characters from `first` to `last` of a row of segments."""
    found: list[Segment] = []
    at = 0
    for text, style, _ in segments:
        if at < last and at + len(text) > first:
            found.append(Segment(text[max(first - at, 0) : last - at], style))
        at += len(text)
    return tuple(found)
