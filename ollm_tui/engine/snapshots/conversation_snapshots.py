"""The snapshots of one conversation: taken by hand, before risky steps and when the context fills
up; restoring them, with the files that tools changed, and undoing that."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import StoreError, UsageError
from ollm_tui.core.intake import clean
from ollm_tui.core.session.branches import words_of
from ollm_tui.core.session.encoding import to_tree
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.past_context import metadata_then
from ollm_tui.core.session.record import SessionChanged
from ollm_tui.core.session.session import Metadata, Restore, Session
from ollm_tui.core.session.session_state import NOTHING_SAID, SessionState
from ollm_tui.core.snapshot import (
    ContextSnapshot,
    FileVersion,
    Reason,
    SnapshotSummary,
    shortened_at,
    snapshot_of,
    with_shortened,
)
from ollm_tui.engine.context.session_context import SessionContext
from ollm_tui.engine.conversation.held_session import HeldSession
from ollm_tui.engine.tools.conversation_tools import ConversationTools
from ollm_tui.services.snapshots.restore_plan import (
    UNDOABLE,
    restoration,
    standing,
    undoable,
    ways_back,
)
from ollm_tui.services.snapshots.restore_points import Snapshots, Thresholds
from ollm_tui.services.tokens.prompt_count import PromptCount
from ollm_tui.settings.schema import Snapshots as Settings

if TYPE_CHECKING:
    from ollm_tui.services.files.file_changes import FileStep, FileWatch

log = logging.getLogger(__name__)

ELSEWHERE = "F3 lists restore points"


class ConversationSnapshots:
    """Takes and restores the snapshots of one session."""

    def __init__(
        self,
        session: HeldSession,
        context: SessionContext,
        store: Snapshots | None,
        settings: Settings,
        check_free: Callable[[], None],
    ) -> None:
        self._session = session
        self._context = context
        self._store = store
        self._check_free = check_free
        self.thresholds = Thresholds()
        """The callbacks for when the context fills up."""
        self._fresh: str | None = None
        """The snapshot that was taken last before something risky; None if one was used again."""
        self._refused: Message | None = None
        """The message of the last turn, if it was too long to be sent."""
        self._kept: tuple[str | None, Metadata] | None = None
        """Head and metadata of the last context that was kept because it filled up."""
        self.files: Callable[[], tuple[FileVersion, ...]] = tuple
        """Gives the files that tools changed so far; set once there are tools."""
        self.thresholds.on_context_threshold(settings.auto_threshold, self._keep_full)
        self.thresholds.on_before_overflow(self._keep_full)

    @property
    def restores(self) -> tuple[Restore, ...]:
        """Every restore of the session, the oldest first."""
        return self._context.metadata.restores

    @property
    def standing(self) -> Restore | None:
        """The last restore that was not undone, whether it can be or not."""
        return next(standing(self.restores), None)

    @property
    def undoable(self) -> Restore | None:
        """The last restore that was not undone, if it can be."""
        found = undoable(self.restores)
        return found[0] if found else None

    @property
    def tokens(self) -> int:
        """The tokens of the context as it is."""
        return self._context.count().tokens

    def now(self, reason: Reason = "manual", name: str = "") -> ContextSnapshot:
        """The context as it is, as a snapshot that is not stored."""
        count = self._context.count()
        return snapshot_of(
            self._session.state,
            count.tokens,
            parts=count.parts.by_name(),
            estimated=count.source == "estimated",
            reason=reason,
            name=" ".join(clean(name).split()),
            window=self._context.choice.window,
            files=self.files(),
        )

    def at(self, message_id: str) -> ContextSnapshot:
        """The context as `go_back` would make it, as a snapshot that is not stored. StoreError if
        there is no such message."""
        self._message(message_id)
        metadata = self._then(message_id, clock.now())
        return self._ending_with(message_id, metadata, "manual")

    async def take(self, name: str = "") -> SnapshotSummary:
        """Store a snapshot for the user. UsageError if nothing was said yet, or this conversation
        stores none; StoreError if it cannot be written."""
        if not len(self._session.state):
            raise UsageError("no messages yet", "send a message first")
        if self._store is None:
            raise UsageError("this conversation has no snapshots", "open a saved session")
        await self._context.recount()
        taken = await self._store.create(self.now("manual", name), self._needed())
        assert taken is not None
        return taken

    async def counted(self, snapshot: ContextSnapshot) -> ContextSnapshot:
        """A snapshot with the tokens that its context takes by the present count: the number
        that the gauge shows after going there."""
        state = self._session.state
        plan = restoration(snapshot, state)
        branch = [*(state.branch(plan.head) if plan.head else ()), *plan.missing]
        if plan.missing:
            first = plan.missing[0].parent_id
            branch = [*(state.branch(first) if first else ()), *plan.missing]
        header = replace(
            state.header, head=plan.head, metadata=plan.metadata, system_prompt=plan.system_prompt
        )
        view = await self._context.counted_view_of(header, branch)
        return _with_count(snapshot, view.count)

    async def before(self, reason: Reason) -> str | None:
        """Store a snapshot before something risky; returns its id, or None if there is none.

        An automatic one of the same context is used again. A failure stops nothing: the store
        tells it, and the session has all that was said.
        """
        if self._store is None or not len(self._session.state):
            return None
        await self._context.recount()
        now = self.now(reason)
        try:
            if self._store.are_taken(reason) and (known := await self._same_as(now)):
                return known
            taken = await self._store.create(now, self._needed())
        except StoreError as error:
            log.warning("no snapshot before %s", reason, exc_info=error)
            return None
        self._fresh = taken.id if taken else None
        return self._fresh

    async def drop(self, snapshot_id: str) -> None:
        """Remove the snapshot that `before` has just taken: nothing came of what it was for. One
        that was there before stays."""
        if self._store is None or snapshot_id != self._fresh:
            return
        self._fresh = None
        try:
            await self._store.delete(self._session.session_id, snapshot_id)
        except StoreError as error:
            log.warning("a snapshot that is not needed stays", exc_info=error)

    async def _same_as(self, now: ContextSnapshot) -> str | None:
        """The id of an automatic snapshot of the same context; None if there is none."""
        for each in await self.list():
            if each.is_automatic and each.head == now.head:
                known = await self.get(each.id)
                return each.id if _content(known) == _content(now) else None
        return None

    def _needed(self) -> frozenset[str]:
        """The ids of snapshots that undo something: restores, and the last compressions."""
        history = self._context.metadata.compression_history
        standing = [each.snapshot for each in history if each.snapshot and not each.undone_at]
        return ways_back(self.restores) | frozenset(standing[-UNDOABLE:])

    async def list(self) -> list[SnapshotSummary]:
        """The snapshots of this session, newest first."""
        return await self._store.list(self._session.session_id) if self._store else []

    async def get(self, snapshot_id: str) -> ContextSnapshot:
        """Read one snapshot. StoreError if it is not there."""
        if self._store is None:
            raise StoreError("this conversation has no snapshots", "open a saved session")
        session = self._session
        return await self._store.get(session.session_id, snapshot_id, session.state)

    async def restore(self, snapshot: ContextSnapshot) -> Restore:
        """Set the context back to a snapshot. Nothing is removed: what was said since stays as a
        branch. `undo_restore` undoes it. UsageError while the model answers."""
        return await self._restore(snapshot, None)

    async def go_back(self, message_id: str) -> Restore:
        """Make a message the last one, on whichever branch, with the compression of that time.

        It is recorded and undone like a restore. StoreError if there is no such message.
        """
        self._check_free()
        title = words_of(self._message(message_id))
        moment, safety = clock.now(), await self.before("restore")
        then = self._then(message_id, moment)
        header = replace(self._session.state.header, head=message_id, metadata=then)
        note = Restore(at=moment, snapshot="", title=title, safety=safety)
        return await self._end(header, note)

    async def undo_restore(self) -> Restore:
        """Undo the last restore. UsageError if there is none, or it cannot be undone."""
        last = self.standing
        if last is None:
            raise UsageError("no restore to undo", ELSEWHERE)
        if not last.can_be_undone:
            raise UsageError("cannot be undone: no snapshot was taken", ELSEWHERE)
        safety = await self._safety(last)
        if safety:
            return await self._restore(safety, last.at)
        # Without its snapshot, going to a message is undone from the record: the head before it
        # and the compression at that time.
        self._check_free()
        moment, header = clock.now(), self._session.state.header
        before = shortened_at(header.metadata.compression_history, last.at)
        metadata = with_shortened(header.metadata, before, moment)
        header = replace(header, head=last.before or None, metadata=metadata)
        note = Restore(at=moment, snapshot="", title=last.title, undoes=last.at)
        return await self._end(header, note)

    async def check_thresholds(self, refused: Message | None = None) -> None:
        """Call the callbacks of thresholds that the turn has passed. `refused` is a message that
        was too long to be sent: it is no part of the context, but counts as an overflow."""
        self._refused = refused
        if refused:
            await self.thresholds.overflow()
            return
        count = self._context.count()
        if room := self._context.budget(count).room:
            await self.thresholds.check(count.tokens, room.limit)

    async def _keep_full(self) -> None:
        """Store a snapshot of a context that fills up, without the message that did not fit; the
        same context is not stored again."""
        state, refused = self._session.state, self._refused
        head = state.parent(refused.id) if refused else state.header.head
        full = (head, state.header.metadata)
        if head is None or self._store is None or self._kept == full:
            return
        reason: Reason = "overflow" if refused else "threshold"
        snapshot = self._ending_with(head, self._with_tokens(head, state.header.metadata), reason)
        await self._store.create(snapshot, self._needed())
        self._kept = full

    async def _safety(self, last: Restore) -> ContextSnapshot | None:
        """The snapshot taken before a restore; None where the record is enough to undo it.
        StoreError if it is needed and cannot be read."""
        if last.safety is None:
            return None
        try:
            return await self.get(last.safety)
        except StoreError:
            if last.is_to_message:
                return None
            raise

    async def _end(self, header: Session, note: Restore) -> Restore:
        """Set head and metadata of the session to those of a header, in one record."""
        note = replace(note, before=self._session.state.header.head or NOTHING_SAID)
        metadata = replace(header.metadata, restores=(*header.metadata.restores, note))
        fields = {"head": header.head, "metadata": to_tree(metadata)}
        await self._session.record(SessionChanged(at=note.at, fields=fields))
        return note

    def _message(self, message_id: str) -> Message:
        if message_id not in self._session.state:
            raise StoreError(f"no message {message_id}", "ollm sessions view ID")
        return self._session.state[message_id]

    def _then(self, message_id: str, moment: str) -> Metadata:
        """The metadata as of when a message was the last one, with the tokens counted now."""
        metadata = metadata_then(self._session.state, message_id, moment)
        return self._with_tokens(message_id, metadata)

    def _with_tokens(self, head: str, metadata: Metadata) -> Metadata:
        """Metadata with the tokens of the prompt that ends with a message."""
        state = self._session.state
        header = replace(state.header, head=head, metadata=metadata)
        return with_count(metadata, self._context.view_of(header, state.branch(head)).count)

    def _ending_with(self, head: str, metadata: Metadata, reason: Reason) -> ContextSnapshot:
        """The conversation up to a message, as a snapshot that is not stored."""
        session = replace(self._session.state.session(), head=head, metadata=metadata)
        window = self._context.choice.window
        return snapshot_of(
            SessionState(session),
            metadata.token_count,
            parts=metadata.token_parts,
            estimated=metadata.tokens_estimated,
            reason=reason,
            window=window,
            files=self.files() if reason != "manual" else (),
        )

    async def _restore(self, snapshot: ContextSnapshot, undoes: str | None) -> Restore:
        """Restore a snapshot; `undoes` is the time of the restore that is undone by it."""
        self._check_free()
        safety = await self.before("restore")
        state, moment = self._session.state, clock.now()
        plan = restoration(snapshot, state, moment)
        note = Restore(
            at=moment,
            snapshot=snapshot.id,
            title=snapshot.name or snapshot.summary,
            safety=safety,
            before=state.header.head,
            undoes=undoes,
        )
        metadata = replace(plan.metadata, restores=(*plan.metadata.restores, note))
        await self._session.record(replace(plan, metadata=metadata).record(moment))
        if self._store:
            self._store.tell_restored(self._session.session_id, snapshot.id)
        return note


def with_count(metadata: Metadata, count: PromptCount) -> Metadata:
    """Metadata that tell the tokens of the context as they were counted."""
    return replace(
        metadata,
        token_count=count.tokens,
        token_parts=count.parts.by_name(),
        tokens_estimated=count.source == "estimated",
    )


def _content(snapshot: ContextSnapshot) -> ContextSnapshot:
    """A snapshot without what differs between two of the same context: when and why it was taken,
    and how its tokens were counted."""
    return replace(
        snapshot,
        id="",
        timestamp="",
        reason="manual",
        name="",
        pinned=False,
        token_count=0,
        token_parts={},
        tokens_estimated=False,
        metadata=replace(snapshot.metadata, compression_ratio=1.0),
    )


def _with_count(snapshot: ContextSnapshot, count: PromptCount) -> ContextSnapshot:
    return replace(
        snapshot,
        token_count=count.tokens,
        token_parts=count.parts.by_name(),
        tokens_estimated=count.source == "estimated",
    )


class SnapshotFiles:
    """Restores the files that tools changed since a snapshot, in threads."""

    def __init__(self, project: str | None, tools: ConversationTools) -> None:
        """`project` is the folder the session belongs to."""
        self._project = project
        self._tools = tools

    async def preview(self, snapshot: ContextSnapshot) -> list[FileStep]:
        """Exactly which files going back would touch, and how. StoreError if they are unreadable.

        Empty where the session belongs to another project: its paths mean other files here.
        """
        await self._tools.ready()
        watch = self._tools.file_watch
        if watch is None or not self._project or Path(self._project).resolve() != watch.root:
            return []
        return await _in_thread(lambda: watch.preview(snapshot))

    async def restore(self, snapshot: ContextSnapshot, paths: Collection[str]) -> list[FileStep]:
        """Restore some files of a preview; each step says if it could not be done. StoreError if
        the copies are unreadable."""
        watch: FileWatch | None = self._tools.file_watch
        return await _in_thread(lambda: watch.restore(snapshot, paths)) if watch else []


async def _in_thread(work: Callable[[], list[FileStep]]) -> list[FileStep]:
    """Look at files in a thread; an OSError becomes a StoreError."""
    try:
        return await asyncio.to_thread(work)
    except OSError as error:
        hint = "the conversation is restored all the same"
        raise StoreError(f"cannot read the files: {error.strerror}", hint) from error
