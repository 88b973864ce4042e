"""Votes: which of several answers to one question the user found the better one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from ollm_tui.core.session.message import Value


class Vote(Value, frozen=True):
    """The user's vote among the answers to one question."""

    at: str
    question: str
    """The message that was answered."""
    answer: str
    """The last message of the better answer."""
    model: str
    """The model that gave it."""
    others: tuple[str, ...]
    """The models of the answers it was compared with."""


class Wins(NamedTuple):
    """How often a model won, of how many votes."""

    won: int
    of: int


def wins_by_model(votes: Iterable[Vote]) -> dict[str, Wins]:
    """Count the votes by model; one that was compared with itself takes part once in a vote."""
    won, voted = Counter[str](), Counter[str]()
    for vote in votes:
        won[vote.model] += 1
        voted.update({vote.model, *vote.others})
    return {model: Wins(won[model], voted[model]) for model in voted}
