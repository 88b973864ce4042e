"""How an open conversation stands, as others see it: one glyph and a word for each state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

State = Literal["quiet", "writing", "running", "waits", "queued", "failed", "done"]
"""What goes on in a conversation; `done` is an answer nobody has seen yet."""


AT_WORK: frozenset[State] = frozenset(["writing", "waits", "queued"])
"""The states of a conversation in which a model is at work, or waits for something."""


class Look(NamedTuple):
    """How a state is shown."""

    glyph: str
    ascii: str
    word: str
    colour: str


LOOKS: Mapping[State, Look] = {
    "quiet": Look("", "", "", ""),
    "writing": Look("✎", "~", "writing", "$primary"),
    "running": Look("!", "!", "running", "$primary"),
    "waits": Look("?", "?", "waiting", "$text-warning"),
    "queued": Look("⋯", ".", "queued", "$text-muted"),
    "failed": Look("✗", "x", "failed", "$text-error"),
    "done": Look("●", "*", "unread", "$text-success"),
}


class Standing(NamedTuple):
    """One of the open conversations."""

    session_id: str
    title: str
    number: int
    """Which of the open ones it is, from 1 on, in the order they were opened."""
    state: State
    is_shown: bool
