"""Where in a stream something is: a tool's answer with the message that asked for it, and what
no message speaks of after the one that was said before it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import takewhile

from ollm_tui.core.session.message import Message


def shown_at(message_id: str, branch: Sequence[str], keys: Container[str]) -> str | None:
    """The key of the entry that shows a message of a branch; None if none does."""
    if message_id in keys:
        return message_id
    if message_id not in branch:
        return None
    before = branch[: branch.index(message_id) + 1]
    return next((key for key in reversed(before) if key in keys), None)


def said_before(moment: str, branch: Iterable[Message]) -> str | None:
    """The message of a branch after which the stream shows what happened at a moment."""
    earlier = [message.id for message in takewhile(lambda each: each.timestamp <= moment, branch)]
    return earlier[-1] if earlier else None
