"""Search within the conversation: hits are counted in the texts, and only the entry with the
current hit is laid out."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate, takewhile
from typing import NamedTuple

from ollm_tui.tui.stream.transcript.entry import Entry, Fold
from ollm_tui.tui.stream.transcript.entry_layout import EntryLayout
from ollm_tui.tui.stream.transcript.spots import Spot, Words, lines_at
from ollm_tui.tui.stream.transcript.viewport import Viewport

ENTRIES_AT_A_TIME = 500
"""Entries that are searched before keys are handled."""


class Found(NamedTuple):
    """A passage of an entry that has hits."""

    key: str
    part: int
    hits: int


class Finder:
    """Searches the entries of a view and keeps the current hit."""

    def __init__(self, view: Viewport) -> None:
        self._view = view
        self._words: Words | None = None
        self._found: list[Found] = []
        self._ends: list[int] = []
        """How many hits there are up to the end of each passage with hits."""
        self._changes = 0
        """How often the entries changed."""
        self._number: int | None = None
        self._origin: tuple[str, int] | None = None
        """The entry and line of the current hit when the words changed; search goes on there."""
        self._spot: tuple[EntryLayout, Spot] | None = None
        """Where the current hit is; good as long as its entry has the same layout."""

    @property
    def position(self) -> tuple[int, int]:
        """The number of the current hit, from 1 on, 0 for none yet; and how many there are."""
        return 0 if self._number is None else self._number + 1, self._total

    @property
    def key(self) -> str | None:
        """The key of the entry with the current hit; None if there is none."""
        return None if self._number is None else self._current(self._number)[0].key

    def search(self, words: str) -> int:
        """Mark all hits of some words and return how many there are; the view does not move."""
        for _ in self.searching(words):
            pass
        return self._total

    def searching(self, words: str) -> Iterator[None]:
        """Do the same with a pause after every few entries."""
        return self.looking_for(Words(words) if words.strip() else None)

    def look_for(self, words: Words | None) -> int:
        """Mark all hits of a search and return how many there are; None searches for nothing."""
        for _ in self.looking_for(words):
            pass
        return self._total

    def looking_for(self, words: Words | None) -> Iterator[None]:
        """Do the same with a pause after every few entries; until the end the hits before stay."""
        stack, found, changes = self._view.stack, list[Found](), self._changes
        if words and self._words and words.narrows(self._words):
            # Another letter was typed: what had no hit has none now.
            keys = dict.fromkeys(each.key for each in self._found)
            entries = [stack.entries[stack.place(key)] for key in keys]
        else:
            entries = list(stack.entries) if words else []
        for start in range(0, len(entries), ENTRIES_AT_A_TIME):
            if start:
                yield
            if words:
                found += _search(words, entries[start : start + ENTRIES_AT_A_TIME])
        if changes != self._changes:  # in the pauses
            yield from self.looking_for(words)
            return
        self._keep_origin()
        self._words, self._found = words, found
        self._number = self._spot = None
        self._ends = list(accumulate(each.hits for each in found))
        self._view.refresh()

    def search_again(self) -> None:
        """Search for the same words after the entries changed."""
        self._changes += 1
        words, self._words = self._words, None  # what had no hit may have one now
        if words:
            self.look_for(words)

    def clear(self) -> None:
        """Forget the words and the hits."""
        self.search("")
        self._origin = None

    def go(self, step: int) -> None:
        """Go to the next hit or the previous one, at first from where the view is; wraps around."""
        if not self._words or not self._total:
            return
        number = self._nearest(self._words, step) if self._number is None else self._number + step
        self._number = number % self._total
        self._spot = None
        found = self._current(self._number)[0]
        place = self._view.stack.place(found.key)
        passage = self._view.stack.entries[place].passages[found.part]
        if isinstance(passage, Fold) and not passage.is_open:
            self._view.open_folds(found.key, [passage])
        layout = self._view.stack.layout(place)
        line = layout.top(found.part) + self._located(self._words, layout).line
        self._view.reveal_line(place, line)
        self._view.refresh()

    @property
    def is_marking(self) -> bool:
        """Whether hits are marked."""
        return self._words is not None

    def spans(self, layout: EntryLayout, line: int) -> list[tuple[int, int, bool]]:
        """Return the hits on a line of an entry: start, end, and whether it is the current one."""
        part, inner = layout.part_at(line)
        if self._words is None or part == len(layout.parts) or layout.fold_at(line):
            return []
        # A hit of several words may begin on a line above and end below.
        reach = self._words.reach - 1
        spots = self._words.spots(layout.parts[part], range(inner - reach, inner + reach + 1))
        spans = [(spot.on(inner), False) for spot in spots]
        if self._number is not None:
            current = self._current(self._number)[0]
            if current.key == layout.entry.key and current.part == part:
                spans.append((self._located(self._words, layout).on(inner), True))
        lead = layout.lead(line)
        return [
            (lead + span[0], -1 if span[1] < 0 else lead + span[1], is_current)
            for span, is_current in spans
            if span
        ]

    @property
    def _total(self) -> int:
        return self._ends[-1] if self._ends else 0

    def _current(self, number: int) -> tuple[Found, int]:
        """Return the passage a hit is in, and its number among the hits there."""
        at = bisect_right(self._ends, number)
        found = self._found[at]
        return found, number - self._ends[at] + found.hits

    def _located(self, words: Words, layout: EntryLayout) -> Spot:
        """Return where the current hit is in the layout of its entry."""
        if self._spot is None or self._spot[0] is not layout:
            found, number = self._current(self._number or 0)
            text = layout.entry.passages[found.part].text
            self._spot = layout, words.spot(text, number, layout.parts[found.part])
        return self._spot[1]

    def _keep_origin(self) -> None:
        if self._number is not None and self._spot:
            layout, spot = self._spot
            found = self._current(self._number)[0]
            self._origin = found.key, layout.top(found.part) + spot.line

    def _nearest(self, words: Words, step: int) -> int:
        """Return the first hit from the top of the view on, or the last one up to its bottom."""
        stack = self._view.stack
        if self._origin and self._origin[0] in stack:
            place, line = stack.place(self._origin[0]), self._origin[1]
        else:
            row = 0 if step > 0 else max(self._view.size.height - 1, 0)
            place, line = self._view.entry_at(row) or (len(stack) - 1, stack.heights.total)
        first = bisect_left(self._found, place, key=lambda found: stack.place(found.key))
        number = self._ends[first - 1] if first else 0
        key, layout = stack.entries[place].key, stack.layout(place)
        for found in takewhile(lambda found: found.key == key, self._found[first:]):
            number += _hits_above(words, layout, found, line + (step < 0))
        return number if step > 0 else number - 1


def _search(words: Words, entries: Iterable[Entry]) -> Iterator[Found]:
    for entry in entries:
        for part, passage in enumerate(entry.passages if entry.folds else (entry,)):
            if count := words.count(passage.text):
                yield Found(entry.key, part, count)


def _hits_above(words: Words, layout: EntryLayout, found: Found, line: int) -> int:
    """Return how many hits of a passage are above a line of its entry."""
    lines, top = layout.parts[found.part], layout.top(found.part)
    offsets = words.offsets(layout.entry.passages[found.part].text)[: found.hits]
    return bisect_left(offsets, line, key=lambda at: top + lines_at(lines, at).start)
