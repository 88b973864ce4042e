"""The timeline of a session: how full the context was at each message, and what happened to it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

from ollm_tui.core.session.message import Message, sent_length
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import SnapshotSummary

MarkKind = Literal["named", "automatic", "compression", "restore", "model", "loop"]
"""What happened. `named` are all snapshots that stay until the user deletes them."""

_CHARACTERS_PER_TOKEN = 4
"""A rough estimate, for messages that no model measured."""


class TimelineMark(NamedTuple):
    """Something that happened after `place` messages."""

    place: int
    kind: MarkKind
    key: str = ""
    """The id of the snapshot, where it is one."""


class Timeline(NamedTuple):
    """All messages of all branches, in the order they were said."""

    tokens: tuple[int, ...]
    """Tokens of the context up to each message: measured by a model, else estimated."""
    marks: tuple[TimelineMark, ...]
    """The marks in the order of their places."""
    window: int | None = None


def timeline_of(
    state: SessionState, snapshots: Iterable[SnapshotSummary] = (), now: int | None = None
) -> Timeline:
    """Return the timeline of a session; `now` is what its context takes, where it was counted."""
    messages = list(state.messages())
    # Clocks go back and older data has odd times: a place is found by the latest time so far.
    times = list(accumulate((message.timestamp for message in messages), max))
    metadata = state.header.metadata
    marks = [
        *_snapshot_marks(snapshots, times),
        *(
            TimelineMark(bisect_right(times, entry.at), "compression")
            for entry in metadata.compression_history
            # Undone ones do not count; equal where a restore added the entry.
            if entry.before != entry.after and entry.undone_at is None
        ),
        *(TimelineMark(bisect_right(times, each.at), "restore") for each in metadata.restores),
        *(TimelineMark(bisect_right(times, each.at), "loop") for each in metadata.loops),
        *_model_marks(messages),
    ]
    marks.sort(key=lambda mark: mark.place)
    tokens = list(_tokens(state, messages))
    now = now or state.header.metadata.token_count
    if now and messages and messages[-1].id == state.header.head:
        tokens[-1] = now
    return Timeline(tuple(tokens), tuple(marks), state.header.window)


def tokens_at(state: SessionState, message_id: str) -> int:
    """Return about how many tokens the context had when a message was the last one."""
    messages = list(state.messages())
    ids = [message.id for message in messages]
    return _tokens(state, messages)[ids.index(message_id)]


def _snapshot_marks(
    snapshots: Iterable[SnapshotSummary], times: Sequence[str]
) -> Iterator[TimelineMark]:
    for each in snapshots:
        kind = "automatic" if each.is_automatic else "named"
        yield TimelineMark(bisect_right(times, each.timestamp), kind, each.id)


def _model_marks(messages: Iterable[Message]) -> Iterator[TimelineMark]:
    before: str | None = None
    for place, message in enumerate(messages):
        if message.model and message.model != before:
            if before is not None:
                yield TimelineMark(place, "model")
            before = message.model


def _tokens(state: SessionState, messages: Iterable[Message]) -> tuple[int, ...]:
    """Return the tokens up to each message: measured, or its parent's plus an estimate."""
    compressed = {
        entry.last: entry.after_tokens
        for entry in state.header.metadata.compression_history
        if entry.last is not None and entry.undone_at is None
    }
    # A message that was too long to be sent is left out of the context from then on; after going
    # back to an earlier state the mark may be gone, but no model has read it.
    left_out = frozenset(state.header.metadata.excluded)
    window = state.header.window
    known: dict[str, int] = {}
    for message in messages:
        parent = state.parent(message.id)
        before = 0
        if parent is not None:
            before = compressed.get(parent, known.get(parent, 0))
        measured = message.usage.total_tokens if message.usage else 0
        length = 0 if message.id in left_out else sent_length(message)
        after = before + length // _CHARACTERS_PER_TOKEN
        is_too_long = window is not None and after > window
        known[message.id] = measured or (before if is_too_long else after)
    return tuple(known.values())
