"""Restore points of the context: taken by hand, before anything risky, and when it fills up."""

from __future__ import annotations

import errno
import inspect
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import TypeVar

from ollm_tui.core.errors import StoreError, UsageError
from ollm_tui.core.events import (
    AutoSnapshotCreated,
    SnapshotCreated,
    SnapshotDeleted,
    SnapshotEvent,
    SnapshotFailed,
    SnapshotRestored,
)
from ollm_tui.core.snapshot import ContextSnapshot, Reason, SnapshotSummary
from ollm_tui.core.snapshot_encoding import KnownMessages
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.snapshots.snapshot_library import SnapshotLibrary, SnapshotTotals
from ollm_tui.services.topic import Topic
from ollm_tui.settings.schema import Settings

Callback = Callable[[], Awaitable[None] | None]

OVERFLOW_SHARE = 0.95
"""So full that the next message may not fit."""
log = logging.getLogger(__name__)


class _Threshold:
    def __init__(self, share: float, callback: Callback) -> None:
        self.share = share
        self.callback = callback
        self.is_passed = False


class Thresholds:
    """Remembers on which side of each share the context of one session is."""

    def __init__(self) -> None:
        self._thresholds: list[_Threshold] = []

    def on_context_threshold(self, share: float, callback: Callback) -> Callable[[], None]:
        """Call this when the context passes a share of its room; the answer stops that."""
        threshold = _Threshold(share, callback)
        self._thresholds.append(threshold)
        return lambda: self._thresholds.remove(threshold)

    def on_before_overflow(self, callback: Callback) -> Callable[[], None]:
        """Call this when the context is nearly full, or when a message does not fit any more;
        the answer stops that."""
        return self.on_context_threshold(OVERFLOW_SHARE, callback)

    async def check(self, current: int, most: int) -> None:
        """After each turn: call whoever waits for a share that was passed since the context was
        last below it."""
        if most <= 0:
            return
        due: list[_Threshold] = []
        for threshold in self._thresholds:
            is_passed = current >= threshold.share * most
            if is_passed and not threshold.is_passed:
                due.append(threshold)
            threshold.is_passed = is_passed
        await _call(due)

    async def overflow(self) -> None:
        """A message did not fit, however full the context was before it."""
        due = [
            threshold
            for threshold in self._thresholds
            if threshold.share == OVERFLOW_SHARE and not threshold.is_passed
        ]
        for threshold in due:
            threshold.is_passed = True
        await _call(due)


async def _call(due: Iterable[_Threshold]) -> None:
    """A callback whose snapshot fails was heard of already and does not stop the others."""
    for threshold in due:
        try:
            waiting = threshold.callback()
            if inspect.isawaitable(waiting):
                await waiting
        except StoreError as error:
            log.warning("a threshold was passed in vain", exc_info=error)


R = TypeVar("R")


class Snapshots:
    """The snapshots of all sessions, for a front end with an event loop.

    All disk work happens in the recording's thread, after what was recorded before. What
    fails is published and raised as StoreError; the conversation goes on.
    """

    def __init__(self, library: SnapshotLibrary, recording: Recording, settings: Settings) -> None:
        self.library = library
        self.topic: Topic[SnapshotEvent] = Topic()
        self._recording = recording
        self._settings = settings

    @classmethod
    def of(cls, recording: Recording, settings: Settings) -> Snapshots:
        """The snapshots beside the sessions that are recorded."""
        store = recording.store
        return cls(SnapshotLibrary.at(store.layout, store.cipher), recording, settings)

    def are_taken(self, reason: Reason) -> bool:
        """Whether the settings want a snapshot for this reason."""
        settings = self._settings
        if reason in ("threshold", "overflow") and not settings.snapshots.auto_create:
            return False
        return settings.snapshots.enabled

    def keep_in_memory(self, session_id: str) -> None:
        """Nothing of this session may reach the disk."""
        self.library.keep_in_memory(session_id)

    async def create(
        self, snapshot: ContextSnapshot, needed: Collection[str] = ()
    ) -> SnapshotSummary | None:
        """Keep a snapshot: when this returns it is on disk. Older automatic ones go, unless
        they are needed.

        None where the settings want none; UsageError if the user asked for it all the same.
        """
        if not self.are_taken(snapshot.reason):
            if snapshot.reason == "manual":
                raise UsageError("snapshots are switched off", "set snapshots.enabled: true")
            return None
        most = self._settings.snapshots.max_count
        session_id = snapshot.session_id
        taken = await self._do(
            session_id, lambda: self.library.create(snapshot, most, needed), snapshot.reason
        )
        summary = taken.summary
        if summary.is_automatic:
            event = AutoSnapshotCreated(session_id, summary.id, summary.reason)
        else:
            event = SnapshotCreated(session_id, summary.id)
        self.topic.publish(event)
        for key in taken.removed:
            self.topic.publish(SnapshotDeleted(session_id, key))
        return summary

    async def list(self, session_id: str) -> list[SnapshotSummary]:
        """The snapshots of a session, newest first; those that cannot be read say why."""
        return await self._do(session_id, lambda: self.library.list(session_id))

    async def get(
        self, session_id: str, snapshot_id: str, known: KnownMessages | None = None
    ) -> ContextSnapshot:
        """One snapshot, read; sooner where its messages are known. StoreError."""
        return await self._do(session_id, lambda: self.library.get(session_id, snapshot_id, known))

    async def rename(self, session_id: str, snapshot_id: str, name: str) -> None:
        """Give a snapshot a name, or none. StoreError."""
        await self._do(session_id, lambda: self.library.rename(session_id, snapshot_id, name))

    async def pin(self, session_id: str, snapshot_id: str, pinned: bool) -> None:
        """Keep a snapshot whatever its name; or no longer. StoreError."""
        await self._do(session_id, lambda: self.library.pin(session_id, snapshot_id, pinned))

    async def delete(self, session_id: str, snapshot_id: str) -> None:
        """Take a snapshot away; `undelete` brings it back for some days. StoreError."""
        await self._do(session_id, lambda: self.library.delete(session_id, snapshot_id))
        self.topic.publish(SnapshotDeleted(session_id, snapshot_id))

    async def undelete(self, session_id: str, snapshot_id: str) -> None:
        """Bring a deleted snapshot back. StoreError if it is gone for good."""
        await self._do(session_id, lambda: self.library.undelete(session_id, snapshot_id))
        self.topic.publish(SnapshotCreated(session_id, snapshot_id))

    async def find(self, prefix: str) -> tuple[str, str]:
        """The session and the id of the one snapshot that starts like this. StoreError."""
        return await self._do("", lambda: self.library.find(prefix))

    async def holdings(self) -> SnapshotTotals:
        """How many snapshots each session has, also of sessions that are gone; and their size."""
        return await self._do("", self.library.holdings)

    async def empty_old_deleted(self) -> None:
        """Remove for good what was deleted long ago."""
        await self._do("", self.library.empty_old_deleted)

    def tell_restored(self, session_id: str, snapshot_id: str) -> None:
        """Whoever applied a snapshot and recorded that says so here."""
        self.topic.publish(SnapshotRestored(session_id, snapshot_id))

    async def _do(self, session_id: str, work: Callable[[], R], reason: str = "") -> R:
        try:
            return await self._recording.in_thread(work)
        except OSError as error:
            failure = _store_error(error)
            self._tell(session_id, failure, reason)
            raise failure from error
        except StoreError as error:
            self._tell(session_id, error, reason)
            raise

    def _tell(self, session_id: str, error: StoreError, reason: str) -> None:
        if session_id:  # else somebody only looked for one
            log.warning("snapshot: %s", error.message, extra={"session": session_id})
            self.topic.publish(SnapshotFailed(session_id, error.message, error.hint, reason))


def _store_error(error: OSError) -> StoreError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    hint = "free some space" if full else "see that the directory of ollm can be written"
    return StoreError(f"the snapshot could not be saved: {error.strerror or error}", hint)
