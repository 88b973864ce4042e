"""The snapshots of a store as a user handles them: stored, listed, named, deleted, found.

Everything here is synchronous, so that a listing command starts no event loop; front ends that
have one use `Snapshots`.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Collection
from datetime import timedelta
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import AmbiguousId, StoreError
from ollm_tui.core.intake import clean
from ollm_tui.core.snapshot import ContextSnapshot, SnapshotSummary
from ollm_tui.core.snapshot_encoding import KnownMessages
from ollm_tui.storage.files.cipher import Cipher
from ollm_tui.storage.sessions.session_store import SessionStore
from ollm_tui.storage.snapshots.snapshot_file import SnapshotRead
from ollm_tui.storage.snapshots.snapshot_index import Listing
from ollm_tui.storage.snapshots.snapshot_store import (
    SnapshotMemory,
    SnapshotStore,
    snapshots_beside,
)
from ollm_tui.storage.store_layout import StoreLayout

DELETED_DAYS = 7
"""Days for which a deleted snapshot can be brought back."""
LONGEST_NAME = 80
"""Characters of a snapshot's name; the rest is cut off."""
EXAMPLES = 3
"""Ids that are named when a prefix is ambiguous."""


class SnapshotStorage(Protocol):
    """A place that keeps snapshots: the disk, or memory for ephemeral sessions."""

    def write(self, snapshot: ContextSnapshot) -> SnapshotSummary:
        """Store a snapshot durably."""
        ...

    def refresh(self, session_id: str, new: SnapshotSummary | None = None) -> None:
        """Bring the index of a session's snapshots up to date."""
        ...

    def read(
        self, session_id: str, snapshot_id: str, known: KnownMessages | None = None
    ) -> SnapshotRead:
        """Read one snapshot; messages that are known need not be decoded."""
        ...

    def summaries(self, session_id: str) -> list[SnapshotSummary]:
        """Return the snapshots of a session, newest first."""
        ...

    def listing(self, session_id: str) -> Listing:
        """Return the snapshots of a session, with what `note` needs."""
        ...

    def note(self, listing: Listing, added: SnapshotSummary, removed: Collection[str]) -> None:
        """Bring the index up to date with the changes made since a listing."""
        ...

    def owners(self) -> dict[str, str]:
        """Return the session of every snapshot, by the snapshot's id."""
        ...

    def remove(self, session_id: str, snapshot_ids: Collection[str]) -> list[str]:
        """Remove some for good; return the ids of those that were removed."""
        ...

    def put_aside(self, session_id: str, snapshot_id: str) -> None:
        """Take a snapshot out of the list, so that it can be brought back."""
        ...

    def put_back(self, session_id: str, snapshot_id: str) -> None:
        """Bring a snapshot back that was put aside."""
        ...


class Taken(NamedTuple):
    """A snapshot that was stored, and the ids of the older ones removed for it."""

    summary: SnapshotSummary
    removed: tuple[str, ...]


class Deleted(NamedTuple):
    """A deleted snapshot that can still be brought back, and when it was deleted."""

    summary: SnapshotSummary
    at: str


class SnapshotTotals(NamedTuple):
    """How many snapshots there are, and how large they are."""

    counts: Counter[str]
    """The number of snapshots by session, also of deleted sessions."""
    size: int
    """The bytes of all of them."""


class SnapshotLibrary:
    """All snapshots of one store; those of ephemeral sessions are kept in memory.

    StoreError if something cannot be done, OSError if the disk fails.
    """

    def __init__(self, store: SnapshotStore) -> None:
        self._store = store
        self._memory = SnapshotMemory()
        self._ephemeral: set[str] = set()

    @classmethod
    def at(cls, layout: StoreLayout, cipher: Cipher | None = None) -> SnapshotLibrary:
        """Open the library of a store."""
        return cls(SnapshotStore(layout, cipher))

    @classmethod
    def beside(cls, sessions: SessionStore) -> SnapshotLibrary:
        """Open the library of the snapshots that belong to the sessions of a store."""
        return cls(snapshots_beside(sessions))

    def keep_in_memory(self, session_id: str) -> None:
        """Keep the snapshots of a session in memory: nothing of it may reach the disk."""
        self._ephemeral.add(session_id)

    def create(
        self, snapshot: ContextSnapshot, most_automatic: int, needed: Collection[str] = ()
    ) -> Taken:
        """Store a snapshot durably and remove the surplus of older automatic ones.

        Of the automatic ones of the session the newest `most_automatic` stay, and those in
        `needed`.
        """
        session_id, storage = snapshot.session_id, self._storage_of(snapshot.session_id)
        listing = storage.listing(session_id)
        before = listing.summaries
        snapshot = replace(snapshot, timestamp=_after(before, snapshot.timestamp))
        summary = storage.write(snapshot)
        automatic = [each.id for each in (summary, *before) if each.is_automatic]
        too_many = [key for key in automatic[most_automatic:] if key not in needed]
        removed = storage.remove(session_id, too_many)
        storage.note(listing, summary, removed)
        return Taken(summary, tuple(removed))

    def list(self, session_id: str) -> list[SnapshotSummary]:
        """Return the snapshots of a session, newest first."""
        return self._storage_of(session_id).summaries(session_id)

    def get(
        self, session_id: str, snapshot_id: str, known: KnownMessages | None = None
    ) -> ContextSnapshot:
        """Read one snapshot, faster if its messages are known."""
        return self._storage_of(session_id).read(session_id, snapshot_id, known).snapshot

    def rename(self, session_id: str, snapshot_id: str, name: str) -> None:
        """Give a snapshot a name, or none; named ones are never removed automatically."""
        self._change(session_id, snapshot_id, name=one_line(name))

    def pin(self, session_id: str, snapshot_id: str, pinned: bool) -> None:
        """Protect a snapshot from automatic removal, whatever its name; or no longer."""
        self._change(session_id, snapshot_id, pinned=pinned)

    def delete(self, session_id: str, snapshot_id: str) -> None:
        """Delete a snapshot; for `DELETED_DAYS` it can be brought back."""
        self._storage_of(session_id).put_aside(session_id, snapshot_id)

    def undelete(self, session_id: str, snapshot_id: str) -> None:
        """Bring a deleted snapshot back."""
        self._storage_of(session_id).put_back(session_id, snapshot_id)

    def deleted(self) -> list[Deleted]:
        """Return the deleted snapshots that can be brought back, the latest first."""
        found = itertools.starmap(Deleted, self._store.aside())
        return sorted(found, key=lambda each: each.at, reverse=True)

    def empty_old_deleted(self) -> None:
        """Remove for good what was deleted more than `DELETED_DAYS` ago."""
        kept_ns = int(timedelta(days=DELETED_DAYS).total_seconds()) * 10**9
        self._store.empty_aside(time.time_ns() - kept_ns)

    def find(self, prefix: str) -> tuple[str, str]:
        """Return session and id of the one snapshot whose id begins with `prefix`.

        StoreError if there is none, AmbiguousId if there are several.
        """
        owners = self._store.owners() | self._memory.owners()
        found = _only_one(prefix, owners, "snapshot", "ollm snapshots list")
        return owners[found], found

    def find_deleted(self, prefix: str) -> tuple[str, str]:
        """Do the same as `find` among the deleted snapshots that can be brought back."""
        owners = {each.summary.id: each.summary.session_id for each in self.deleted()}
        found = _only_one(prefix, owners, "deleted snapshot", "ollm snapshots trash list")
        return owners[found], found

    def counts(self) -> Counter[str]:
        """Return how many snapshots each session has, also deleted sessions."""
        return self.holdings().counts

    def holdings(self) -> SnapshotTotals:
        """Return how many snapshots are on disk, and how large they are."""
        owners, size = self._store.holdings()
        return SnapshotTotals(Counter(owners.values()), size)

    def _change(self, session_id: str, snapshot_id: str, **fields: str | bool) -> None:
        """Store a snapshot again with other values for some fields."""
        storage = self._storage_of(session_id)
        read = storage.read(session_id, snapshot_id)
        if read.older:
            raise StoreError(
                f"snapshot {snapshot_id} is from an earlier version; its files are not changed",
                "restore it and take a new one",
            )
        summary = storage.write(replace(read.snapshot, changed_at=clock.now(), **fields))
        storage.refresh(session_id, summary)

    def _storage_of(self, session_id: str) -> SnapshotStorage:
        """Return where the snapshots of a session are kept."""
        return self._memory if session_id in self._ephemeral else self._store


def one_line(name: str) -> str:
    """Return a name without line ends and control characters, cut to `LONGEST_NAME`."""
    return " ".join(clean(name).split())[:LONGEST_NAME].rstrip()


def _only_one(prefix: str, ids: Collection[str], what: str, hint: str) -> str:
    """Return the only id that begins with `prefix`, in any case. StoreError or AmbiguousId."""
    beginning = prefix.lower()
    matches = [key for key in ids if beginning and key.lower().startswith(beginning)]
    if prefix in matches:
        return prefix
    if not matches:
        raise StoreError(f"no {what} {prefix!r}", hint)
    if len(matches) > 1:
        examples = ", ".join(sorted(matches)[:EXAMPLES])
        raise AmbiguousId(
            f"{prefix!r} matches {len(matches)} {what}s: {examples}", "use a longer id"
        )
    return matches[0]


def _after(before: list[SnapshotSummary], moment: str) -> str:
    """Return `moment`, or a time just after the latest snapshot if the clock went back."""
    # The times of earlier programs and of damaged files are not to be trusted.
    own = (each for each in before if each.reason != "older" and not each.damage)
    latest = max((each.timestamp for each in own), default="")
    if moment > latest:
        return moment
    try:
        return clock.iso(clock.parse(latest) + timedelta(microseconds=1))
    except (ValueError, OverflowError):
        return moment
