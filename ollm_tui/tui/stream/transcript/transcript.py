"""The transcript: all messages of a session in one widget that draws only what is seen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rich.segment import Segment
from rich.style import Style
from textual.events import Click
from textual.geometry import Offset, Region
from textual.message import Message
from textual.reactive import reactive
from textual.selection import Selection
from textual.strip import Strip

from ollm_tui.tui.stream.transcript.cursor import MessageCursor
from ollm_tui.tui.stream.transcript.entry import Entry, Fold, FoldKind
from ollm_tui.tui.stream.transcript.entry_layout import EntryLayout
from ollm_tui.tui.stream.transcript.finder import Finder
from ollm_tui.tui.stream.transcript.kept_rows import KeptRows
from ollm_tui.tui.stream.transcript.looks import TranscriptStyles
from ollm_tui.tui.stream.transcript.stack import EntryStack
from ollm_tui.tui.stream.transcript.viewport import Viewport

_BITS = 32
"""A selected line is known by the place of its entry, in the bits above these, and its number
there: unlike its distance from the top it stays the same while heights become known."""


class Transcript(Viewport):
    """The entries of the stream, with the message cursor and the hits of a search."""

    show_details = reactive(False, init=False, repaint=False)
    """Whether the details of entries are shown beside their footers."""

    @dataclass
    class CursorMoved(Message):
        """The message cursor is on another entry, or nowhere."""

        key: str | None

    def __init__(self, looks: TranscriptStyles, **options: Any) -> None:
        super().__init__(looks, **options)
        self.cursor = MessageCursor(self, self._post_cursor_moved)
        self.finder = Finder(self)
        self._kept = KeptRows()
        self._style: Style | None = None
        """The style of the widget itself while lines are drawn."""

    # Changing entries

    def show(self, entries: Iterable[Entry]) -> None:
        """Replace all entries and show their end."""
        self.cursor.move_to(None)
        self._unselect()
        self.stack.show(entries)
        self.go_to_end()
        self.finder.search_again()

    def add(self, entry: Entry) -> None:
        """Add an entry at the bottom, or replace the one with the same key."""
        if entry.key in self.stack:
            self.replace(entry)
            return
        with self.steady():
            self.stack.add(entry)
        self.note_news(len(self.stack) - 1)
        self.refresh()

    def replace(self, entry: Entry) -> None:
        """Replace the entry that has the same key."""
        with self.changing(entry.key):
            self.stack.replace(entry)
        self.finder.search_again()

    def drop(self, key: str) -> None:
        """Remove an entry; nothing happens if it is not there."""
        if key not in self.stack:
            return
        self.cursor.forget(key)
        self._unselect()
        with self.steady():
            self.stack.remove(key)
        self.finder.search_again()
        self.refresh()

    def grow(self, key: str, text: str) -> None:
        """Append to the text of an entry; only the lines that changed are drawn again."""
        with self.changing(key) as change:
            change.entry.append(text)
            if change.layout and change.entry.growing:
                change.line = change.layout.feed(text)
        if not change.entry.growing:
            # It was laid out as finished and has to be read anew, as text that goes on.
            change.entry.growing = True
            self.replace(change.entry)

    def finish(self, key: str, footer: str = "", details: str = "", stamp: str = "") -> None:
        """End the text of an entry."""
        with self.changing(key) as change:
            change.entry.growing = False
            change.entry.footer = footer
            change.entry.details = details
            change.entry.stamp = stamp
            if change.layout:
                change.line = change.layout.finish()

    def wait_for(self, key: str, words: str) -> None:
        """Show what an entry without text waits for, where its text will be."""
        with self.changing(key) as change:
            change.entry.waiting = words
            if change.layout:
                change.line = 0

    def grow_fold(self, key: str, fold: Fold, text: str = "") -> None:
        """Append text to the fold of an entry that has this fold's key.

        If there is none, the fold itself is added; else its own text is appended first.
        """
        with self.changing(key) as change:
            known = change.entry.fold(fold.key)
            if known is None:
                fold.append(text)
                change.entry.folds.append(fold)
                if change.layout:
                    change.line = change.layout.arrange()
                return
            more = text if known is fold else fold.text + text
            known.append(more)
            if change.layout:
                change.line = change.layout.feed_fold(known, more)

    def retitle_fold(self, key: str, fold_key: str, title: str) -> None:
        """Give a fold another title."""
        with self.changing(key) as change:
            if fold := change.entry.fold(fold_key):
                fold.title = title
                if change.layout:
                    change.line = change.layout.retitled(fold)

    def toggle_folds(self, key: str, kind: FoldKind | None = None) -> None:
        """Open all folds of an entry, or of one kind, if any is closed; else close them."""
        folds = [fold for fold in self.entry(key).folds if kind in (None, fold.kind)]
        self.open_folds(key, folds, not all(fold.is_open for fold in folds))

    def restyle(self, looks: TranscriptStyles) -> None:
        """Use other styles from now on."""
        self.stack.looks = looks
        self._kept.clear()
        self.lay_out_anew()

    def watch_show_details(self, show_details: bool) -> None:
        """Lay out anew: every entry may have another height."""
        self.stack.with_details = show_details
        self.lay_out_anew()

    # Reading entries

    @property
    def keys(self) -> list[str]:
        """The keys of all entries, from the top."""
        return [entry.key for entry in self.stack.entries]

    def entry(self, key: str) -> Entry:
        """Return an entry by its key. KeyError if there is none."""
        return self.stack.entries[self.stack.place(key)]

    def plain_text(self, key: str) -> str:
        """Return the text of an entry as it was written."""
        return self.entry(key).text

    def copy_text(self, keys: Iterable[str]) -> str:
        """Return the texts of several entries as written, with empty lines between them."""
        texts = (self.plain_text(key).strip("\n") for key in keys)
        return "\n\n".join(text for text in texts if text)

    def code_blocks(self, key: str) -> list[str]:
        """Return the blocks of code of an entry: first the one nearest to the middle of the view,
        then those below it, then those from the top on."""
        place = self.stack.place(key)
        layout = self.stack.layout(place)
        top = self.stack.heights.above(place) + layout.top(layout.parts.index(layout.body))
        middle = self.scroll_offset.y + self.size.height // 2 - top
        blocks = layout.code_blocks
        distances = [
            max(block.first_line - middle, middle - block.last_line, 0) for block in blocks
        ]
        nearest = distances.index(min(distances)) if blocks else 0
        return [block.text for block in (*blocks[nearest:], *blocks[:nearest])]

    # Drawing

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw some lines of the screen; finished lines of an answer are not drawn twice."""
        # Taken once for all of them: it is put together from all widgets up to the screen.
        self._style = self.rich_style
        try:
            return self._rows(crop)
        finally:
            self._style = None

    def _rows(self, crop: Region) -> list[Strip]:
        self._kept.drawn_with((self._style, self.size, self.stack.width, crop.x, crop.width))
        top = self.styles.gutter.top
        lines = [self._settled_line(y - top) for y in crop.line_range]
        rows = [line and self._kept.find(*line) for line in lines]
        missing = [number for number, row in enumerate(rows) if row is None]
        if missing:
            first, end = missing[0], missing[-1] + 1
            part = Region(crop.x, crop.y + first, crop.width, end - first)
            rows[first:end] = super().render_lines(part)
            for line, row in zip(lines[first:end], rows[first:end], strict=True):
                if line and row is not None:
                    self._kept.keep(*line, row)
        return [row for row in rows if row is not None]

    def _settled_line(self, y: int) -> tuple[tuple[int, int], Strip] | None:
        """Return which line of which entry a row shows, and what the line consists of; None if
        its looks depend on more than that."""
        at = self.entry_at(y)
        if at is None or self.finder.is_marking or self.text_selection or self.has_news:
            return None
        content = None if self.cursor.covers(at[0]) else self.stack.layout(at[0]).settled(at[1])
        return None if content is None else (at, content)  # an empty line is false

    def notify_style_update(self) -> None:
        """Forget how lines were drawn; the theme may be another one."""
        self._kept.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        width, style = self.size.width, self._style or self.rich_style
        left = self.margin_left
        column = min(self.stack.width, width) if self.stack.looks.column else width
        around = style
        at = self.entry_at(y)
        if at is None:
            return Strip.blank(width, style)
        place, line = at
        layout = self.stack.layout(place)
        under_cursor = self.cursor.covers(place) and line < layout.rows
        looks = self.stack.looks
        if line < layout.rows:
            style += looks.ground(layout.entry.speaker, under_cursor)
        strip = layout.strip(line, under_cursor)
        for start, end, is_current in self.finder.spans(layout, line):
            strip = marked(strip, start, end, looks.current_hit if is_current else looks.hit)
        strip = strip.crop_extend(0, column, style).apply_style(style)
        number = line_number(place, line)
        if (selection := self.text_selection) and (span := selection.get_span(number)):
            strip = marked(strip, *span, self.screen.get_component_rich_style("screen--selection"))
        strip = strip.apply_offsets(0, number)
        if self.has_news and y == self.size.height - 1:
            news = Strip([Segment(looks.news_text, looks.news)])
            strip = Strip.join([strip.crop(0, self._news_start()), news]).crop_extend(
                0, column, style
            )
        sides = Strip.blank(left, around), Strip.blank(max(width - left - column, 0), around)
        return Strip.join([sides[0], strip, sides[1]]) if column < width else strip

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the text of the selected lines, without their margins."""
        return selected_text(self.stack, selection), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the selection."""
        self.refresh()

    # The mouse

    def on_click(self, event: Click) -> None:
        """Go to the end, toggle a fold or move the cursor; a double click selects the entry."""
        offset = event.get_content_offset(self)
        # By itself Textual would select the whole stream at the second click.
        event.prevent_default()
        if offset is None or self.text_selection:
            return
        if self.has_news and self._is_on_news(offset):
            self.go_to_end()
        elif at := self.entry_at(offset.y):
            self._click(*at, event.chain)

    def _click(self, place: int, line: int, chain: int) -> None:
        entry, layout = self.stack.entries[place], self.stack.layout(place)
        if fold := layout.fold_at(line):
            self.open_folds(entry.key, [fold], not fold.is_open)
        elif chain == 2:
            last = Offset(self.stack.width, line_number(place, layout.rows - 1))
            selection = Selection(Offset(0, line_number(place, 0)), last)
            self.screen.selections = {self: selection}
        elif line < layout.rows:
            self.cursor.move_to(entry.key, reveal=False)

    def _is_on_news(self, offset: Offset) -> bool:
        return (
            offset.y == self.size.height - 1 and offset.x >= self.margin_left + self._news_start()
        )

    def _news_start(self) -> int:
        return max(self.stack.width - len(self.stack.looks.news_text), 0)

    def _unselect(self) -> None:
        """Clear the selection: it knows lines by the place of their entry, and places change."""
        if self.is_attached and self.text_selection:
            self.screen.clear_selection()

    def _post_cursor_moved(self, key: str | None) -> None:
        self.post_message(self.CursorMoved(key))


def line_number(place: int, line: int) -> int:
    """Return the number by which Textual's selection knows a line of an entry."""
    return (place << _BITS) + line


def selected_text(stack: EntryStack, selection: Selection) -> str:
    """Return the text of the selected lines as they are shown, but without margins."""
    first = selection.start.y if selection.start else 0
    last = selection.end.y if selection.end else line_number(len(stack), 0)
    lines: list[str] = []
    for place in range(first >> _BITS, min(last >> _BITS, len(stack) - 1) + 1):
        layout = stack.passing_layout(place)
        lines += [
            _copied(layout, line, *span)
            for line in range(layout.height)
            if (span := selection.get_span(line_number(place, line)))
        ]
    return "\n".join(lines).rstrip("\n")


def _copied(layout: EntryLayout, line: int, start: int, end: int) -> str:
    text = layout.plain(line)
    if start <= 0 and end < 0:
        return text
    lead = layout.lead(line)
    return text[max(start - lead, 0) : max(end - lead, 0) if end >= 0 else None]


def marked(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """Return a line with the characters from `start` to `end` in a style; -1 is the line's end."""
    segments: list[Segment] = []
    at = 0
    for text, own, _ in strip:
        first = min(max(start - at, 0), len(text))
        last = len(text) if end < 0 else min(max(end - at, first), len(text))
        parts = (text[:first], own), (text[first:last], own + style if own else style)
        segments += [Segment(*part) for part in (*parts, (text[last:], own)) if part[0]]
        at += len(text)
    return Strip(segments, strip.cell_length)
