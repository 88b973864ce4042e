"""Joins what was found by words with what was found by meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ollm_tui.core.search import Why
from ollm_tui.services.search.word_ranking import RankedMessage

COVERED = 0.5
"""The share of the telling words that a message must have to stand among those that mean the same.
Without it, messages that share one word with a question push out those that answer it."""
WORDS_SHARE = 0.3
"""What having all words counts, where the same meaning counts 1."""


class JoinedHit(NamedTuple):
    """A message that was found without having all words as they are."""

    number: int
    why: Why
    closeness: float
    covered: float


def joined(ranked: Sequence[RankedMessage], near: Mapping[int, float]) -> list[JoinedHit]:
    """Return all messages, the best first; `near` are those that mean nearly the same."""
    if not near:
        return [JoinedHit(each.number, "words", 0.0, each.covered) for each in ranked]
    farthest = min(near.values())
    scores: dict[int, float] = dict(near)
    words = {each.number: each for each in ranked}
    for each in ranked:
        if each.covered >= COVERED:
            known = near.get(each.number, farthest)
            scores[each.number] = known + WORDS_SHARE * each.covered
    places = {each.number: place for place, each in enumerate(ranked)}
    last = len(places)
    order = sorted(scores, key=lambda number: (-scores[number], places.get(number, last), -number))
    order += [each.number for each in ranked if each.number not in scores]
    return [_hit(number, words.get(number), near.get(number, 0.0)) for number in order]


def _hit(number: int, words: RankedMessage | None, closeness: float) -> JoinedHit:
    covered = words.covered if words else 0.0
    by_words = words is not None and (covered >= COVERED or not closeness)
    why: Why = "both" if by_words and closeness else "words" if by_words else "meaning"
    return JoinedHit(number, why, closeness, covered)
