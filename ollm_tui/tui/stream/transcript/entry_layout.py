"""An entry laid out as lines of one width: the speaker's mark, the parts, the ending, a gap."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from ollm_tui.tui.stream.markdown.wrapping import cells, chopped, line_spans
from ollm_tui.tui.stream.transcript.entry import Entry, Fold, Tone
from ollm_tui.tui.stream.transcript.looks import TranscriptStyles
from ollm_tui.tui.stream.transcript.plain_text import PlainText, shown
from ollm_tui.tui.stream.transcript.spots import Lines, lines_at

if TYPE_CHECKING:
    from ollm_tui.tui.stream.markdown.text import CodeBlock, MarkdownText

MARGIN = 2
"""Columns left of the text: the mark of the speaker and a space."""
_BESIDE = 2
"""Columns that stay free between the text and an ending on the same line."""
_STAMPED = 50
"""Columns of text below which times are left out: they would take lines of their own."""
_INDENT = "  "
"""Before the lines of an open fold."""


_GAP = Strip([])
"""Between two entries."""


class FoldLines:
    """The lines of one fold at one width. Text that comes while it is closed costs nothing."""

    def __init__(self, fold: Fold, styles: TranscriptStyles, width: int) -> None:
        self.fold = fold
        self._styles = styles
        self._width = width
        self._text: PlainText | None = None
        self.reopen()

    @property
    def line_count(self) -> int:
        """The number of lines: the title, and the text if the fold is open."""
        return 1 + (self._text.line_count if self._text else 0)

    def reopen(self) -> None:
        """Lay the fold out as open or closed as it is now."""
        if not self.fold.is_open:
            self._text = None
        elif self._text is None:
            style = self._styles.folded(self.fold.kind)
            self._text = PlainText(style, self._width - len(_INDENT))
            self._text.feed(self.fold.text)

    def feed(self, text: str) -> int:
        """Append text to an open fold; returns the first line that changed."""
        return 1 + self._text.feed(text) if self._text else self.line_count

    def finish(self) -> int:
        """Return the line count: the end of the text changes nothing here."""
        return self.line_count

    def strip(self, y: int) -> Strip:
        """Return a line for the screen."""
        if self._text and y:
            if self.fold.spans:
                return Strip([Segment(_INDENT), *self._coloured(self._text, y - 1)])
            return Strip([Segment(_INDENT), *self._text.strip(y - 1, self._style(y - 1))])
        return Strip([Segment(self._title(), self._styles.toned(self.fold.tone, as_title=True))])

    def plain(self, y: int) -> str:
        """Return a line for copying."""
        return self._text.plain(y - 1) if self._text and y else self._title()

    def source_range(self, y: int) -> tuple[int, int]:
        """Return the part of the text a line shows; the title stands before all of it."""
        return self._text.source_range(y - 1) if self._text and y else (-1, 0)

    def _style(self, y: int) -> Style | None:
        """Return the style of a line by its tone; None if the fold has no tones."""
        if not (self._text and self.fold.tones):
            return None
        start, _ = self._text.source_range(y)
        at = bisect_right(self.fold.tones, start, key=itemgetter(0))
        tone: Tone = self.fold.tones[at - 1][1] if at else ""
        return self._styles.toned(tone)

    def _coloured(self, text: PlainText, y: int) -> list[Segment]:
        """Return a line with the colours a program gave it."""
        start, _ = text.source_range(y)
        (line, base, _), *_ = text.strip(y)
        spans = [
            (max(at - start, 0), min(end - start, len(line)), style)
            for at, end, style in self.fold.spans
            if at < start + len(line) and end > start
        ]
        cuts = sorted({0, len(line), *(cut for span in spans for cut in span[:2])})
        return [
            Segment(
                line[first:last],
                Style.chain(base or Style(), *(s for a, e, s in spans if a <= first < e)),
            )
            for first, last in pairwise(cuts)
        ]

    def _title(self) -> str:
        mark = self._styles.fold_mark(self.fold.is_open, self.fold.tone)
        title = mark + " ".join(shown(self.fold.title).split())
        if cells(title) <= self._width:
            return title
        more = "…" if self._styles.unicode else "..."
        _, end = next(chopped(title, max(self._width - len(more), 1)))
        return title[:end] + more


class Anchor(NamedTuple):
    """A line identified by what it shows, so that it is found again after the layout changed."""

    part: int
    source: int
    line: int
    """The index of the line among those that show this offset of the text."""


class EntryLayout:
    """The lines of one entry at one width."""

    def __init__(
        self, entry: Entry, styles: TranscriptStyles, width: int, with_details: bool = False
    ) -> None:
        self.entry = entry
        self._styles = styles
        self._room = max(width - MARGIN, 1)
        self._with_details = with_details
        self._with_stamps = styles.stamps and self._room >= _STAMPED
        self.parts: list[Lines] = []
        """One for each passage of the entry, in the same order."""
        self._markdown = _markdown(styles, self._room) if entry.speaker == "assistant" else None
        self.body: Lines = self._markdown or PlainText(styles.words(entry.speaker), self._room)
        self.body.feed(entry.text)
        if not entry.growing:
            self.body.finish()
        self._folds: dict[str, FoldLines] = {}
        self._tops: list[int] = []
        self._ending: list[str] = []
        self._is_beside = False
        self._was_growing = entry.growing
        """Whether the mark at the writing end is drawn."""
        self.arrange()

    @property
    def rows(self) -> int:
        """The number of lines of the entry, without the gap to the next one."""
        return max(self._tops[-1], 1) + (0 if self._is_beside else len(self._ending))

    @property
    def height(self) -> int:
        """The number of lines with the gap."""
        return self.rows + self._styles.gap

    @property
    def code_blocks(self) -> list[CodeBlock]:
        """The blocks of code in the entry's text."""
        return self._markdown.code_blocks() if self._markdown else []

    # Changes; each returns the first line that is different now

    def arrange(self) -> int:
        """Lay out folds that were added, replaced, opened or closed."""
        for fold in self.entry.folds:
            known = self._folds.get(fold.key)
            if known and known.fold is fold:
                known.reopen()
            else:
                self._folds[fold.key] = FoldLines(fold, self._styles, self._room)
        self.parts = [
            self._folds[passage.key] if isinstance(passage, Fold) else self.body
            for passage in self.entry.passages
        ]
        self._measure()
        return 0

    def feed(self, text: str) -> int:
        """Append to the text."""
        return self._changed(self.body, self.body.feed(text))

    def feed_fold(self, fold: Fold, text: str) -> int:
        """Append to the text of a fold."""
        lines = self._folds[fold.key]
        return self._changed(lines, lines.feed(text))

    def retitled(self, fold: Fold) -> int:
        """Show the new title of a fold."""
        return self._changed(self._folds[fold.key], 0)

    def finish(self) -> int:
        """End the text."""
        line = self._changed(self.body, self.body.finish())
        self._was_growing = self.entry.growing
        return line

    def _changed(self, part: Lines, line: int) -> int:
        before = self.rows
        self._measure()
        line += self._tops[self.parts.index(part)]
        # The ending stands beside the last line or below it, so a new last line moves it; so does
        # the mark at the writing end.
        return min(line, before - 1) if self._ending or self._was_growing else line

    def _measure(self) -> None:
        self._tops = list(accumulate((part.line_count for part in self.parts), initial=0))
        self._ending = []
        self._is_beside = False
        if ending := shown(self.entry.ending(self._with_details, self._with_stamps)):
            spans = list(line_spans(ending, 0, self._room))
            self._ending = [ending[first:last] for first, last in spans]
            used = self._content(self._tops[-1] - 1).cell_length if self._tops[-1] else 0
            self._is_beside = (
                len(spans) == 1 and used + _BESIDE + cells(self._ending[0]) <= self._room
            )

    # Reading

    def strip(self, line: int, under_cursor: bool = False) -> Strip:
        """Return a line with its margin."""
        if line >= self.rows:
            return _GAP
        segments = [self._styles.mark(self.entry.speaker, under_cursor)]
        used = 0
        if line < self._tops[-1]:
            content = self._content(line)
            segments += content
            used = content.cell_length
        if self.entry.growing and line == max(self._tops[-1] - 1, 0):
            tail = self._writing_end(used)
            segments += tail
            used += sum(segment.cell_length for segment in tail)
        if ending := self._ending_on(line):
            free = max(self._room - used - cells(ending), 0)
            segments += [Segment(" " * free), Segment(ending, self._styles.footer)]
        return Strip(segments)

    def settled(self, line: int) -> Strip | None:
        """Return what makes up a line of the text, the same object until the line changes; None
        where more than that stands on the line, or something that is made anew each time."""
        if line >= self.rows:
            return _GAP
        if self._markdown is None or line >= self._tops[-1] or self._ending_on(line):
            return None
        if self.entry.growing and line == self._tops[-1] - 1:
            return None
        part, inner = self.part_at(line)
        return self._markdown.strip(inner) if self.parts[part] is self._markdown else None

    def _writing_end(self, used: int) -> list[Segment]:
        """Return what stands where the next word will: what is waited for, or a mark."""
        mark = self._styles.writing_mark
        if not self._tops[-1] and self.entry.waiting:
            words = shown(self.entry.waiting)
            _, end = next(chopped(words, max(self._room - cells(mark), 1)))
            return [Segment(words[:end], self._styles.footer)]
        return [Segment(mark, self._styles.assistant_mark)] if used < self._room else []

    def plain(self, line: int) -> str:
        """Return a line without its margin."""
        if line < self._tops[-1]:
            part, inner = self.part_at(line)
            return self.parts[part].plain(inner)
        return self._ending_on(line)

    def lead(self, line: int) -> int:
        """Return how many characters of a line on the screen come before its plain text."""
        if line < self._tops[-1]:
            drawn, plain = self._content(line).text.rstrip(), self.plain(line).rstrip()
            return MARGIN + max(len(drawn) - len(plain), 0)
        return MARGIN + max(self._room - cells(self._ending_on(line)), 0)

    def part_at(self, line: int) -> tuple[int, int]:
        """Return the part a line belongs to and the line within it; for the ending and the gap, the
        number of parts and the line after them."""
        if line >= self._tops[-1]:
            return len(self.parts), line - self._tops[-1]
        part = bisect_right(self._tops, line) - 1
        return part, line - self._tops[part]

    def top(self, part: int) -> int:
        """Return the first line of a part."""
        return self._tops[part]

    def fold_at(self, line: int) -> Fold | None:
        """Return the fold whose title is on a line; None if there is none."""
        part, inner = self.part_at(line)
        lines = self.parts[part] if part < len(self.parts) else None
        return lines.fold if isinstance(lines, FoldLines) and not inner else None

    def anchor(self, line: int) -> Anchor:
        """Return what a line shows."""
        part, inner = self.part_at(line)
        if part == len(self.parts):
            return Anchor(part, 0, inner)
        source = self.parts[part].source_range(inner)[0]
        return Anchor(part, source, inner - lines_at(self.parts[part], source).start)

    def line_of(self, anchor: Anchor) -> int:
        """Return the line that shows what an anchor stands for."""
        if anchor.part >= len(self.parts):
            return min(self._tops[-1] + anchor.line, self.height - 1)
        same = lines_at(self.parts[anchor.part], anchor.source)
        return self._tops[anchor.part] + min(same.start + anchor.line, max(same.stop - 1, 0))

    def _content(self, line: int) -> Strip:
        part, inner = self.part_at(line)
        return self.parts[part].strip(inner)

    def _ending_on(self, line: int) -> str:
        first = self.rows - len(self._ending)
        return self._ending[line - first] if self._ending and first <= line < self.rows else ""


def _markdown(styles: TranscriptStyles, width: int) -> MarkdownText:
    # Imported late: the first screen of a new session shows no answer and need not wait for it.
    from ollm_tui.tui.stream.markdown.text import MarkdownText

    return MarkdownText(styles.markdown, width)
