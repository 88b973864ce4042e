"""A session as it was when an earlier message was the last one, as far as it is recorded."""

from __future__ import annotations

from msgspec.structs import replace

from ollm_tui.core.session.compression import CompressedContext
from ollm_tui.core.session.session import Metadata
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.session.timeline import tokens_at
from ollm_tui.core.snapshot import shortened_at, with_shortened

_NEVER = "9999"
"""Sorts after every time."""


def metadata_then(state: SessionState, message_id: str, at: str) -> Metadata:
    """Return the metadata of a session that is set back to an earlier message at a moment.

    The messages sent in another form are those of that time; everything else stays.
    """
    metadata = state.header.metadata
    if message_id == state.header.head:
        return metadata
    then = shortened_at(metadata.compression_history, _left_at(state, message_id))
    changed = with_shortened(metadata, then, at)
    tokens = _tokens_then(state, message_id, then.compressed)
    return replace(changed, token_count=tokens, token_parts={}, tokens_estimated=True)


def state_then(state: SessionState, message_id: str, at: str) -> SessionState:
    """Return a copy of a session that is set back to an earlier message."""
    metadata = metadata_then(state, message_id, at)
    return SessionState(replace(state.session(), head=message_id, metadata=metadata))


def _left_at(state: SessionState, message_id: str) -> str:
    """Return when a message stopped being the last one, by another message or a restore."""
    begun = state[message_id].timestamp
    later = iter(state.messages())
    for message in later:
        if message.id == message_id:
            break
    said = next((each.timestamp for each in later if each.timestamp > begun), _NEVER)
    moved = (each.at for each in state.header.metadata.restores if each.at > begun)
    return min(said, next(moved, _NEVER))


def _tokens_then(state: SessionState, message_id: str, compressed: CompressedContext) -> int:
    """Return about how many tokens the context had."""
    # A compression after the message made the context smaller than was measured with it.
    for entry in reversed(state.header.metadata.compression_history):
        if entry.last == message_id and entry.after == compressed:
            return entry.after_tokens
    return tokens_at(state, message_id)
