"""Find in the conversation: counts in the texts, lays out only the entry that is gone to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate, takewhile
from typing import NamedTuple

from ollm_tui.tui.stream.transcript.entry import Fold
from ollm_tui.tui.stream.transcript.entry_layout import EntryLayout
from ollm_tui.tui.stream.transcript.spots import Spot, Words, lines_at
from ollm_tui.tui.stream.transcript.viewport import Viewport


class Found(NamedTuple):
    """A passage of an entry with hits in it."""

    key: str
    part: int
    hits: int


class Finder:
    """What is searched for in the entries of a view, and which of the hits one is at."""

    def __init__(self, view: Viewport) -> None:
        self._view = view
        self._words: Words | None = None
        self._found: list[Found] = []
        self._ends: list[int] = []
        """How many hits there are up to the end of each passage with hits."""
        self._number: int | None = None
        self._origin: tuple[str, int] | None = None
        """The entry and line of the hit one was at when the words changed."""
        self._spot: tuple[EntryLayout, Spot] | None = None

    @property
    def position(self) -> tuple[int, int]:
        """Which hit one is at, from 1 on, 0 for none yet; and how many there are."""
        return 0 if self._number is None else self._number + 1, self._total

    @property
    def key(self) -> str | None:
        """The entry with the hit one is at."""
        return None if self._number is None else self._current(self._number)[0].key

    def search(self, words: str) -> int:
        """Mark all hits and say how many there are; does not move."""
        return self.look_for(Words(words) if words.strip() else None)

    def look_for(self, words: Words | None) -> int:
        """The same for words of any kind."""
        self._keep_origin()
        self._words = words
        self._number = self._spot = None
        self._found = list(self._search(self._words)) if self._words else []
        self._ends = list(accumulate(found.hits for found in self._found))
        self._view.refresh()
        return self._total

    def search_again(self) -> None:
        """The entries changed."""
        if self._words:
            self.look_for(self._words)

    def clear(self) -> None:
        """Search for nothing."""
        self.search("")
        self._origin = None

    def go(self, step: int) -> None:
        """Go to the next hit or the previous one, from where the view is; round at the end."""
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

    def spans(self, layout: EntryLayout, line: int) -> list[tuple[int, int, bool]]:
        """The hits on a line of an entry: from, to, and whether it is the current one."""
        part, inner = layout.part_at(line)
        if self._words is None or part == len(layout.parts) or layout.fold_at(line):
            return []
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

    def _search(self, words: Words) -> Iterator[Found]:
        for entry in self._view.stack.entries:
            for part, passage in enumerate(entry.passages if entry.folds else (entry,)):
                if count := words.count(passage.text):
                    yield Found(entry.key, part, count)

    def _current(self, number: int) -> tuple[Found, int]:
        """The passage a hit is in, and which of the hits there it is."""
        at = bisect_right(self._ends, number)
        found = self._found[at]
        return found, number - self._ends[at] + found.hits

    def _located(self, words: Words, layout: EntryLayout) -> Spot:
        """Where the current hit is in the layout of its entry."""
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
        """The first hit at or below the top of the view, or the last at or above its bottom."""
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


def _hits_above(words: Words, layout: EntryLayout, found: Found, line: int) -> int:
    """How many hits of a passage are above a line of its entry."""
    lines, top = layout.parts[found.part], layout.top(found.part)
    offsets = words.offsets(layout.entry.passages[found.part].text)[: found.hits]
    return bisect_left(offsets, line, key=lambda at: top + lines_at(lines, at).start)
