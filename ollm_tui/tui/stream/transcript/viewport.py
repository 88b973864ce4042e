"""The visible part of the stream: which lines are in view, and what moves them.

When a height above the view turns out to be different, the view moves along with its content,
so that nothing jumps. The view follows the bottom only if it is there.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any

from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView

from ollm_tui.tui.stream.transcript.entry import Entry, Fold
from ollm_tui.tui.stream.transcript.entry_layout import MARGIN, Anchor, EntryLayout
from ollm_tui.tui.stream.transcript.looks import TranscriptStyles
from ollm_tui.tui.stream.transcript.stack import EntryStack

LINES_AHEAD = 5
"""The most empty lines below an answer that grows."""


class Change:
    """An entry that is being changed, and the first of its lines that is different afterwards."""

    def __init__(self, entry: Entry, layout: EntryLayout | None) -> None:
        self.entry = entry
        self.layout = layout
        self.line = 0


class Viewport(ScrollView, can_focus=True):
    """A stack of entries that can be scrolled; lays out what is in view and nothing else."""

    virtual_size = Reactive(Size(0, 0), layout=False, repaint=False)
    """How large all entries are. Textual's own has the whole screen laid out anew whenever it
    changes, which is at every new line of an answer; only the scroll bar has to know."""

    DEFAULT_CSS = """
    Viewport { overflow-x: hidden; overflow-y: scroll; scrollbar-gutter: stable; }
    """

    def __init__(self, looks: TranscriptStyles, **options: Any) -> None:
        super().__init__(**options)
        self.stack = EntryStack(looks)
        self._following = True
        self._has_news = False
        self._held: tuple[str, Anchor] | None = None
        """What the top of the view was last made to show; None once the user has scrolled."""

    @property
    def is_following(self) -> bool:
        """Whether the view stays at the bottom when more comes."""
        return self._following

    @property
    def has_news(self) -> bool:
        """Whether something new below the view has not been seen yet."""
        return self._has_news

    def watch_virtual_size(self, size: Size) -> None:
        """Have the scroll bar follow, and the height where it depends on what there is to show."""
        if self.is_attached:
            self._scroll_update(size)
            if self.styles.auto_dimensions:
                self.refresh(layout=True)

    # Moving

    def go_to(self, key: str) -> None:
        """Show an entry at the top of the view."""
        self._put(self.stack.place(key), 0, 0)

    def go_to_end(self) -> None:
        """Show the bottom and follow it."""
        self._follow(True)
        self._settle()
        self.refresh()

    def reveal(self, place: int, from_below: bool = False) -> None:
        """Bring an entry into view: whole if there is room, else its beginning or its end."""
        self.stack.measure(place)
        top = self.stack.heights.above(place) - self.scroll_offset.y
        # The gap below the last entry is part of the bottom, which is then followed.
        is_last = place == len(self.stack) - 1
        rows = self.stack.heights[place] if is_last else self.stack.layout(place).rows
        height = self.size.height
        if top >= 0 and top + rows <= height:
            return
        if from_below if rows > height else top > 0:
            self._put(place, rows, height)
        else:
            self._put(place, 0, 0)

    def reveal_line(self, place: int, line: int) -> None:
        """Bring a line of an entry into view, with some lines above it."""
        row = self.stack.heights.above(place) + line - self.scroll_offset.y
        if not 0 <= row < self.size.height - 1:
            self._put(place, line, self.size.height // 3)

    def entry_at(self, row: int) -> tuple[int, int] | None:
        """Return the place of the entry at a row of the view, and the line in it; None if empty."""
        line = self.scroll_offset.y + row
        return self.stack.heights.find(line) if line < self.stack.heights.total else None

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow the bottom again if scrolling has reached it, and stop following it if not."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            # Rounded: Textual scrolls in fractions, and those move no line.
            self._held = None
            self._follow(round(new_value) >= self._bottom())
            self._settle()

    def on_resize(self) -> None:
        """Lay out anew for another width: first what is seen, the rest when it is looked at."""
        if self._text_width() != self.stack.width:
            self.lay_out_anew()
        else:
            self._settle()
            self.refresh()  # it was drawn with the new size before all heights were known

    # Changing

    @contextmanager
    def changing(self, key: str, hold: bool = False) -> Generator[Change]:
        """Change one entry in a `with` block; afterwards only what is different is drawn again."""
        heights, place = self.stack.heights, self.stack.place(key)
        above, height, total = heights.above(place), heights[place], heights.total
        with self.steady(hold):
            change = Change(self.stack.entries[place], self.stack.known_layout(place))
            yield change
            self.stack.remeasure(place)
        if heights.above(place) != above:  # others came into view meanwhile and were measured
            self.refresh()
        else:
            has_moved = (heights[place], heights.total) != (height, total)
            self._redraw(place, change.line, has_moved)
        if not hold:
            self.note_news(place)

    @contextmanager
    def steady(self, hold: bool = False) -> Generator[None]:
        """Keep the line at the top of the view where it is, whatever changes in the `with` block.

        A view that follows the bottom stays at the bottom instead, unless `hold` is set.
        """
        # Remembered by what the line shows, because its number may change in between.
        top = self._top() if hold or not self._following else None
        yield
        if top is None or top[0] not in self.stack or not self.size.height:
            self._settle()
            return
        place = self.stack.place(top[0])
        self._follow(False)
        self.stack.measure(place)
        line = self.stack.layout(place).line_of(top[1])
        self._move_to(self.stack.heights.above(place) + line)
        self._settle()
        # Set after scrolling, which resets it. An anchor taken anew after every change would
        # drift upwards: the line that shows a text may begin before it.
        self._held = top

    def open_folds(self, key: str, folds: Iterable[Fold], is_open: bool = True) -> None:
        """Open or close folds of an entry; what is above them stays where it is."""
        with self.changing(key, hold=True) as change:
            for fold in folds:
                fold.is_open = is_open
            if change.layout:
                change.line = change.layout.arrange()

    def put_fold(self, key: str, fold: Fold) -> None:
        """Replace the fold with the same key, as open as that was, or add it as the last one."""
        with self.changing(key) as change:
            folds = change.entry.folds
            if known := change.entry.fold(fold.key):
                fold.is_open = known.is_open
                folds[folds.index(known)] = fold
            else:
                folds.append(fold)
            if change.layout:
                change.line = change.layout.arrange()

    def lay_out_anew(self) -> None:
        """Lay out all entries again; the same text stays in view."""
        with self.steady():
            self.stack.width = self._text_width()
            self.stack.lay_out_anew()
        self.refresh()

    def note_news(self, place: int) -> None:
        """Show the label for news if the end of a changed entry is below the view."""
        end = self.stack.heights.above(place + 1) - self.stack.looks.gap
        if not self._following and end > self.scroll_offset.y + self.size.height:
            self._has_news = True
            self.refresh(Region(0, self.size.height - 1, self.size.width, 1))

    # Keeping heights and view in step

    def _text_width(self) -> int:
        width, most = self.scrollable_content_region.width, self.stack.looks.column
        return max(min(width, most + MARGIN) if most else width, MARGIN + 1)

    @property
    def margin_left(self) -> int:
        """The columns left of the text, where it stands in the middle."""
        room = self.scrollable_content_region.width - self.stack.width
        return max(room // 2, 0) if self.stack.looks.is_centred else 0

    def _top(self) -> tuple[str, Anchor] | None:
        if self._held and self._held[0] in self.stack:
            return self._held
        if not len(self.stack):
            return None
        place, line = self.stack.heights.find(self.scroll_offset.y)
        return self.stack.entries[place].key, self.stack.layout(place).anchor(line)

    def _follow(self, following: bool) -> None:
        self._following = following
        if following:
            self._has_news = False

    def _put(self, place: int, line: int, row: int) -> None:
        """Show a line of an entry at a row of the view, as far as there is content for that."""
        if not self.size.height:
            return
        heights = self.stack.heights
        self.stack.measure(place)
        self._measure_beside(place, -1, row - line)
        self._measure_beside(place, 1, self.size.height - row + line - heights[place])
        self._follow(False)
        self._move_to(heights.above(place) + line - row)
        self._settle()
        self.refresh()

    def _measure_beside(self, place: int, step: int, room: int) -> None:
        """Measure the entries above or below one, as far as the room goes."""
        place += step
        while room > 0 and 0 <= place < len(self.stack):
            self.stack.measure(place)
            room -= self.stack.heights[place]
            place += step

    def _settle(self) -> None:
        """Measure everything in view and scroll to where the view belongs."""
        if not len(self.stack) or not self.size.height:
            self.virtual_size = Size(self.stack.width, self.stack.heights.total)
            self._follow(self._following or not len(self.stack))
        elif self._following:
            self._measure_beside(len(self.stack), -1, self.size.height)
            self._follow_bottom()
        else:
            self._settle_from_top()

    def _settle_from_top(self) -> None:
        line = self.scroll_offset.y
        place, inside = self.stack.heights.find(line)
        if inside:
            # Seen from below, so that scrolling up into an entry shows its last lines first.
            line += self.stack.measure(place)
            inside = line - self.stack.heights.above(place)
        self._measure_beside(place - 1, 1, self.size.height + inside)
        self._move_to(line)
        self._follow(self.scroll_offset.y >= self._bottom())

    def _follow_bottom(self) -> None:
        """Scroll to the bottom; while an answer grows, in steps of some empty lines.

        Text that holds still is easier to read, and moving the view draws all of it again.
        """
        bottom, line = self._bottom(), round(self.scroll_y)
        most = min(LINES_AHEAD, self.size.height // 3)
        if not bottom or not self.stack.entries[-1].growing:
            most = 0
        ahead = line - bottom if 0 <= line - bottom <= most else most
        self._move_to(bottom + ahead, ahead)

    def _bottom(self) -> int:
        return max(self.stack.heights.total - self.size.height, 0)

    def _move_to(self, line: int, ahead: int = 0) -> None:
        self.virtual_size = Size(self.stack.width, self.stack.heights.total + ahead)
        line = max(min(line, self._bottom() + ahead), 0)
        if line != round(self.scroll_y):
            self.scroll_target_y = line
            self.scroll_y = line

    def _redraw(self, place: int, line: int, has_moved: bool) -> None:
        """Draw an entry again from a line on; all below it too if that moved."""
        top = self.stack.heights.above(place) - self.scroll_offset.y
        first = max(top + line, 0)
        last = self.size.height if has_moved else top + self.stack.heights[place]
        if first < min(last, self.size.height):
            width = self.scrollable_content_region.width  # the scroll bar knows when it moved
            self.refresh(Region(0, first, width, last - first))
