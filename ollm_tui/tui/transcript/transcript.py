"""The chat stream: all messages of a session in one widget that draws only what is seen."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from ollm_tui.tui.transcript.entry import Entry
from ollm_tui.tui.transcript.heights import Heights
from ollm_tui.tui.transcript.layout import MARGIN, EntryLayout, TranscriptStyles

KEPT_LAYOUTS = 200
"""Entries that stay laid out: some screens above and below, not the whole session."""


class Transcript(ScrollView, can_focus=True):
    """Entries from the top. Heights are estimated until an entry is looked at.

    When an estimate turns out wrong above what is shown, the view moves along with its
    content, so that nothing jumps. The bottom is followed only by those who are there.
    """

    DEFAULT_CSS = """
    Transcript { overflow-x: hidden; overflow-y: scroll; scrollbar-gutter: stable; }
    """

    def __init__(self, looks: TranscriptStyles, **options: Any) -> None:
        super().__init__(**options)
        self._looks = looks
        self._entries: list[Entry] = []
        self._places: dict[str, int] = {}
        self._heights = Heights()
        self._layouts: OrderedDict[int, EntryLayout] = OrderedDict()
        self._following = True
        self._width = 0

    # What is shown

    def show(self, entries: Iterable[Entry]) -> None:
        """Show other entries, from their end."""
        self._entries = list(entries)
        self._places = {entry.key: place for place, entry in enumerate(self._entries)}
        self._following = True
        self._lay_out_anew()

    def add(self, entry: Entry) -> None:
        """Put an entry at the bottom."""
        self._places[entry.key] = len(self._entries)
        self._entries.append(entry)
        self._heights.append(self._estimate(entry))
        self._settle()
        self.refresh()

    def grow(self, key: str, text: str) -> None:
        """Add words to an entry; only the lines that changed are drawn again."""
        place = self._places[key]
        self._entries[place].append(text)
        layout = self._layouts.get(place)
        if layout is None:
            self._resized(place, self._estimate(self._entries[place]))
            return
        self._redraw(place, layout.feed(text), layout)

    def finish(self, key: str, footer: str = "") -> None:
        """No more words come to an entry."""
        place = self._places[key]
        entry = self._entries[place]
        entry.growing = False
        entry.footer = footer
        if layout := self._layouts.get(place):
            self._redraw(place, layout.finish(), layout)

    def restyle(self, looks: TranscriptStyles) -> None:
        """Look different from now on."""
        self._looks = looks
        self._lay_out_anew()

    @property
    def is_following(self) -> bool:
        """Whether the view stays at the bottom when more comes."""
        return self._following

    def plain_text(self, key: str) -> str:
        """The words of an entry, as they were said."""
        return self._entries[self._places[key]].text

    # Moving

    def go_to(self, key: str) -> None:
        """Show an entry at the top of the view."""
        self._following = False
        self._move_to(self._heights.above(self._places[key]))

    def go_to_end(self) -> None:
        """Show the bottom, and stay there."""
        self._following = True
        self._settle()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The user moved: those who reach the bottom follow it again."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self._following = round(new_value) >= self._bottom()
            self._settle()

    # Drawing

    def on_resize(self) -> None:
        """Another width lays out what is seen first; the rest when it is looked at."""
        if self._text_width() != self._width:
            self._lay_out_anew()
        else:
            self._settle()

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        width = self.size.width
        line = self.scroll_offset.y + y
        if line >= self._heights.total:
            return Strip.blank(width, self.rich_style)
        place, inner = self._heights.find(line)
        strip = self._layout(place).strip(inner)
        strip = strip.crop_extend(0, width, self.rich_style).apply_style(self.rich_style)
        if (selection := self.text_selection) and (span := selection.get_span(line)):
            strip = self._selected(strip, *span)
        return strip.apply_offsets(0, line)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The words of the selected lines, without their margins."""
        first = selection.start.y if selection.start else 0
        last = selection.end.y if selection.end else self._heights.total - 1
        lines: list[str] = []
        for line in range(first, min(last, self._heights.total - 1) + 1):
            place, inner = self._heights.find(line)
            text = self._layout(place).plain(inner)
            start, end = selection.get_span(line) or (0, -1)
            lines.append(text[max(start - MARGIN, 0) : max(end - MARGIN, 0) if end >= 0 else None])
        return "\n".join(lines).rstrip("\n"), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the selection."""
        self.refresh()

    def _selected(self, strip: Strip, start: int, end: int) -> Strip:
        style = self.screen.get_component_rich_style("screen--selection")
        stop = strip.cell_length if end < 0 else end
        before, chosen, after = strip.divide([start, stop, strip.cell_length])
        return Strip.join([before, chosen.apply_style(style), after])

    # Laying out

    def _text_width(self) -> int:
        return max(self.scrollable_content_region.width, MARGIN + 1)

    def _estimate(self, entry: Entry) -> int:
        return entry.estimated_lines(self._text_width() - MARGIN) + bool(entry.footer) + 1

    def _lay_out_anew(self) -> None:
        top, inside = self._heights.find(self.scroll_offset.y) if len(self._heights) else (0, 0)
        self._width = self._text_width()
        self._layouts.clear()
        self._heights.replace(self._estimate(entry) for entry in self._entries)
        if not self._following and top < len(self._entries):
            self._move_to(self._heights.above(top) + min(inside, self._heights[top] - 1))
        self._settle()
        self.refresh()

    def _layout(self, place: int) -> EntryLayout:
        layout = self._layouts.get(place)
        if layout is None:
            layout = EntryLayout(self._entries[place], self._looks, self._width)
            self._layouts[place] = layout
            if len(self._layouts) > KEPT_LAYOUTS:
                self._layouts.popitem(last=False)
        else:
            self._layouts.move_to_end(place)
        return layout

    def _settle(self) -> None:
        """Give everything in view its real height, and the view its place."""
        if not self._entries or not self.size.height:
            self.virtual_size = Size(self._width, self._heights.total)
            return
        if self._following:
            self._settle_bottom()
        else:
            self._settle_from_top()

    def _settle_bottom(self) -> None:
        room = self.size.height
        for place in range(len(self._entries) - 1, -1, -1):
            self._heights.set(place, self._layout(place).height)
            room -= self._heights[place]
            if room <= 0:
                break
        self._move_to(self._bottom())

    def _settle_from_top(self) -> None:
        line = self.scroll_offset.y
        place, inside = self._heights.find(line)
        # Seen from below, so that scrolling up into an entry shows its last lines first.
        grown = self._heights.set(place, self._layout(place).height) if inside else 0
        line += grown
        below = self._heights.above(place)
        while place < len(self._entries) and below < line + self.size.height:
            self._heights.set(place, self._layout(place).height)
            below += self._heights[place]
            place += 1
        self._move_to(line)

    def _bottom(self) -> int:
        return max(self._heights.total - self.size.height, 0)

    def _move_to(self, line: int) -> None:
        self.virtual_size = Size(self._width, self._heights.total)
        line = max(min(line, self._bottom()), 0)
        if line != round(self.scroll_y):
            self.scroll_target_y = line
            self.scroll_y = line

    def _resized(self, place: int, height: int) -> None:
        if self._heights.set(place, height):
            self._settle()

    def _redraw(self, place: int, changed: int, layout: EntryLayout) -> None:
        """Draw an entry again from a line on; all below it if its height is another."""
        grown = self._heights.set(place, layout.height)
        if grown:
            self._settle()
        top = self._heights.above(place) + changed - self.scroll_offset.y
        bottom = self.size.height if grown else top + layout.height - changed
        region = Region(0, max(top, 0), self.size.width, bottom - max(top, 0))
        if region.height > 0 and region.y < self.size.height:
            self.refresh(region)
