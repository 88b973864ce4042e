"""What to do about a prompt that is too long, after compressing was not enough."""

from __future__ import annotations

from typing import Literal

from ollm_tui.core.events import OverflowChoice
from ollm_tui.core.session.message import Attachment, Message
from ollm_tui.engine.context.budget import Room
from ollm_tui.engine.context.context_view import cost_of
from ollm_tui.engine.context.session_context import SessionContext

OverflowPolicy = Literal["fail", "compress"]
"""Whether the context is compressed when a prompt does not fit."""
EASY_SHARE = 0.75
"""Of the limit: a prompt that takes more would have the context compressed at once."""
OWN_SHARE = 0.25
"""Of the limit: so much of the user's own words stays when the oldest are folded."""


def choices(context: SessionContext, question: Message, tokens: int) -> tuple[OverflowChoice, ...]:
    """What the user can do about a prompt of so many tokens, the least loss first."""
    room = context.budget(context.count()).room
    found: list[OverflowChoice] = []
    if wider_window(room, context.choice.largest_window, tokens):
        found.append("larger-window")
    if room and _own_tokens(context, question) > room.limit * OWN_SHARE:
        found.append("fold-own")
    has_more = len(context.assembly.messages) > 1
    if has_more:
        found.append("fold-or-exclude")
    if any(isinstance(part, Attachment) for part in question.parts):
        found.append("remove-attachment")
    alone = cost_of(context.counter, question) + context.count().parts.system
    if has_more and (room is None or alone <= room.limit):
        found.append("new-session")
    return tuple(found)


def wider_window(room: Room | None, largest: int | None, tokens: int) -> int | None:
    """The next window, each twice as large, in which a prompt fits with room to go on; None
    where it fits into none."""
    if room is None or room.window <= 0 or largest is None:
        return None
    window = room.window
    while window < largest and _limit(room, window) * EASY_SHARE < tokens:
        window = min(window * 2, largest)
    return window if window > room.window and tokens <= _limit(room, window) else None


def _limit(room: Room, window: int) -> int:
    return window * room.limit // max(room.window, 1)


def _own_tokens(context: SessionContext, question: Message) -> int:
    """What the user's other messages take that may be folded."""
    assembly = context.assembly
    sent = {owner.key for owners in assembly.owners for owner in owners}
    return sum(
        cost_of(context.counter, message, assembly.marks.folded.get(message.id))
        for message in assembly.messages
        if message.role == "user"
        and message.id != question.id
        and message.id in sent
        and message.id not in assembly.marks.pinned
    )
