"""A fold laid out: its title, and its text below that while it is open."""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from ollm_tui.tui.stream.markdown.wrapping import cells, chopped
from ollm_tui.tui.stream.transcript.fold import Fold, Tone
from ollm_tui.tui.stream.transcript.plain_text import PlainText, shown
from ollm_tui.tui.stream.transcript.styles import TranscriptStyles

_INDENT = "  "


class FoldLines:
    """The lines of one fold at one width. What grows while it is closed costs nothing."""

    def __init__(self, fold: Fold, styles: TranscriptStyles, width: int) -> None:
        self.fold = fold
        self._styles = styles
        self._width = width
        self._text: PlainText | None = None
        self.reopen()

    @property
    def line_count(self) -> int:
        """How many lines there are."""
        return 1 + (self._text.line_count if self._text else 0)

    def reopen(self) -> None:
        """Lay it out as open or closed as the fold is now."""
        if not self.fold.is_open:
            self._text = None
        elif self._text is None:
            style = self._styles.folded(self.fold.kind)
            self._text = PlainText(style, self._width - len(_INDENT))
            self._text.feed(self.fold.text)

    def feed(self, text: str) -> int:
        """Append text; returns the first line that changed."""
        return 1 + self._text.feed(text) if self._text else self.line_count

    def finish(self) -> int:
        """No more text comes."""
        return self.line_count

    def strip(self, y: int) -> Strip:
        """A line for the screen."""
        if self._text and y:
            return Strip([Segment(_INDENT), *self._text.strip(y - 1, self._style(y - 1))])
        return Strip([Segment(self._title(), self._styles.toned(self.fold.tone, as_title=True))])

    def plain(self, y: int) -> str:
        """A line for copying."""
        return self._text.plain(y - 1) if self._text and y else self._title()

    def source_range(self, y: int) -> tuple[int, int]:
        """The part of the text a line shows; the title stands before all of it."""
        return self._text.source_range(y - 1) if self._text and y else (-1, 0)

    def _style(self, y: int) -> Style | None:
        """Of a line that is not meant as the others are."""
        if not (self._text and self.fold.tones):
            return None
        start, _ = self._text.source_range(y)
        at = bisect_right(self.fold.tones, start, key=itemgetter(0))
        tone: Tone = self.fold.tones[at - 1][1] if at else ""
        return self._styles.toned(tone)

    def _title(self) -> str:
        mark = self._styles.fold_mark(self.fold.is_open, self.fold.tone)
        title = mark + " ".join(shown(self.fold.title).split())
        if cells(title) <= self._width:
            return title
        more = "…" if self._styles.unicode else "..."
        _, end = next(chopped(title, max(self._width - len(more), 1)))
        return title[:end] + more
