"""Finds paths by some of their letters in order: `fdw` finds file_discovery/watcher.py.

Letters in a row, at starts of words and in the file's name count more; of equal ones short paths
come first.
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
"""Points for every letter that fits, more by its position, less for letters skipped before it."""

_WORD_STARTS = re.compile(r"(?<![^\W_])[^\W_]|(?<=[^\W\d_])\d|(?<=[a-z0-9])[A-Z]")

CANDIDATES = 300
"""How many paths are scored; if more fit, those that are most alike at first sight are taken."""


class Match(NamedTuple):
    """A path that fits, its score, and the positions of the letters in it."""

    path: str
    score: int
    positions: tuple[int, ...]


class _Stage(NamedTuple):
    """The paths that have the first letters of a query, and where the last of these is."""

    numbers: Sequence[int]
    texts: Sequence[str]
    ends: Sequence[int]


def rank(query: str, paths: Iterable[str], limit: int) -> list[Match]:
    """Return the best matches of one query, the best first."""
    return PathIndex(paths).rank(query, limit)


class PathIndex:
    """Ranks many paths while a query is typed letter by letter; for one thread at a time.

    The paths that fit the first letters are cached while the query gets longer or shorter. No
    single step holds the interpreter for long, so that other threads can go on.
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
        """Return the best matches, the best first; equal ones by length, then by alphabet."""
        if not query:
            return [Match(path, 0, ()) for path in self._paths[:limit]]
        letters = lower_case(query)
        fitting = self._fitting(letters)
        matches: list[Match] = []
        for number in self._most_alike(fitting, letters):
            path = self._paths[number]
            matches.append(Match(path, *best_fit(path, self._lower[number], query)))
        matches.sort(key=lambda match: (-match.score, len(match.path), match.path))
        return matches[:limit]

    def _fitting(self, letters: str) -> Sequence[int]:
        """Return the numbers of the paths that have all letters in this order."""
        pairs = enumerate(zip(letters, self._query, strict=False))
        shorter = min(len(letters), len(self._query))
        common = next((at for at, (new, old) in pairs if new != old), shorter)
        del self._stages[common + 1 :]
        for letter in letters[common:]:
            self._stages.append(_narrowed(self._stages[-1], letter))
        self._query = letters
        return self._stages[-1].numbers

    def _most_alike(self, fitting: Sequence[int], letters: str) -> Iterable[int]:
        """Return the paths to score: letters in a row and in the file's name come first."""
        if len(fitting) <= CANDIDATES:
            return fitting
        names, firsts, lower = self._names, self._initials, self._lower
        found: dict[int, None] = {}
        for some in (
            (number for number in fitting if names[number].startswith(letters)),
            (number for number in fitting if letters in firsts[number]),
            (number for number in fitting if letters in names[number]),
            (number for number in fitting if letters in lower[number]),
            iter(fitting),
        ):
            for number in islice(some, CANDIDATES - len(found)):
                found[number] = None
        return found


def _narrowed(stage: _Stage, letter: str) -> _Stage:
    """Return the paths that are left with one more letter."""
    numbers, texts, before = stage
    ends = [text.find(letter, end + 1) for text, end in zip(texts, before, strict=True)]
    if -1 not in ends:
        return _Stage(numbers, texts, ends)
    fits = [end >= 0 for end in ends]
    return _Stage(
        list(compress(numbers, fits)), list(compress(texts, fits)), list(compress(ends, fits))
    )


def _short_first(paths: Iterable[str]) -> list[str]:
    """Sort by length, then by alphabet."""
    # In many small sorts: a single large one would stop other threads.
    by_length: dict[int, list[str]] = {}
    for path in paths:
        by_length.setdefault(len(path), []).append(path)
    return [path for length in sorted(by_length) for path in sorted(by_length[length])]


def lower_case(text: str) -> str:
    """Return a text in lower case, every character at its index."""
    found = text.lower()
    if len(found) == len(text):
        return found
    # A few characters, such as "İ", become two in lower case: these stay as they are.
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def initials(name: str) -> str:
    """Return the first letters of the words in a name: `fdp` for file_discovery.py."""
    return lower_case("".join(_WORD_STARTS.findall(name)))


def best_fit(path: str, lower: str, query: str) -> tuple[int, tuple[int, ...]]:
    """Return the best score and its positions.

    The letters of the query must be in the path, in order; `lower` is the path in lower case.
    """
    letters = lower_case(query)
    name_start = path.rfind("/", 0, -1) + 1
    starts = [found.start() for found in _WORD_STARTS.finditer(path)]
    score = _Score(path, query, frozenset(starts), name_start)
    ways = set(_ways(lower, letters, starts, name_start))
    return max((score.of(positions), positions) for positions in ways)


class _Score:
    """Scores the positions of a query's letters in one path."""

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
                bonus = max(
                    bonus, here, IN_A_ROW
                )  # a letter in a row counts like the first one of the row
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
    lower: str, letters: str, starts: Sequence[int], name_start: int
) -> Iterator[tuple[int, ...]]:
    """Yield positions of the letters that are worth scoring, at least one."""
    # All positions there are would be far too many.
    yield _tight(lower, letters)
    last = lower.rfind(letters)
    for row in (last, *(at for at in starts if lower.startswith(letters, at))):
        if row >= 0:
            yield tuple(range(row, row + len(letters)))
    for begin in (0, name_start):
        if found := _by_words(lower, letters, starts, begin):
            yield found
    if found := _forward(lower, letters, name_start):
        yield found


def _forward(lower: str, letters: str, begin: int) -> tuple[int, ...] | None:
    """Return the first positions of the letters from `begin` on; None if there are none."""
    positions: list[int] = []
    for letter in letters:
        begin = lower.find(letter, begin) + 1
        if not begin:
            return None
        positions.append(begin - 1)
    return tuple(positions)


def _tight(lower: str, letters: str) -> tuple[int, ...]:
    """Return positions near together: searched backwards from the end, then forward again."""
    end = len(lower)
    for letter in reversed(letters):
        end = lower.rfind(letter, 0, end)
    return _forward(lower, letters, end) or ()


def _by_words(
    lower: str, letters: str, starts: Sequence[int], begin: int
) -> tuple[int, ...] | None:
    """Return positions in a row as long as they fit, else at the next word with that letter."""
    positions: list[int] = []
    at = begin
    for letter in letters:
        if not (positions and lower.startswith(letter, at)):
            words = (start for start in starts if start >= at and lower[start] == letter)
            at = next(words, -1)
            if at < 0:
                return None
        positions.append(at)
        at += 1
    return tuple(positions)
