"""What to do about a prompt that is too long: the choices there are, and folding unasked."""

from __future__ import annotations

from typing import Literal

from ollm_tui.core.context_marks import ContextChange
from ollm_tui.core.events import OverflowChoice
from ollm_tui.core.message import Attachment, Message
from ollm_tui.engine.context_view import cost_of
from ollm_tui.engine.session_context import SessionContext

OverflowPolicy = Literal["fail", "compress"]
"""Headless front ends decide beforehand. `compress` folds old replies and tool output."""


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


def fold_to_fit(context: SessionContext, excess: int) -> ContextChange | None:
    """Fold the oldest replies and tool outputs until so many tokens are saved.

    None if that is not to be had: then nothing is folded in vain. Pinned messages and the
    user's own stay as they are.
    """
    keys: list[str] = []
    marks, counter = context.assembly.marks, context.counter
    for message in context.assembly.messages:
        if excess <= 0:
            break
        if message.role not in ("assistant", "tool") or marks.mark(message.id):
            continue
        whole = cost_of(counter, message)
        saved = whole - cost_of(counter, message, whole)
        if saved > 0:
            keys.append(message.id)
            excess -= saved
    return ContextChange("fold", tuple(keys)) if keys and excess <= 0 else None
