"""Snapshots for front ends with an event loop, and thresholds of the context that trigger them."""

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

R = TypeVar("R")
Callback = Callable[[], Awaitable[None] | None]

OVERFLOW_SHARE = 0.95
"""The share of the window from which on the next message may not fit."""
log = logging.getLogger(__name__)


class _Threshold:
    """A share of the window, its callback, and whether the context is above it."""

    def __init__(self, share: float, callback: Callback) -> None:
        self.share = share
        self.callback = callback
        self.is_passed = False


class Thresholds:
    """Calls back when the context of one session grows beyond a share of its window."""

    def __init__(self) -> None:
        self._thresholds: list[_Threshold] = []

    def on_context_threshold(self, share: float, callback: Callback) -> Callable[[], None]:
        """Call `callback` when the context passes a share; return a function that stops that."""
        threshold = _Threshold(share, callback)
        self._thresholds.append(threshold)
        return lambda: self._thresholds.remove(threshold)

    def on_before_overflow(self, callback: Callback) -> Callable[[], None]:
        """Call `callback` when the context is nearly full, or a message does not fit any more.

        Returns a function that stops that.
        """
        return self.on_context_threshold(OVERFLOW_SHARE, callback)

    async def check(self, current: int, most: int) -> None:
        """Call back for each share that was passed since the last check; called after each turn."""
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
        """Call back because a message did not fit, however full the context was before it."""
        due = [
            threshold
            for threshold in self._thresholds
            if threshold.share == OVERFLOW_SHARE and not threshold.is_passed
        ]
        for threshold in due:
            threshold.is_passed = True
        await _call(due)


async def _call(due: Iterable[_Threshold]) -> None:
    """Run the callbacks; one that fails stops neither the others nor the turn."""
    for threshold in due:
        try:
            waiting = threshold.callback()
            if inspect.isawaitable(waiting):
                await waiting
        except Exception as error:  # whoever wrote the callback: a turn does not depend on it
            log.warning("a threshold was passed in vain", exc_info=error)


class Snapshots:
    """The snapshots of all sessions, for a front end with an event loop.

    All disk work happens in the recording's thread, after what was recorded before. A failure
    is published and raised as StoreError.
    """

    def __init__(self, library: SnapshotLibrary, recording: Recording, settings: Settings) -> None:
        self.library = library
        self.topic: Topic[SnapshotEvent] = Topic()
        self._recording = recording
        self._settings = settings

    @classmethod
    def of(cls, recording: Recording, settings: Settings) -> Snapshots:
        """Make the snapshots of the store that a recording writes to."""
        return cls(SnapshotLibrary.beside(recording.store), recording, settings)

    def are_taken(self, reason: Reason) -> bool:
        """Return whether the settings ask for a snapshot for this reason."""
        settings = self._settings
        if reason in ("threshold", "overflow") and not settings.snapshots.auto_create:
            return False
        return settings.snapshots.enabled

    def keep_in_memory(self, session_id: str) -> None:
        """Keep the snapshots of a session in memory: nothing of it may reach the disk."""
        self.library.keep_in_memory(session_id)

    async def create(
        self, snapshot: ContextSnapshot, needed: Collection[str] = ()
    ) -> SnapshotSummary | None:
        """Store a snapshot; when this returns it is on disk.

        Surplus older automatic ones are removed, except those in `needed`. Returns None if the
        settings switch such snapshots off; UsageError if the user asked for it by hand.
        """
        if not self.are_taken(snapshot.reason):
            if snapshot.reason == "manual":
                raise UsageError("snapshots are off", "set snapshots.enabled: true")
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
        where = {"session": session_id}
        log.info("snapshot %s taken: %s", summary.id, summary.reason, extra=where)
        for key in taken.removed:
            self.topic.publish(SnapshotDeleted(session_id, key))
        return summary

    async def list(self, session_id: str) -> list[SnapshotSummary]:
        """Return the snapshots of a session, newest first; damaged ones say why they are."""
        return await self._do(session_id, lambda: self.library.list(session_id))

    async def get(
        self, session_id: str, snapshot_id: str, known: KnownMessages | None = None
    ) -> ContextSnapshot:
        """Read one snapshot, faster if its messages are known. StoreError."""
        return await self._do(session_id, lambda: self.library.get(session_id, snapshot_id, known))

    async def rename(self, session_id: str, snapshot_id: str, name: str) -> None:
        """Give a snapshot a name; an empty one removes it. StoreError."""
        await self._do(session_id, lambda: self.library.rename(session_id, snapshot_id, name))

    async def pin(self, session_id: str, snapshot_id: str, pinned: bool) -> None:
        """Protect a snapshot from automatic removal, or no longer. StoreError."""
        await self._do(session_id, lambda: self.library.pin(session_id, snapshot_id, pinned))

    async def delete(self, session_id: str, snapshot_id: str) -> None:
        """Delete a snapshot; for some days `undelete` can bring it back. StoreError."""
        await self._do(session_id, lambda: self.library.delete(session_id, snapshot_id))
        log.info("snapshot %s deleted", snapshot_id, extra={"session": session_id})
        self.topic.publish(SnapshotDeleted(session_id, snapshot_id))

    async def undelete(self, session_id: str, snapshot_id: str) -> None:
        """Bring a deleted snapshot back. StoreError if it is gone for good."""
        await self._do(session_id, lambda: self.library.undelete(session_id, snapshot_id))
        self.topic.publish(SnapshotCreated(session_id, snapshot_id))

    async def find(self, prefix: str) -> tuple[str, str]:
        """Return session and id of the one snapshot whose id begins so. StoreError."""
        return await self._do("", lambda: self.library.find(prefix))

    async def holdings(self) -> SnapshotTotals:
        """Return how many snapshots each session has, also deleted sessions, and their size."""
        return await self._do("", self.library.holdings)

    async def empty_old_deleted(self) -> None:
        """Remove for good the snapshots that were deleted long ago."""
        await self._do("", self.library.empty_old_deleted)

    def tell_restored(self, session_id: str, snapshot_id: str) -> None:
        """Publish that a snapshot was restored; called by whoever recorded that."""
        log.info("snapshot %s restored", snapshot_id, extra={"session": session_id})
        self.topic.publish(SnapshotRestored(session_id, snapshot_id))

    async def _do(self, session_id: str, work: Callable[[], R], reason: str = "") -> R:
        """Run disk work in the recording's thread; publish a failure and raise StoreError."""
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
        if session_id:  # without one somebody only looked for a snapshot: no session is affected
            log.warning("snapshot: %s", error.message, extra={"session": session_id})
            self.topic.publish(SnapshotFailed(session_id, error.message, error.hint, reason))


def _store_error(error: OSError) -> StoreError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    hint = "free disk space" if full else "make ollm's directory writable"
    return StoreError(f"could not save the snapshot: {error.strerror or error}", hint)
