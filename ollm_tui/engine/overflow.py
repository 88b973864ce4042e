"""What to do about a prompt that is too long, after compressing was not enough."""

from __future__ import annotations

from typing import Literal

from ollm_tui.core.events import OverflowChoice
from ollm_tui.core.message import Attachment, Message
from ollm_tui.engine.session_context import SessionContext

OverflowPolicy = Literal["fail", "compress"]
"""Whether the context is compressed when a prompt does not fit."""


def choices(context: SessionContext, question: Message, tokens: int) -> tuple[OverflowChoice, ...]:
    """What the user can do about a prompt of so many tokens, the least loss first."""
    window, largest = context.choice.window, context.choice.largest_window
    found: list[OverflowChoice] = []
    if window and largest and largest > max(window, tokens):
        found.append("larger-window")
    if len(context.assembly.messages) > 1:
        found.append("fold-or-exclude")
    if any(isinstance(part, Attachment) for part in question.parts):
        found.append("remove-attachment")
    return (*found, "new-session")
