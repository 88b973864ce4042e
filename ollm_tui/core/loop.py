"""Loops of the model: what was found, what the user can answer, and what is recorded of it."""

from __future__ import annotations

from typing import Literal

from ollm_tui.core.session.message import Value

LoopType = Literal["repeated-tool", "repeated-output", "repeated-cycle", "chanting", "turn-limit"]

LoopAnswer = Literal["stop", "once", "allow", "tell", "back"]
"""End the turn, go on once, allow this for the session, go on and tell the model, or go back
to the snapshot before the loop."""


class LoopFound(Value, frozen=True):
    """Repetition without anything new. The turn is paused until the user answers."""

    type: LoopType
    evidence: str
    """What the model did, as a line to be shown that continues "The model"."""
    count: int
    """The number of calls, replies, cycles, repetitions within a reply, or rounds, by type."""
    pattern: str
    """Identifies what repeats; allowing it allows this and nothing else."""
    tool: str | None = None
    """The tool, where it is only one; allowing it allows every call of it."""
    nudge: bool = False
    """Whether the model may be told once before the user is asked."""


class LoopRecord(Value, frozen=True, omit_defaults=True):
    """A loop that was found in a session, and what was done about it."""

    at: str
    type: LoopType
    evidence: str
    count: int
    answer: str
    """The answer of the user, or `nudge` where the model was told without asking."""
