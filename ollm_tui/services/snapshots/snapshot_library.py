"""The snapshots of a store as a user handles them: taken, listed, named, deleted, found.

Everything here is plain and synchronous, so that a listing command starts no event loop;
front ends with one go through `Snapshots`.
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
from ollm_tui.storage.snapshots.snapshot_file import SnapshotRead
from ollm_tui.storage.snapshots.snapshot_index import Listing
from ollm_tui.storage.snapshots.snapshot_store import SnapshotMemory, SnapshotStore
from ollm_tui.storage.store_layout import StoreLayout

DELETED_DAYS = 7
"""For so long a deleted snapshot can be brought back."""
LONGEST_NAME = 80
EXAMPLES = 3


class SnapshotStorage(Protocol):
    """Where snapshots are kept."""

    def write(self, snapshot: ContextSnapshot) -> SnapshotSummary:
        """Keep a snapshot, durably."""
        ...

    def refresh(self, session_id: str, new: SnapshotSummary | None = None) -> None:
        """Bring what is derived up to date."""
        ...

    def read(
        self, session_id: str, snapshot_id: str, known: KnownMessages | None = None
    ) -> SnapshotRead:
        """One snapshot; what is known of its messages need not be read."""
        ...

    def summaries(self, session_id: str) -> list[SnapshotSummary]:
        """The snapshots of a session, newest first."""
        ...

    def listing(self, session_id: str) -> Listing:
        """The same, with what `note` needs."""
        ...

    def note(self, listing: Listing, added: SnapshotSummary, removed: Collection[str]) -> None:
        """Bring what is derived up to date after a change since the listing."""
        ...

    def owners(self) -> dict[str, str]:
        """The session of every snapshot."""
        ...

    def remove(self, session_id: str, snapshot_ids: Collection[str]) -> list[str]:
        """Remove some for good; answers with those that went."""
        ...

    def put_aside(self, session_id: str, snapshot_id: str) -> None:
        """Take one away for a while."""
        ...

    def put_back(self, session_id: str, snapshot_id: str) -> None:
        """Bring it back."""
        ...


class Taken(NamedTuple):
    """A snapshot that is kept now, and the older ones that had to go for it."""

    summary: SnapshotSummary
    removed: tuple[str, ...]


class Deleted(NamedTuple):
    """A snapshot that can still be brought back."""

    summary: SnapshotSummary
    at: str


class SnapshotTotals(NamedTuple):
    """How much there is."""

    counts: Counter[str]
    """Snapshots of each session; also of sessions that are gone."""
    size: int
    """Bytes of all of them."""


class SnapshotLibrary:
    """All snapshots of one store; those of ephemeral sessions are kept in memory.

    StoreError where something cannot be done, OSError where the disk refuses.
    """

    def __init__(self, store: SnapshotStore) -> None:
        self._store = store
        self._memory = SnapshotMemory()
        self._ephemeral: set[str] = set()

    @classmethod
    def at(cls, layout: StoreLayout, cipher: Cipher | None = None) -> SnapshotLibrary:
        """The library of the store that lies there."""
        return cls(SnapshotStore(layout, cipher))

    def keep_in_memory(self, session_id: str) -> None:
        """Nothing of this session may reach the disk."""
        self._ephemeral.add(session_id)

    def create(
        self, snapshot: ContextSnapshot, most_automatic: int, needed: Collection[str] = ()
    ) -> Taken:
        """Keep a snapshot, durably; of the automatic ones of its session only the newest stay,
        and those that are needed."""
        session_id, shelf = snapshot.session_id, self._shelf(snapshot.session_id)
        listing = shelf.listing(session_id)
        before = listing.summaries
        snapshot = replace(snapshot, timestamp=_after(before, snapshot.timestamp))
        summary = shelf.write(snapshot)
        automatic = [each.id for each in (summary, *before) if each.is_automatic]
        too_many = [key for key in automatic[most_automatic:] if key not in needed]
        removed = shelf.remove(session_id, too_many)
        shelf.note(listing, summary, removed)
        return Taken(summary, tuple(removed))

    def list(self, session_id: str) -> list[SnapshotSummary]:
        """The snapshots of a session, newest first."""
        return self._shelf(session_id).summaries(session_id)

    def get(
        self, session_id: str, snapshot_id: str, known: KnownMessages | None = None
    ) -> ContextSnapshot:
        """One snapshot, read; sooner where its messages are known."""
        return self._shelf(session_id).read(session_id, snapshot_id, known).snapshot

    def rename(self, session_id: str, snapshot_id: str, name: str) -> None:
        """Give a snapshot a name, or none; named ones are never removed by themselves."""
        self._change(session_id, snapshot_id, name=one_line(name))

    def pin(self, session_id: str, snapshot_id: str, pinned: bool) -> None:
        """Keep a snapshot whatever its name; or no longer."""
        self._change(session_id, snapshot_id, pinned=pinned)

    def delete(self, session_id: str, snapshot_id: str) -> None:
        """Take a snapshot away; for some days it can be brought back."""
        self._shelf(session_id).put_aside(session_id, snapshot_id)

    def undelete(self, session_id: str, snapshot_id: str) -> None:
        """Bring a deleted snapshot back."""
        self._shelf(session_id).put_back(session_id, snapshot_id)

    def deleted(self) -> list[Deleted]:
        """What can be brought back, the latest first."""
        found = itertools.starmap(Deleted, self._store.aside())
        return sorted(found, key=lambda each: each.at, reverse=True)

    def empty_old_deleted(self) -> None:
        """Remove for good what was deleted long ago."""
        kept_ns = int(timedelta(days=DELETED_DAYS).total_seconds()) * 10**9
        self._store.empty_aside(time.time_ns() - kept_ns)

    def find(self, prefix: str) -> tuple[str, str]:
        """The session and the id of the one snapshot whose id starts like this.

        StoreError if there is none, AmbiguousId if there are several.
        """
        owners = self._store.owners() | self._memory.owners()
        found = _only_one(prefix, owners, "snapshot", "ollm snapshots list")
        return owners[found], found

    def find_deleted(self, prefix: str) -> tuple[str, str]:
        """The same among those that can be brought back."""
        owners = {each.summary.id: each.summary.session_id for each in self.deleted()}
        found = _only_one(prefix, owners, "deleted snapshot", "ollm snapshots trash list")
        return owners[found], found

    def counts(self) -> Counter[str]:
        """How many snapshots each session has; also of sessions that are gone."""
        return self.holdings().counts

    def holdings(self) -> SnapshotTotals:
        """How many snapshots are on disk, and how large they are."""
        owners, size = self._store.holdings()
        return SnapshotTotals(Counter(owners.values()), size)

    def _change(self, session_id: str, snapshot_id: str, **fields: str | bool) -> None:
        shelf = self._shelf(session_id)
        read = shelf.read(session_id, snapshot_id)
        if read.older:
            raise StoreError(
                f"snapshot {snapshot_id} was taken by an earlier program, whose files stay as "
                "they are",
                "restore it and take a new one",
            )
        summary = shelf.write(replace(read.snapshot, **fields))
        shelf.refresh(session_id, summary)

    def _shelf(self, session_id: str) -> SnapshotStorage:
        return self._memory if session_id in self._ephemeral else self._store


def one_line(name: str) -> str:
    """A name that can be shown anywhere."""
    return " ".join(clean(name).split())[:LONGEST_NAME].rstrip()


def _only_one(prefix: str, ids: Collection[str], what: str, hint: str) -> str:
    wanted = prefix.lower()
    matches = [key for key in ids if wanted and key.lower().startswith(wanted)]
    if prefix in matches:
        return prefix
    if not matches:
        raise StoreError(f"there is no {what} {prefix!r}", hint)
    if len(matches) > 1:
        examples = ", ".join(sorted(matches)[:EXAMPLES])
        raise AmbiguousId(
            f"{prefix!r} could be {len(matches)} {what}s: {examples}", "give a few more characters"
        )
    return matches[0]


def _after(before: list[SnapshotSummary], moment: str) -> str:
    """A time later than that of every snapshot there is, also when the clock went back."""
    own = (each for each in before if each.reason != "older" and not each.damage)
    latest = max((each.timestamp for each in own), default="")
    if moment > latest:
        return moment
    try:
        return clock.iso(clock.parse(latest) + timedelta(microseconds=1))
    except (ValueError, OverflowError):
        return moment
