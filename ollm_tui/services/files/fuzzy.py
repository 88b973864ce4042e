"""Finding a path by some of its letters, in order: `fdw` finds file_discovery/watcher.py.

Letters in a row, at starts of words and in the file's name count more; short paths come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress, islice
from typing import NamedTuple

from ollm_tui.services.files.fuzzy_score import best_fit, initials, lower_case

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
