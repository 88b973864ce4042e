"""Joins what was found by words with what was found by meaning."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from ollm_tui.core.search import Why
from ollm_tui.services.search.word_ranking import RankedMessage

COVERED = 0.5
"""The share of the telling words that a message must have to stand among those that mean the same.
Without it, messages that share one word with a question push out those that answer it."""
WORDS_SHARE = 0.3
"""What having all words counts among these, where the same meaning counts 1."""
BY_MEANING = 2
"""After each message that has the words come so many of the nearest in meaning: a question may
have its words in many messages, and its answer in other words."""
LEAST_SHARE = 0.5
"""What is less than half as near as the nearest, and lacks the words, is left out: of 156 answers
found in three sets of questions, none was so far away."""


class JoinedHit(NamedTuple):
    """A message that was found without having all words as they are."""

    number: int
    why: Why
    closeness: float
    covered: float


def joined(ranked: Sequence[RankedMessage], near: Mapping[int, float]) -> list[JoinedHit]:
    """Return all messages, the best first; `near` are those that mean nearly the same, the
    nearest first, and how near they are."""
    if not near:
        return [JoinedHit(each.number, "words", 0.0, each.covered) for each in ranked]
    farthest = min(near.values())
    words = {each.number: each for each in ranked}
    scores = {
        number: near.get(number, farthest) + WORDS_SHARE * each.covered
        for number, each in words.items()
        if each.covered >= COVERED
    }
    # Sorting keeps the order of the ranking where two are equal.
    by_words = iter(sorted(scores, key=lambda number: -scores[number]))
    least = LEAST_SHARE * max(near.values())
    near_enough = [number for number, closeness in near.items() if closeness >= least]
    by_meaning = iter(near_enough)
    order: dict[int, None] = {}
    count = len(scores.keys() | near_enough)
    while len(order) < count:
        order |= dict.fromkeys(islice(_new(by_words, order), 1))
        order |= dict.fromkeys(islice(_new(by_meaning, order), BY_MEANING))
    order |= dict.fromkeys(words)
    return [_hit(number, words.get(number), near.get(number, 0.0)) for number in order]


def _new(numbers: Iterator[int], known: Collection[int]) -> Iterator[int]:
    return (number for number in numbers if number not in known)


def _hit(number: int, words: RankedMessage | None, closeness: float) -> JoinedHit:
    covered = words.covered if words else 0.0
    by_words = words is not None and (covered >= COVERED or not closeness)
    why: Why = "both" if by_words and closeness else "words" if by_words else "meaning"
    return JoinedHit(number, why, closeness, covered)
