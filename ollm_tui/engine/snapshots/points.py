"""The points of sessions: a session as it is, one of its messages, or one of its snapshots. Each
can be looked at, compared and forked, whether the session is open or not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ollm_tui.core import clock
from ollm_tui.core.errors import SessionDamaged, SessionNotFound, StoreError
from ollm_tui.core.session.branches import Branch, branches_of
from ollm_tui.core.session.message import Message, sent_length
from ollm_tui.core.session.past_context import state_then
from ollm_tui.core.session.session import Session
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.session.timeline import Timeline, timeline_of
from ollm_tui.core.snapshot import ContextSnapshot, SnapshotSummary
from ollm_tui.engine.context.budget import Budget, BudgetRules
from ollm_tui.engine.context.prompt_message import FIRST_WORDS_CHARACTERS, checkpoint_text
from ollm_tui.engine.conversation.ephemeral_sessions import EphemeralSessions
from ollm_tui.engine.snapshots.conversation_snapshots import ConversationSnapshots
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.snapshots.closed_sessions import present
from ollm_tui.services.snapshots.restore_plan import forked
from ollm_tui.services.snapshots.restore_points import Snapshots
from ollm_tui.services.snapshots.snapshot_library import SnapshotTotals
from ollm_tui.services.tokens.prompt_count import GROUPS, Group, Parts, shared_out

_CHARACTERS_PER_TOKEN = 4

OnDisk = Callable[..., Awaitable[Any]]
"""Runs a function with its arguments in the thread of the store."""


class Held(Protocol):
    """What is needed of a conversation that is open here."""

    @property
    def state(self) -> SessionState:
        """Everything said so far."""
        ...

    @property
    def snapshots(self) -> ConversationSnapshots:
        """The snapshots of the conversation."""
        ...

    async def prepare(self) -> None:
        """Assembles and counts the context in small steps."""
        ...


class Point(NamedTuple):
    """A session as it is, or an earlier moment of it if a snapshot or a message is given."""

    session_id: str
    snapshot: str = ""
    message: str = ""
    """The id of the message that the conversation ends with, on whichever branch it is."""


class Overview(NamedTuple):
    """A session with everything that can be gone back to."""

    state: SessionState
    branches: tuple[Branch, ...]
    snapshots: tuple[SnapshotSummary, ...]
    """Newest first."""
    timeline: Timeline


class Points:
    """Reads and forks sessions at their points, open here or not; never changes them."""

    def __init__(
        self,
        library: SessionLibrary,
        snapshots: Snapshots,
        held: Mapping[str, Held],
        on_disk: OnDisk,
        rules: BudgetRules,
        ephemeral: EphemeralSessions,
    ) -> None:
        self._library = library
        self._snapshots = snapshots
        self._held = held
        self._on_disk = on_disk
        self._rules = rules
        self._ephemeral = ephemeral

    async def state(self, session_id: str) -> SessionState:
        """A whole session, also one that somebody is writing. StoreError if it is unreadable."""
        if conversation := self._held.get(session_id):
            return conversation.state
        if ephemeral := self._ephemeral.get(session_id):
            return ephemeral
        return (await self._on_disk(self._library.load, session_id)).state

    async def holdings(self) -> SnapshotTotals:
        """How many snapshots each session has, deleted sessions included, and the bytes of all
        sessions and snapshots."""
        counts, size = await self._snapshots.holdings()
        for session_id in self._ephemeral.ids:
            if own := len(await self._snapshots.list(session_id)):
                counts[session_id] = own
        return SnapshotTotals(counts, size + await self._on_disk(self._library.index.stored_bytes))

    async def overview(self, session_id: str) -> Overview:
        """A session with its branches, snapshots and timeline, made in steps: a long one must not
        hold up the keys.

        Of a deleted or damaged session only the snapshots are left; SessionNotFound or
        SessionDamaged if there are none.
        """
        snapshots = tuple(await self._snapshots.list(session_id))
        try:
            state = await self.state(session_id)
        except (SessionNotFound, SessionDamaged):
            if not snapshots:
                raise
            state = _without_words(session_id, snapshots)
        held = self._held.get(session_id)
        now: int | None = None
        if held and held.state is state:
            await held.prepare()
            now = held.snapshots.tokens
            await asyncio.sleep(0)
        timeline = timeline_of(state, snapshots, now)
        await asyncio.sleep(0)
        branches = branches_of(state)
        await asyncio.sleep(0)
        return Overview(state, branches, snapshots, timeline)

    async def at(self, point: Point, state: SessionState | None = None) -> ContextSnapshot:
        """The context at a point, as a snapshot; `state` is the session, if it is known.

        StoreError if the session or the snapshot cannot be read.
        """
        if point.snapshot:
            held = self._held.get(point.session_id)
            known = state or (held.state if held else None)
            snapshot = await self._snapshots.get(point.session_id, point.snapshot, known)
            return await held.snapshots.counted(snapshot) if held else snapshot
        state = state or await self.state(point.session_id)
        if not point.message:
            return await self._now(state)
        if point.message not in state:
            raise StoreError(f"no message {point.message}", "ollm sessions view ID")
        held = self._held.get(point.session_id)
        # Only an open conversation has a counter; others have to do with what was recorded.
        if held and held.state is state:
            return held.snapshots.at(point.message)
        return present(state_then(state, point.message, clock.now()))

    def budget(self, snapshot: ContextSnapshot) -> Budget:
        """The estimated budget of the context in a snapshot."""
        return Budget.of(snapshot.window, parts_of(snapshot), self._rules)

    async def session(self, point: Point) -> Session:
        """A point as a new session; one at a snapshot also if the session was deleted or is
        damaged. StoreError if it is unreadable."""
        if point.snapshot:
            state = await self._state_or_none(point.session_id)
            return forked(await self.at(point), state)
        state = await self.state(point.session_id)
        return forked(await self.at(point, state), state)

    async def fork(self, point: Point) -> str:
        """Copy a point into a new session; returns its id. StoreError.

        The copy of an ephemeral session is ephemeral: nothing of it may reach the disk.
        """
        session = await self.session(point)
        if self._ephemeral.all_new or self._ephemeral.owns(point.session_id):
            self._snapshots.keep_in_memory(session.session_id)
            return self._ephemeral.add_copy(session)
        return await self._on_disk(self._library.add, session)

    async def _now(self, state: SessionState) -> ContextSnapshot:
        """A session as it is: counted if it is open here, else with its last known tokens."""
        held = self._held.get(state.header.session_id)
        if not held or held.state is not state:
            return present(state)
        await held.prepare()
        return held.snapshots.now()

    async def _state_or_none(self, session_id: str) -> SessionState | None:
        """A session, or None if it was deleted or is damaged: its snapshots are left."""
        try:
            return await self.state(session_id)
        except (SessionNotFound, SessionDamaged):
            return None


def parts_of(snapshot: ContextSnapshot) -> Parts:
    """The tokens of each part of a snapshot: as they were counted, else estimated from lengths.
    They add up to its own count if it has one."""
    stored = Parts.named(snapshot.token_parts)
    if snapshot.token_parts and stored.total == snapshot.token_count:
        return stored
    lengths: dict[Group, int] = dict.fromkeys(GROUPS, 0)
    lengths["system"] = len(snapshot.system_prompt)
    lengths["system"] += sum(len(entry.content) for entry in snapshot.context_entries)
    lengths["checkpoints"] = sum(len(checkpoint_text(each)) for each in snapshot.checkpoints)
    pinned, excluded = frozenset(snapshot.pins), frozenset(snapshot.excluded)
    cut = (snapshot.folded.keys() | snapshot.elisions.keys()) - pinned
    covered = {key for each in snapshot.checkpoints for key in each.messages} - pinned
    for message in snapshot.sent():
        if message.id in covered or (message.id in excluded and message.id not in pinned):
            continue
        length = sent_length(message)
        group = "system" if message.id in pinned else _group(message)
        lengths[group] += min(length, FIRST_WORDS_CHARACTERS) if message.id in cut else length
    total = snapshot.token_count or sum(lengths.values()) // _CHARACTERS_PER_TOKEN
    shares = shared_out(total, [lengths[group] for group in GROUPS])
    return Parts(**dict(zip(GROUPS, shares, strict=True)))


def _group(message: Message) -> Group:
    if message.role == "assistant":
        return "assistant"
    return "tools" if message.role == "tool" else "user"


def _without_words(session_id: str, snapshots: Sequence[SnapshotSummary]) -> SessionState:
    """A deleted session as far as its snapshots, the newest first, tell about it."""
    last, first = snapshots[0].timestamp, snapshots[-1].timestamp
    return SessionState(Session(session_id, first, last, snapshots[0].model, "unknown"))
