"""The entries of the stream from top to bottom: where each one is and how high.

Heights are estimated until an entry is looked at; only some entries stay laid out.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from ollm_tui.tui.stream.transcript.entry import Entry
from ollm_tui.tui.stream.transcript.entry_layout import MARGIN, EntryLayout
from ollm_tui.tui.stream.transcript.looks import TranscriptStyles


class Heights:
    """Heights in order from the top, in a Fenwick tree: sums and changes take logarithmic time."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights: list[int] = list(heights)
        self._tree: list[int] = []
        self._rebuild()

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    @property
    def total(self) -> int:
        """The sum of all heights."""
        return self.above(len(self._heights))

    def above(self, index: int) -> int:
        """Return the line at which an entry begins: the sum of the heights before it."""
        lines = 0
        while index:
            lines += self._tree[index]
            index &= index - 1
        return lines

    def set(self, index: int, height: int) -> int:
        """Set the height of an entry; returns by how much it grew."""
        grown = height - self._heights[index]
        if grown:
            self._heights[index] = height
            step = index + 1
            while step < len(self._tree):
                self._tree[step] += grown
                step += step & -step
        return grown

    def append(self, height: int) -> None:
        """Add a height at the bottom."""
        self._heights.append(height)
        size = len(self._heights)
        # A node holds the heights of as many entries as its lowest set bit says, ending here.
        low = size - (size & -size)
        self._tree.append(self.above(size - 1) - self.above(low) + height)

    def replace(self, heights: Iterable[int]) -> None:
        """Replace all heights."""
        self._heights = list(heights)
        self._rebuild()

    def find(self, line: int) -> tuple[int, int]:
        """Return the entry at a line and the line within it; entries of no height are passed over.

        A line below the bottom counts on from the top of the last entry.
        """
        if line >= self.total:
            last = len(self._heights) - 1
            return last, line - self.above(last) if last >= 0 else 0
        index, step = 0, 1 << len(self._heights).bit_length()
        while step:
            below = index + step
            if below < len(self._tree) and self._tree[below] <= line:
                index = below
                line -= self._tree[below]
            step >>= 1
        return index, line

    def _rebuild(self) -> None:
        self._tree = [0, *self._heights]
        for index in range(1, len(self._tree)):
            above = index + (index & -index)
            if above < len(self._tree):
                self._tree[above] += self._tree[index]


KEPT_LAYOUTS = 200
"""How many entries stay laid out: some screens above and below, not the whole session."""


class EntryStack:
    """Entries from the top. The place of an entry is its index; a line counts from its top."""

    def __init__(self, looks: TranscriptStyles) -> None:
        self.looks = looks
        self.with_details = False
        self.width = MARGIN + 1
        self.entries: list[Entry] = []
        self.heights = Heights()
        self._places: dict[str, int] = {}
        self._layouts: OrderedDict[str, EntryLayout] = OrderedDict()

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, key: object) -> bool:
        return key in self._places

    @property
    def layouts_kept(self) -> int:
        """How many entries are laid out at present."""
        return len(self._layouts)

    def place(self, key: str) -> int:
        """Return the place of an entry. KeyError if there is none with the key."""
        return self._places[key]

    def show(self, entries: Iterable[Entry]) -> None:
        """Replace all entries. Of several with the same key only the last is taken."""
        self.entries = list({entry.key: entry for entry in entries}.values())
        self._places = {entry.key: place for place, entry in enumerate(self.entries)}
        self.lay_out_anew()

    def add(self, entry: Entry) -> None:
        """Add an entry at the bottom."""
        self._places[entry.key] = len(self.entries)
        self.entries.append(entry)
        self.heights.append(self._estimate(entry))

    def replace(self, entry: Entry) -> None:
        """Replace the entry that has the same key."""
        place = self._places[entry.key]
        self.entries[place] = entry
        self._layouts.pop(entry.key, None)
        self.heights.set(place, self._estimate(entry))

    def remove(self, key: str) -> None:
        """Remove an entry."""
        place = self._places.pop(key)
        del self.entries[place]
        for below in range(place, len(self.entries)):
            self._places[self.entries[below].key] = below
        self._layouts.pop(key, None)
        heights = [self.heights[other] for other in range(len(self.heights)) if other != place]
        self.heights.replace(heights)

    def lay_out_anew(self) -> None:
        """Drop all layouts and estimate all heights: width, looks or details changed."""
        self._layouts.clear()
        self.heights.replace(map(self._estimate, self.entries))

    def layout(self, place: int) -> EntryLayout:
        """Return the layout of an entry that is looked at, and keep it for a while."""
        entry = self.entries[place]
        layout = self._layouts.get(entry.key)
        if layout is None:
            layout = self._layouts[entry.key] = self._lay_out(entry)
            # Every use moves a layout to the end, so the first one was used longest ago.
            if len(self._layouts) > KEPT_LAYOUTS:
                self._layouts.popitem(last=False)
        else:
            self._layouts.move_to_end(entry.key)
        return layout

    def known_layout(self, place: int) -> EntryLayout | None:
        """Return the layout of an entry if it is kept."""
        return self._layouts.get(self.entries[place].key)

    def passing_layout(self, place: int) -> EntryLayout:
        """Return the layout of an entry without keeping it: for many that are not in view."""
        return self.known_layout(place) or self._lay_out(self.entries[place])

    def measure(self, place: int) -> int:
        """Set the height of an entry to that of its layout; returns how much it grew."""
        return self.heights.set(place, self.layout(place).height)

    def remeasure(self, place: int) -> None:
        """Take the height of a changed entry from its layout, or estimate it if it has none."""
        layout = self.known_layout(place)
        height = layout.height if layout else self._estimate(self.entries[place])
        self.heights.set(place, height)

    def _lay_out(self, entry: Entry) -> EntryLayout:
        return EntryLayout(entry, self.looks, self.width, self.with_details)

    def _estimate(self, entry: Entry) -> int:
        height = entry.estimated_height(self.width - MARGIN, self.with_details)
        return height + self.looks.gap
