"""How well a path fits what was typed, and which of its letters were probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

LETTER = 16
WORD_START = 8
NAME_START = 10
IN_NAME = 4
IN_A_ROW = 4
SAME_CASE = 1
GAP = 3
LONGEST_GAP = 12
"""Points for every letter that fits, more for where it stands, less for what is left out before."""

_WORD_STARTS = re.compile(r"(?<![^\W_])[^\W_]|(?<=[^\W\d_])\d|(?<=[a-z0-9])[A-Z]")


def lower_case(text: str) -> str:
    """In lower case, every character in its place."""
    found = text.lower()
    if len(found) == len(text):
        return found
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def initials(name: str) -> str:
    """The first letters of the words in a name: of file_discovery.py `fdp`."""
    return lower_case("".join(_WORD_STARTS.findall(name)))


def best_fit(path: str, lower: str, query: str) -> tuple[int, tuple[int, ...]]:
    """The best score and its positions. The query's letters must be in the path, in order."""
    wanted = lower_case(query)
    name_start = path.rfind("/", 0, -1) + 1
    starts = [found.start() for found in _WORD_STARTS.finditer(path)]
    score = _Score(path, query, frozenset(starts), name_start)
    ways = set(_ways(lower, wanted, starts, name_start))
    return max((score.of(positions), positions) for positions in ways)


class _Score:
    def __init__(self, path: str, query: str, starts: frozenset[int], name_start: int) -> None:
        self._path = path
        self._query = query
        self._starts = starts
        self._name_start = name_start

    def of(self, positions: Sequence[int]) -> int:
        total = bonus = 0
        before = -2
        for letter, at in zip(self._query, positions, strict=True):
            here = self._place(at)
            if at == before + 1:
                bonus = max(bonus, here, IN_A_ROW)  # a row is worth what its beginning is
            else:
                bonus = here
                if before < 0:
                    total += here
                else:
                    total -= min(GAP + at - before - 2, LONGEST_GAP)
            total += LETTER + bonus
            total += IN_NAME * (at >= self._name_start) + SAME_CASE * (self._path[at] == letter)
            before = at
        return total

    def _place(self, at: int) -> int:
        if at == self._name_start:
            return NAME_START
        return WORD_START if at in self._starts else 0


def _ways(
    lower: str, wanted: str, starts: Sequence[int], name_start: int
) -> Iterator[tuple[int, ...]]:
    """Some positions worth comparing; at least one."""
    yield _tight(lower, wanted)
    last = lower.rfind(wanted)
    for row in (last, *(at for at in starts if lower.startswith(wanted, at))):
        if row >= 0:
            yield tuple(range(row, row + len(wanted)))
    for begin in (0, name_start):
        if found := _by_words(lower, wanted, starts, begin):
            yield found
    if found := _forward(lower, wanted, name_start):
        yield found


def _forward(lower: str, wanted: str, begin: int) -> tuple[int, ...] | None:
    positions: list[int] = []
    for letter in wanted:
        begin = lower.find(letter, begin) + 1
        if not begin:
            return None
        positions.append(begin - 1)
    return tuple(positions)


def _tight(lower: str, wanted: str) -> tuple[int, ...]:
    """From the end backwards, then forward again from where that began."""
    end = len(lower)
    for letter in reversed(wanted):
        end = lower.rfind(letter, 0, end)
    return _forward(lower, wanted, end) or ()


def _by_words(lower: str, wanted: str, starts: Sequence[int], begin: int) -> tuple[int, ...] | None:
    """Letters in a row as long as they fit, else the next word that starts with the letter."""
    positions: list[int] = []
    at = begin
    for letter in wanted:
        if not (positions and lower.startswith(letter, at)):
            words = (start for start in starts if start >= at and lower[start] == letter)
            at = next(words, -1)
            if at < 0:
                return None
        positions.append(at)
        at += 1
    return tuple(positions)
