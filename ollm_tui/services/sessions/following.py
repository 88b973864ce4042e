"""Following a session that another process writes: what it gains, soon after it is on disk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import NamedTuple

from ollm_tui.core.session.encoding import CannotDecode
from ollm_tui.core.session.record import (
    AnyRecord,
    MessageAdded,
    MessageFinished,
    SessionChanged,
    TextAppended,
)
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.storage.sessions.session_store import SessionStore
from ollm_tui.storage.sessions.session_tail import SessionTail, TailUpdate

LOOK_EVERY_SECONDS = 0.5

InThread = Callable[[Callable[[], TailUpdate | None]], Awaitable[TailUpdate | None]]
"""Does something with the store in its thread."""


class Followed(NamedTuple):
    """A session as it is now, to be read only; it goes on changing."""

    state: SessionState
    changed: frozenset[str]
    """The messages that are new or say something else since the last time."""
    is_held: bool
    """Whether somebody else has it open; else it could be continued here."""


async def follow(
    store: SessionStore,
    session_id: str,
    in_thread: InThread,
    every_seconds: float = LOOK_EVERY_SECONDS,
) -> AsyncGenerator[Followed, None]:
    """A session as it is, and again each time it changed, until whoever listens stops.

    Needs no lock and is in nobody's way. The errors of `SessionStore.load`: the session may
    be deleted meanwhile.
    """
    tail = SessionTail(store, session_id)
    last: Followed | None = None
    while True:
        if news := await in_thread(tail.look):
            found = _after(news, last)
            if last is None or _differs(found, last, news):
                yield found
            last = found
        await asyncio.sleep(every_seconds)


def _after(news: TailUpdate, last: Followed | None) -> Followed:
    """Records are applied here and not in the thread: others read the state meanwhile."""
    if news.state:
        return Followed(news.state, _difference(news.state, last), news.is_held)
    assert last is not None
    changed: set[str] = set()
    for seq, record in news.entries:
        try:
            last.state.apply(record, seq)
        except CannotDecode:
            continue  # of a newer version; the next reading of the whole session leaves it out too
        changed.update(_message_of(record))
    return Followed(last.state, frozenset(changed), news.is_held)


def _differs(found: Followed, last: Followed, news: TailUpdate) -> bool:
    """Folding a journal changes the files and nothing else."""
    if news.entries or found.changed or found.is_held != last.is_held:
        return True
    return found.state.header.journal_seq != last.state.header.journal_seq


def _difference(state: SessionState, last: Followed | None) -> frozenset[str]:
    known = last.state if last else None
    return frozenset(
        message.id
        for message in state.messages()
        if known is None or message.id not in known or known[message.id] != message
    )


def _message_of(record: AnyRecord) -> tuple[str, ...]:
    match record:
        case MessageAdded():
            return (record.message.id,)
        case TextAppended() | MessageFinished():
            return (record.message_id,)
        case SessionChanged():
            return tuple(each["id"] for each in record.fields.get("messages", ()))
        case _:
            return ()
