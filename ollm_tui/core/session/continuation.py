"""A long session that goes on in a new one: when to ask for that, and what the new one begins with.

Each of the two names the other, so that nothing is out of reach.
"""

from __future__ import annotations

import re
from itertools import pairwise

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.branches import calls_along
from ollm_tui.core.session.compression import CompressedContext
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import Metadata, Session, as_own, copied, new_session_id
from ollm_tui.core.session.session_state import SessionState

_PART = re.compile(r" \(part (\d{1,6})\)$")


def is_long(state: SessionState, max_items: int) -> bool:
    """Return whether a session has grown by this many messages since the user was last asked."""
    return 0 < max_items <= len(state) - state.header.items_asked


def continuation(state: SessionState) -> Session:
    """Return a new session that goes on where another one ends.

    It has the goals, notes and mode of that one, its last turn, and the turns with pinned messages.
    """
    branch = _carried(state)
    moment = clock.now()
    header = state.header
    session = replace(
        header,
        session_id=new_session_id(),
        start_time=moment,
        last_activity=moment,
        messages=tuple(branch),
        tool_calls=calls_along(state, branch),
        head=branch[-1].id if branch else None,
        metadata=_metadata(header.metadata, {message.id for message in branch}),
        title=_next_title(header.title),
        pinned=False,
        forked_from=None,
        continues=header.session_id,
        continued_in=None,
        items_asked=len(branch),
        journal_seq=0,
    )
    return as_own(session)


def _carried(state: SessionState) -> list[Message]:
    """Return the turns that go along as one chain: whole ones, so that each call has its result."""
    branch, pins = state.branch(), set(state.header.metadata.pins)
    starts = [at for at, message in enumerate(branch) if message.role == "user"]
    turns = [branch[first:last] for first, last in pairwise([*starts, len(branch)])]
    kept = [turn for turn in turns[:-1] if any(message.id in pins for message in turn)]
    parent: str | None = None
    chain: list[Message] = []
    for message in (message for turn in [*kept, *turns[-1:]] for message in turn):
        chain.append(replace(message, parent_id=parent))
        parent = message.id
    return chain


def _metadata(metadata: Metadata, carried: set[str]) -> Metadata:
    """Return the metadata without what is about messages that stay behind."""
    return replace(
        copied(metadata),
        token_count=0,
        compression_count=0,
        pins=tuple(key for key in metadata.pins if key in carried),
        excluded=tuple(key for key in metadata.excluded if key in carried),
        folded={key: tokens for key, tokens in metadata.folded.items() if key in carried},
        compressed=CompressedContext(),
        compression_history=(),
        loops=(),
    )


def _next_title(title: str) -> str:
    """Return "Rome (part 2)" for "Rome", and "Rome (part 3)" for that."""
    part = _PART.search(title)
    number = int(part[1]) + 1 if part else 2
    return f"{_PART.sub('', title)} (part {number})"
