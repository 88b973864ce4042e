"""What is asked of a compression."""

from __future__ import annotations

from typing import NamedTuple

from ollm_tui.core.compression import Strategy, Trigger


class CompressionWanted(NamedTuple):
    """What is asked for."""

    strategy: Strategy
    trigger: Trigger = "manual"
    above: str | None = None
    """Fold what stands above this message, and nothing below."""
    instructions: str = ""
    """What the summary should take care of, in the user's words."""
    fold_own: bool = False
    """Whether the oldest of the user's own messages may be folded."""
