"""Finding a path by some of its letters, in order: `fdw` finds file_discovery/watcher.py.

Letters in a row, at starts of words and in the file's name count more; short paths come first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, islice
from typing import NamedTuple

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


CANDIDATES = 300
"""Paths that are compared closely. Of more that fit, those most alike at first sight are taken."""


class Match(NamedTuple):
    """A path that fits, how well, and which of its characters were meant."""

    path: str
    score: int
    positions: tuple[int, ...]


class _Stage(NamedTuple):
    """After some letters of a query: which paths have them, and where the last one stands."""

    numbers: Sequence[int]
    texts: Sequence[str]
    ends: Sequence[int]


def rank(query: str, paths: Iterable[str], limit: int) -> list[Match]:
    """The best matches of one query, the best first."""
    return PathIndex(paths).rank(query, limit)


class PathIndex:
    """Many paths, made ready to be asked for letter by letter. For one thread at a time.

    What was found for the first letters is remembered while the query gets longer or shorter.
    No step holds the interpreter for long, so that other threads go on meanwhile.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = _short_first(paths)
        self._lower = [lower_case(path) for path in self._paths]
        names = [path[path.rfind("/", 0, -1) + 1 :] for path in self._paths]
        self._names = [lower_case(name) for name in names]
        self._initials = [initials(name) for name in names]
        self._query = ""
        count = len(self._paths)
        self._stages = [_Stage(range(count), self._lower, [-1] * count)]

    def rank(self, query: str, limit: int) -> list[Match]:
        """The best matches, the best first; of equal ones the shorter, then by alphabet."""
        if not query:
            return [Match(path, 0, ()) for path in self._paths[:limit]]
        wanted = lower_case(query)
        fitting = self._fitting(wanted)
        matches: list[Match] = []
        for number in self._most_alike(fitting, wanted):
            path = self._paths[number]
            matches.append(Match(path, *best_fit(path, self._lower[number], query)))
        matches.sort(key=lambda match: (-match.score, len(match.path), match.path))
        return matches[:limit]

    def _fitting(self, wanted: str) -> Sequence[int]:
        """The numbers of the paths that have all letters in this order."""
        pairs = enumerate(zip(wanted, self._query, strict=False))
        shorter = min(len(wanted), len(self._query))
        common = next((at for at, (new, old) in pairs if new != old), shorter)
        del self._stages[common + 1 :]
        for letter in wanted[common:]:
            self._stages.append(_narrowed(self._stages[-1], letter))
        self._query = wanted
        return self._stages[-1].numbers

    def _most_alike(self, fitting: Sequence[int], wanted: str) -> Iterable[int]:
        """Those to be compared closely: what is in a row and in the file's name comes first."""
        if len(fitting) <= CANDIDATES:
            return fitting
        names, letters, lower = self._names, self._initials, self._lower
        found: dict[int, None] = {}
        for some in (
            (number for number in fitting if names[number].startswith(wanted)),
            (number for number in fitting if wanted in letters[number]),
            (number for number in fitting if wanted in names[number]),
            (number for number in fitting if wanted in lower[number]),
            iter(fitting),
        ):
            for number in islice(some, CANDIDATES - len(found)):
                found[number] = None
        return found


def _narrowed(stage: _Stage, letter: str) -> _Stage:
    """What is left with one letter more."""
    numbers, texts, before = stage
    ends = [text.find(letter, end + 1) for text, end in zip(texts, before, strict=True)]
    if -1 not in ends:
        return _Stage(numbers, texts, ends)
    fits = [end >= 0 for end in ends]
    return _Stage(
        list(compress(numbers, fits)), list(compress(texts, fits)), list(compress(ends, fits))
    )


def _short_first(paths: Iterable[str]) -> list[str]:
    """By length, then by alphabet; in small sorts, as a large one would stop other threads."""
    by_length: dict[int, list[str]] = {}
    for path in paths:
        by_length.setdefault(len(path), []).append(path)
    return [path for length in sorted(by_length) for path in sorted(by_length[length])]
