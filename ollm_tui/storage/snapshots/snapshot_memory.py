"""Snapshots of sessions that must not reach the disk: the same as the store, in memory only."""

from __future__ import annotations

from collections.abc import Collection

from ollm_tui.core.errors import StoreError
from ollm_tui.core.snapshot import ContextSnapshot, SnapshotSummary, summary_of
from ollm_tui.core.snapshot_messages import KnownMessages
from ollm_tui.storage.snapshots.snapshot_file import SnapshotRead
from ollm_tui.storage.snapshots.snapshot_index import Listing


class SnapshotMemory:
    """Gone when the program ends."""

    def __init__(self) -> None:
        self._kept: dict[str, ContextSnapshot] = {}
        self._aside: dict[str, ContextSnapshot] = {}

    def write(self, snapshot: ContextSnapshot) -> SnapshotSummary:
        """Keep a snapshot."""
        self._kept[snapshot.id] = snapshot
        return summary_of(snapshot, 0)

    def refresh(self, session_id: str, new: SnapshotSummary | None = None) -> None:
        """Nothing here is derived."""

    def read(
        self, session_id: str, snapshot_id: str, known: KnownMessages | None = None
    ) -> SnapshotRead:
        """One snapshot. StoreError if there is none."""
        return SnapshotRead(self._of(session_id, snapshot_id), older=False)

    def note(self, listing: Listing, added: SnapshotSummary, removed: Collection[str]) -> None:
        """Nothing here is derived."""

    def listing(self, session_id: str) -> Listing:
        """The snapshots of a session; there is no index."""
        return Listing(self.summaries(session_id), {}, "nobody")

    def summaries(self, session_id: str) -> list[SnapshotSummary]:
        """The snapshots of a session, newest first."""
        kept = (each for each in self._kept.values() if each.session_id == session_id)
        summaries = [summary_of(each, 0) for each in kept]
        return sorted(summaries, key=lambda each: each.timestamp, reverse=True)

    def owners(self) -> dict[str, str]:
        """The session of every snapshot there is."""
        return {key: snapshot.session_id for key, snapshot in self._kept.items()}

    def remove(self, session_id: str, snapshot_ids: Collection[str]) -> list[str]:
        """Forget snapshots; answers with those that went."""
        return [key for key in snapshot_ids if self._kept.pop(key, None)]

    def put_aside(self, session_id: str, snapshot_id: str) -> None:
        """Take a snapshot away, so that it can be brought back. StoreError."""
        self._aside[snapshot_id] = self._of(session_id, snapshot_id)
        del self._kept[snapshot_id]

    def put_back(self, session_id: str, snapshot_id: str) -> None:
        """Bring a snapshot back. StoreError if it is gone for good."""
        if snapshot_id not in self._aside:
            raise StoreError(f"snapshot {snapshot_id} is gone for good", "take another one")
        self._kept[snapshot_id] = self._aside.pop(snapshot_id)

    def _of(self, session_id: str, snapshot_id: str) -> ContextSnapshot:
        snapshot = self._kept.get(snapshot_id)
        if snapshot is None or snapshot.session_id != session_id:
            raise StoreError(f"there is no snapshot {snapshot_id}", "/snapshot takes one")
        return snapshot
