"""Repeated replies: almost the same one several times in a row, or a few in turn."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from ollm_tui.core.loop import LoopFound
from ollm_tui.engine.loops import evidence
from ollm_tui.engine.loops.canonical import text_digest
from ollm_tui.engine.loops.normalising import GONE, steady
from ollm_tui.engine.loops.periods import Periods, Step

MOST_LATEST = 64
"""Replies that are remembered: of twice the limit, those in between may be other words for it."""
ALIKE = 0.9
"""The similarity from which on two replies are the same."""

_COUNTED = re.compile(r"(?:attempt|try|retry|retrying|iteration|time)s?\W*", re.IGNORECASE)
"""A word whose number only says how often the same was tried."""
_NUMBER = re.compile(r"\W*\d+(?:st|nd|rd|th|/\d+)?\W*")
_NUMBERS_REPLY = re.compile(r"\W*(?:[^\W\d]+ )?#?\d+\W*[.:)]\W*")
"""The number of a reply at its beginning: Step 3: …"""
_NUMBERING = frozenset(("number", "no", "nr", "#"))
_TELLING = re.compile(r"\d|\w[./_:\\]\w")
"""Part of a number, file name or code: replies that differ in these say different things."""
_ORNAMENTS = "*_#.:!?-"


class Reply(NamedTuple):
    """A reply, normalised for comparison."""

    plain: str
    between: str
    """The middle of a long reply."""
    telling: tuple[str, ...]
    """Its numbers, file names and code, which have to be equal."""

    @classmethod
    def of(cls, text: str) -> Reply:
        """Normalise a reply."""
        words, _, between = steady(text)
        for at, word in enumerate(words):
            if word.isalpha() or not _NUMBER.fullmatch(word):
                continue
            if _NUMBERS_REPLY.fullmatch(" ".join(words[: at + 1][:3])) or (
                at and _counts(words[:at], words[at + 1 :])
            ):
                words[at] = GONE
        bare = [word.strip(_ORNAMENTS) or word for word in words]
        telling = (word for word in bare if not word.isalpha() and _TELLING.search(word))
        return cls(" ".join(bare).casefold(), between, tuple(telling))

    def is_like(self, other: Reply) -> bool:
        """Whether both replies say almost the same."""
        return (
            self.telling == other.telling
            and similarity(self.plain, other.plain) >= ALIKE
            and similarity(self.between, other.between) >= ALIKE
        )


class Replies:
    """Counts replies that are alike in a row, or equal in turn."""

    def __init__(self) -> None:
        self._last: Reply | None = None
        self._times = 0
        self._in_turn = Periods()
        self._latest: deque[str] = deque(maxlen=MOST_LATEST)

    def add(self, text: str, limit: int) -> LoopFound | None:
        """Add a reply; return a loop if it is one too many."""
        reply = Reply.of(text)
        alike = self._last is not None and reply.is_like(self._last)
        self._times = self._times + 1 if alike else 1
        self._last = reply
        digest = text_digest(reply.plain + reply.between)
        self._in_turn.add(Step(digest))
        self._latest.append(digest)
        if self._times >= limit:
            return _found(evidence.said_again(text, self._times), self._times)
        among = list(self._latest)[1 - 2 * limit :].count(digest)
        if among >= limit:
            return _found(evidence.said_again(text, among), among)
        if found := self._in_turn.repeated(limit):
            words = evidence.said_again(text, found.times, in_turn=len(found.steps))
            return _found(words, found.times)
        return None


def _found(words: str, times: int) -> LoopFound:
    return LoopFound(type="repeated-output", evidence=words, count=times, pattern="repeated-output")


def _counts(before: list[str], after: list[str]) -> bool:
    """Whether a number between these words counts tries, as in attempt number 3, 3rd attempt."""
    earlier = [word for word in before[-2:] if word.strip(_ORNAMENTS).casefold() not in _NUMBERING]
    return any(_COUNTED.fullmatch(word) for word in (*earlier[-1:], *after[:1]))


LONGEST_BY_CHARACTERS = 800
"""Characters up to which texts are compared by characters."""
MOST_WORDS = 1000
"""Words of a text that are compared; of a longer one, its beginning and end."""


def similarity(one: str, other: str) -> float:
    """Return how alike two texts are, from 0 to 1; the time it takes is bounded for any text.

    Short texts are compared by characters, long ones by words.
    """
    if one == other:
        return 1.0
    if max(len(one), len(other)) <= LONGEST_BY_CHARACTERS:
        return _share(one, other)
    return _share(_ends(one.split()), _ends(other.split()))


def _ends(words: list[str]) -> list[str]:
    half = MOST_WORDS // 2
    return words if len(words) <= MOST_WORDS else words[:half] + words[-half:]


def _share(one: Sequence[str], other: Sequence[str]) -> float:
    whole = len(one) + len(other)
    return 2 * _common(one, other) / whole if whole else 1.0


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    A row of the table is held as the bits of one number (Hyyrö 2004): a table of 800 by 800
    takes a third of a millisecond.
    """
    places: dict[str, int] = {}
    for place, item in enumerate(one):
        places[item] = places.get(item, 0) | 1 << place
    all_bits = (1 << len(one)) - 1
    row = all_bits
    for item in other:
        matches = row & places.get(item, 0)
        row = ((row + matches) | (row - matches)) & all_bits
    return len(one) - row.bit_count()
