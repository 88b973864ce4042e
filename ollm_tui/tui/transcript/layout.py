"""An entry laid out for a width: a mark in the margin, the text, a line below it, a gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from ollm_tui.tui.markdown.styles import MarkdownStyles
from ollm_tui.tui.markdown.text import MarkdownText
from ollm_tui.tui.markdown.wrapping import line_spans
from ollm_tui.tui.transcript.entry import Entry, Speaker

MARGIN = 2
"""Columns left of the text: the mark of the speaker, and a space."""
_MARKS: dict[Speaker, str] = {"user": "▌ ", "assistant": "┃ ", "note": "  ", "error": "! "}
_PLAIN_MARKS: dict[Speaker, str] = {"user": "> ", "assistant": "| ", "note": "  ", "error": "! "}


@dataclass(frozen=True)
class TranscriptStyles:
    """How the stream looks; whoever knows the theme builds it."""

    markdown: MarkdownStyles
    user: Style
    user_mark: Style
    assistant_mark: Style
    note: Style
    error: Style
    footer: Style
    unicode: bool = True

    def mark(self, speaker: Speaker) -> Segment:
        """The margin of a speaker's lines."""
        marks = _MARKS if self.unicode else _PLAIN_MARKS
        styles = {"user": self.user_mark, "assistant": self.assistant_mark, "error": self.error}
        return Segment(marks[speaker], styles.get(speaker, self.note))

    def words(self, speaker: Speaker) -> Style:
        """The words of whoever does not write Markdown."""
        return {"user": self.user, "error": self.error}.get(speaker, self.note)


class Body(Protocol):
    """Text as lines."""

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


class PlainText:
    """Words as they were typed, wrapped; only the last line is wrapped again when more come."""

    def __init__(self, style: Style, width: int) -> None:
        self._style = style
        self._width = max(width, 1)
        self._text = ""
        self._spans: list[tuple[int, int]] = []

    @property
    def line_count(self) -> int:
        """How many lines there are."""
        return len(self._spans)

    def feed(self, text: str) -> int:
        """Append text; returns the first line that changed."""
        self._text += text.expandtabs(4)
        redone = max(len(self._spans) - 2, 0)
        start = self._spans[redone][0] if self._spans else 0
        self._spans[redone:] = line_spans(self._text, start, self._width)
        return redone

    def finish(self) -> int:
        """No more text comes."""
        return len(self._spans)

    def strip(self, y: int) -> Strip:
        """A line for the screen."""
        return Strip([Segment(self.plain(y), self._style)])

    def plain(self, y: int) -> str:
        """A line for copying."""
        start, end = self._spans[y]
        return self._text[start:end]


class EntryLayout:
    """The lines of one entry at one width."""

    def __init__(self, entry: Entry, styles: TranscriptStyles, width: int) -> None:
        self.entry = entry
        self._styles = styles
        self._mark = styles.mark(entry.speaker)
        inner = max(width - MARGIN, 1)
        if entry.speaker == "assistant":
            self.body: Body = MarkdownText(styles.markdown, inner)
        else:
            self.body = PlainText(styles.words(entry.speaker), inner)
        self.body.feed(entry.text)
        if not entry.growing:
            self.body.finish()

    @property
    def height(self) -> int:
        """All lines, with the one below the text and the gap to the next entry."""
        return max(self.body.line_count, 1) + bool(self.entry.footer) + 1

    def feed(self, text: str) -> int:
        """More words came; returns the first line that changed."""
        return self.body.feed(text)

    def finish(self) -> int:
        """The last word came; returns the first line that changed."""
        return self.body.finish()

    def strip(self, line: int) -> Strip:
        """A line with its margin."""
        if line < self.body.line_count:
            return Strip([self._mark, *self.body.strip(line)])
        if line == 0:
            return Strip([self._mark])
        if line < self.height - 1:
            return Strip([self._mark, Segment(self.entry.footer, self._styles.footer)])
        return Strip([])

    def plain(self, line: int) -> str:
        """A line without its margin."""
        return self.body.plain(line) if line < self.body.line_count else ""
