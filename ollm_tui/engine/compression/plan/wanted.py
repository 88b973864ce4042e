"""What is asked of a compression."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ollm_tui.core.session.compression import Strategy, Trigger

OwnMessages = Literal["keep", "fold-if-full", "fold"]
"""What may happen to the oldest of the user's own messages: nothing, to be folded where they
fill half of the room, or to be folded because the user wants that."""


class CompressionWanted(NamedTuple):
    """What is asked for."""

    strategy: Strategy
    trigger: Trigger = "manual"
    above: str | None = None
    """Fold what stands above this message, and nothing below."""
    instructions: str = ""
    """What the summary should take care of, in the user's words."""
    own: OwnMessages = "keep"
