"""Ranks lines by how well they fit what was typed, and says which letters of a line fit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple

LEAST_LETTERS = 2
"""With fewer, nearly every line would fit in one of the weaker ways."""
Span = tuple[int, int]


class Way(IntEnum):
    """How a line fits what was typed, the best first."""

    BEGINS = 0
    """Its title begins with it."""
    WORDS = 1
    """It stands in its title, as whole words."""
    BEGINNINGS = 2
    """Words of its title begin with it."""
    CONTAINS = 3
    """Its title contains it."""
    LETTERS = 4
    """Its title has the letters in this order."""
    HIDDEN = 5
    """Some words are only in text that is searched, too."""


class Fit(NamedTuple):
    """How well a line fits; the smallest is the best."""

    way: Way
    spread: int = 0
    """How much else is in the title, or between its letters where only these fit."""


class Query:
    """What was typed to find a line."""

    def __init__(self, typed: str) -> None:
        self.words: Sequence[str] = typed.casefold().split()
        self._whole = " ".join(self.words)

    def fit(self, title: str, hidden: str = "") -> Fit | None:
        """Return how well a line fits; None if it does not."""
        title = title.casefold()
        if not self.words or title.startswith(self._whole):
            return Fit(Way.BEGINS)
        if all(word in title for word in self.words):
            return Fit(self._place_in(title), len(title))
        if len(self._whole) < LEAST_LETTERS:
            return None
        if letters := _in_order(self._whole.replace(" ", ""), title):
            return Fit(Way.LETTERS, letters[-1] - letters[0] + 1 - len(letters))
        text = f"{title}\n{hidden.casefold()}"
        return Fit(Way.HIDDEN) if all(word in text for word in self.words) else None

    def _place_in(self, title: str) -> Way:
        """Return how the words stand in a title that contains them all."""
        words = [re.escape(word) for word in self.words]
        if all(re.search(rf"\b{word}\b", title) for word in words):
            return Way.WORDS
        if all(re.search(rf"\b{word}", title) for word in words):
            return Way.BEGINNINGS
        return Way.CONTAINS

    def spans(self, title: str) -> list[Span]:
        """Return the parts of a title that fit, from left to right."""
        text = title.casefold()
        if not self.words or len(text) != len(title):  # letters such as İ become two
            return []
        found = {at for word in self.words for at in _places(word, text)}
        if not found:
            found = set(_in_order(self._whole.replace(" ", ""), text))
        return _joined(sorted(found))


def ranked(query: Query, lines: Iterable[tuple[str, str]]) -> list[int]:
    """Return the positions of the lines (title, hidden text) that fit, the best first."""
    fits = [(fit, at) for at, line in enumerate(lines) if (fit := query.fit(*line))]
    return [at for _, at in sorted(fits)]


def _places(word: str, text: str) -> Iterable[int]:
    at = text.find(word)
    while at != -1:
        yield from range(at, at + len(word))
        at = text.find(word, at + len(word))


def _in_order(letters: str, text: str) -> list[int]:
    """Return where the letters are, one after the other, the first at the beginning of a word.

    Of several ways, the one with the fewest letters in between; empty if there is none.
    """
    best: list[int] = []
    for begin in (match.start() for match in re.finditer(rf"\b{re.escape(letters[0])}", text)):
        at, places = begin, [begin]
        for letter in letters[1:]:
            at = text.find(letter, at + 1)
            if at == -1:
                return best
            places.append(at)
        if not best or places[-1] - begin < best[-1] - best[0]:
            best = places
    return best


def _joined(places: Sequence[int]) -> list[Span]:
    spans: list[Span] = []
    for at in places:
        if spans and spans[-1][1] == at:
            spans[-1] = (spans[-1][0], at + 1)
        else:
            spans.append((at, at + 1))
    return spans
