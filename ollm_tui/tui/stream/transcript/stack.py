"""The entries of the stream on one another: which is where, how high each one is.

Heights are estimated until an entry is looked at; only some entries stay laid out.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from ollm_tui.tui.stream.transcript.entry import Entry
from ollm_tui.tui.stream.transcript.entry_layout import MARGIN, EntryLayout
from ollm_tui.tui.stream.transcript.heights import Heights
from ollm_tui.tui.stream.transcript.styles import TranscriptStyles

KEPT_LAYOUTS = 200
"""Entries that stay laid out: some screens above and below, not the whole session."""


class EntryStack:
    """Entries from the top. A place is the number of an entry, a line counts from its top."""

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
        """Where an entry is."""
        return self._places[key]

    def show(self, entries: Iterable[Entry]) -> None:
        """Begin anew with these. Of several with the same key only the last is taken."""
        self.entries = list({entry.key: entry for entry in entries}.values())
        self._places = {entry.key: place for place, entry in enumerate(self.entries)}
        self.lay_out_anew()

    def add(self, entry: Entry) -> None:
        """Put an entry at the bottom."""
        self._places[entry.key] = len(self.entries)
        self.entries.append(entry)
        self.heights.append(self._estimate(entry))

    def replace(self, entry: Entry) -> None:
        """Put an entry where the one with the same key is."""
        place = self._places[entry.key]
        self.entries[place] = entry
        self._layouts.pop(entry.key, None)
        self.heights.set(place, self._estimate(entry))

    def remove(self, key: str) -> None:
        """Take an entry away."""
        place = self._places.pop(key)
        del self.entries[place]
        for below in range(place, len(self.entries)):
            self._places[self.entries[below].key] = below
        self._layouts.pop(key, None)
        heights = [self.heights[other] for other in range(len(self.heights)) if other != place]
        self.heights.replace(heights)

    def lay_out_anew(self) -> None:
        """Something changed for all entries: the width, the looks, what is to be seen."""
        self._layouts.clear()
        self.heights.replace(map(self._estimate, self.entries))

    def layout(self, place: int) -> EntryLayout:
        """An entry laid out, to be looked at."""
        entry = self.entries[place]
        layout = self._layouts.get(entry.key)
        if layout is None:
            layout = self._layouts[entry.key] = self._lay_out(entry)
            if len(self._layouts) > KEPT_LAYOUTS:
                self._layouts.popitem(last=False)
        else:
            self._layouts.move_to_end(entry.key)
        return layout

    def known_layout(self, place: int) -> EntryLayout | None:
        """An entry's layout if it has one."""
        return self._layouts.get(self.entries[place].key)

    def passing_layout(self, place: int) -> EntryLayout:
        """An entry laid out for once: one of very many that nobody looks at."""
        return self.known_layout(place) or self._lay_out(self.entries[place])

    def measure(self, place: int) -> int:
        """Give an entry that is looked at its real height; says how much it grew."""
        return self.heights.set(place, self.layout(place).height)

    def remeasure(self, place: int) -> None:
        """An entry changed: take its height from its layout, or estimate it without one."""
        layout = self.known_layout(place)
        height = layout.height if layout else self._estimate(self.entries[place])
        self.heights.set(place, height)

    def _lay_out(self, entry: Entry) -> EntryLayout:
        return EntryLayout(entry, self.looks, self.width, self.with_details)

    def _estimate(self, entry: Entry) -> int:
        height = entry.estimated_height(self.width - MARGIN, self.with_details)
        return height + self.looks.gap
