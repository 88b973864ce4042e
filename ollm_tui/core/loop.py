"""A model that repeats itself: what was found, and what the user can say to it."""

from __future__ import annotations

from typing import Literal

from ollm_tui.core.session.message import Value

LoopType = Literal["repeated-tool", "repeated-output", "repeated-cycle", "chanting", "turn-limit"]

LoopAnswer = Literal["stop", "once", "allow", "tell", "back"]
"""End the turn, go on once, allow this for the session, go on and tell the model, or go back
to the snapshot before it."""


class LoopFound(Value, frozen=True):
    """Repetition without anything new. The turn is paused until the user answers."""

    type: LoopType
    evidence: str
    """What the model did, in words that go on after "The model"; one line, fit to be shown."""
    count: int
    """How often: calls, replies, times round, repetitions in a reply, or rounds."""
    pattern: str
    """Names what repeats; allowing it allows this and nothing else."""
    tool: str | None = None
    """The tool, where it is only one; allowing it allows whatever is done with it."""
    nudge: bool = False
    """The model may be told once by itself before the user is asked."""


class LoopRecord(Value, frozen=True, omit_defaults=True):
    """A loop that was found in a session, and what was done about it."""

    at: str
    type: LoopType
    evidence: str
    count: int
    answer: str
    """What the user said to it; `nudge` where the model was told by itself."""
