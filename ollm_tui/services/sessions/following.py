"""Follows a session that another process writes, by looking at its files again and again."""

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
"""Seconds between two looks at the files."""

InThread = Callable[[Callable[[], TailUpdate | None]], Awaitable[TailUpdate | None]]
"""Runs a look at the store in the store's thread."""


class Followed(NamedTuple):
    """A followed session; its state is to be read only, and goes on changing."""

    state: SessionState
    changed: frozenset[str]
    """The ids of the messages that are new or were changed since the last one."""
    is_held: bool
    """Whether another process has it open; if not, it could be continued here."""


async def follow(
    store: SessionStore,
    session_id: str,
    in_thread: InThread,
    every_seconds: float = LOOK_EVERY_SECONDS,
) -> AsyncGenerator[Followed, None]:
    """Yield a session as it is, and again after each change, until the caller stops.

    Takes no lock, so the writer is not disturbed. Raises what `SessionStore.load` raises: the
    session may be deleted meanwhile.
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
    """Return the session after an update: read anew, or the last one with the new records."""
    # Records are applied here, in the event loop, and not in the thread: the state that was handed
    # out is read in the loop.
    if news.state:
        return Followed(news.state, _difference(news.state, last), news.is_held)
    assert last is not None
    changed: set[str] = set()
    for seq, record in news.entries:
        try:
            last.state.apply(record, seq)
        except CannotDecode:
            continue  # of a newer version: reading the whole session leaves it out, too
        changed.update(_message_of(record))
    return Followed(last.state, frozenset(changed), news.is_held)


def _differs(found: Followed, last: Followed, news: TailUpdate) -> bool:
    """Return whether an update changed more than the files.

    Folding the journal into the session file rewrites both and changes nothing else.
    """
    if news.entries or found.changed or found.is_held != last.is_held:
        return True
    return found.state.header.journal_seq != last.state.header.journal_seq


def _difference(state: SessionState, last: Followed | None) -> frozenset[str]:
    """Return the ids of the messages that are new or differ from the last time."""
    known = last.state if last else None
    return frozenset(
        message.id
        for message in state.messages()
        if known is None or message.id not in known or known[message.id] != message
    )


def _message_of(record: AnyRecord) -> tuple[str, ...]:
    """Return the ids of the messages that a record is about."""
    match record:
        case MessageAdded():
            return (record.message.id,)
        case TextAppended() | MessageFinished():
            return (record.message_id,)
        case SessionChanged():
            return tuple(each["id"] for each in record.fields.get("messages", ()))
        case _:
            return ()
