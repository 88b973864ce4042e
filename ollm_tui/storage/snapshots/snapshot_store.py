"""The store of snapshots, on disk or in memory only.

On disk each snapshot has a file of its own, so that a damaged one hides no other.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from ollm_tui.core.errors import StoreError
from ollm_tui.core.session.encoding import CannotDecode
from ollm_tui.core.snapshot import ContextSnapshot, SnapshotSummary, summary_of
from ollm_tui.core.snapshot_encoding import (
    KnownMessages,
    MessageBytes,
    decode_snapshot,
    decode_with,
)
from ollm_tui.core.unkept_outputs import snapshot_without_outputs
from ollm_tui.storage.files.cipher import CannotOpenError, Cipher, Plain
from ollm_tui.storage.sessions.directory import file_time
from ollm_tui.storage.sessions.session_store import SessionStore
from ollm_tui.storage.snapshots.snapshot_file import (
    SnapshotRead,
    file_name,
    id_in,
    read_snapshot,
    write_snapshot,
)
from ollm_tui.storage.snapshots.snapshot_index import FileMark, Listing, Rows, SnapshotIndex
from ollm_tui.storage.snapshots.snapshot_map import SnapshotMap
from ollm_tui.storage.store_layout import StoreLayout, is_valid_name, make_directory, sync_directory

ASIDE = "deleted"
"""The folder beside that of the snapshots, for those that were deleted and can be restored."""


class _Found(NamedTuple):
    path: str
    mark: FileMark


class SnapshotStore:
    """The snapshots of all sessions on disk. Callers that add one hold the lock of its session."""

    def __init__(
        self, layout: StoreLayout, cipher: Cipher | None = None, *, keeps_outputs: bool = True
    ) -> None:
        """`keeps_outputs`: whether what tools and commands printed is written, too."""
        self._layout = layout
        self._keeps_outputs = keeps_outputs
        self._cipher = cipher or Plain()
        self._map = SnapshotMap(layout)
        self._written = MessageBytes()
        self._folders_of = lru_cache(maxsize=8)(layout.snapshot_folders)

    def write(self, snapshot: ContextSnapshot) -> SnapshotSummary:
        """Write a snapshot durably. OSError if that fails. The index is left to `refresh`."""
        if not self._keeps_outputs:
            snapshot = snapshot_without_outputs(snapshot)
        folder = self._folder(snapshot.session_id)
        make_directory(folder)
        path = folder / file_name(snapshot.id)
        size = write_snapshot(path, snapshot, self._cipher, self._written)
        self._tell()
        return summary_of(snapshot, size)

    def read(
        self, session_id: str, snapshot_id: str, known: KnownMessages | None = None
    ) -> SnapshotRead:
        """Read a snapshot. StoreError if there is none, or it cannot be read.

        With the `known` messages of its session that is faster.
        """
        path = self._path(session_id, snapshot_id)
        decode = decode_snapshot
        if known is not None:
            decode = partial(decode_with, known=known, written=self._written)
        try:
            return read_snapshot(path, session_id, snapshot_id, self._cipher, decode)
        except (OSError, CannotOpenError, CannotDecode) as error:
            reason = _reason(error)
            raise StoreError(
                f"cannot read snapshot {snapshot_id}: {reason}",
                "nothing changed; the session and other snapshots are fine",
            ) from error

    def has(self, session_id: str, snapshot_id: str) -> bool:
        """Whether there is a snapshot of that id."""
        return snapshot_id in self._find(session_id)

    def summaries(self, session_id: str) -> list[SnapshotSummary]:
        """Return the snapshots of a session, newest first; those that cannot be read say why."""
        return self.listing(session_id).summaries

    def listing(self, session_id: str) -> Listing:
        """Return the snapshots of a session together with what `note` needs."""
        return self._list(session_id, None, writes=False)

    def note(self, listing: Listing, added: SnapshotSummary, removed: Collection[str]) -> None:
        """Update the index after a change since the listing, without looking at all files again.

        What other processes changed meanwhile is seen at the next listing.
        """
        session_id, folder = added.session_id, self._folder(added.session_id)
        status = (folder / file_name(added.id)).stat()
        rows = {key: row for key, row in listing.rows.items() if key not in removed}
        rows[added.id] = (added, _mark(status))
        SnapshotIndex(folder, session_id, self._cipher).write(rows, listing.owner)

    def refresh(self, session_id: str, new: SnapshotSummary | None = None) -> None:
        """Update the index after a change; a `new` snapshot need not be read again."""
        self._list(session_id, new, writes=True)

    def owners(self) -> dict[str, str]:
        """Return the session of every snapshot."""
        return self._map.owners()

    def holdings(self) -> tuple[dict[str, str], int]:
        """Return the session of every snapshot, and the size of all of them in bytes."""
        return self._map.holdings()

    def remove(self, session_id: str, snapshot_ids: Collection[str]) -> list[str]:
        """Remove snapshots for good; returns those that were removed."""
        # Not synced: if a power cut brings one back, it is removed again later.
        gone: list[str] = []
        for snapshot_id in snapshot_ids:
            try:
                self._path(session_id, snapshot_id).unlink()
            except (OSError, StoreError):
                continue
            gone.append(snapshot_id)
        self._tell()
        return gone

    def put_aside(self, session_id: str, snapshot_id: str) -> None:
        """Delete a snapshot in a way that `put_back` can undo. StoreError or OSError."""
        path = self._path(session_id, snapshot_id)
        aside = path.parent.parent / ASIDE
        make_directory(aside)
        _move(path, aside / path.name)
        self._tell()
        self.refresh(session_id)

    def put_back(self, session_id: str, snapshot_id: str) -> None:
        """Restore a deleted snapshot. StoreError if it is gone for good, or OSError."""
        for folder in self._folders(session_id):
            aside = folder.parent / ASIDE / file_name(snapshot_id)
            if os.path.lexists(aside):
                make_directory(folder)
                _move(aside, folder / aside.name)
                self._tell()
                self.refresh(session_id)
                return
        raise StoreError(f"snapshot {snapshot_id} is permanently deleted", "ollm snapshots list")

    def aside(self) -> Iterator[tuple[SnapshotSummary, str]]:
        """Yield every snapshot that was put aside, and when."""
        for session_id, key, path in self._put_aside():
            try:
                status = path.lstat()
            except OSError:
                continue  # brought back in between
            mark = _mark(status)
            moved = file_time(status.st_ctime_ns)  # renaming a file sets this time
            yield self._summary(path, session_id, key, mark), moved

    def empty_aside(self, before_ns: int) -> None:
        """Remove for good what was put aside before a time; what cannot be removed stays."""
        for _, _, path in self._put_aside():
            try:
                if path.lstat().st_ctime_ns < before_ns:
                    path.unlink()
            except OSError:
                continue

    def _put_aside(self) -> Iterator[tuple[str, str, Path]]:
        """Yield the session, id and file of every snapshot that was put aside."""
        layout = self._layout
        for place in (layout.snapshots, layout.older_snapshots, layout.older_sessions):
            for session_id in _names_in(place):
                folder = place / session_id / ASIDE
                for name in _names_in(folder):
                    if key := id_in(name):
                        yield session_id, key, folder / name

    def _list(self, session_id: str, new: SnapshotSummary | None, *, writes: bool) -> Listing:
        if not is_valid_name(session_id):
            return Listing([], {}, "nobody")
        found = self._find(session_id)
        index = SnapshotIndex(self._folder(session_id), session_id, self._cipher)
        known, owner = index.rows()
        rows: Rows = {}
        damaged: list[SnapshotSummary] = []
        for key, (path, mark) in found.items():
            row = known.get(key)
            if new and key == new.id:
                rows[key] = (new, mark)
            elif row and row[1] == mark:
                rows[key] = row
            else:
                summary = self._summary(Path(path), session_id, key, mark)
                if summary.damage:
                    damaged.append(summary)
                else:
                    rows[key] = (summary, mark)
        # Where nothing of ours was written yet, an earlier program's index stays as it is.
        if rows != known and (writes or owner != "another") and self._folder(session_id).is_dir():
            index.write(rows, owner)
        summaries = [*(summary for summary, _ in rows.values()), *damaged]
        summaries.sort(key=lambda each: each.timestamp, reverse=True)
        return Listing(summaries, rows, owner)

    def _summary(
        self, path: Path, session_id: str, snapshot_id: str, mark: FileMark
    ) -> SnapshotSummary:
        try:
            read = read_snapshot(path, session_id, snapshot_id, self._cipher)
        except (OSError, CannotOpenError, CannotDecode) as error:
            return SnapshotSummary(
                id=snapshot_id,
                session_id=session_id,
                timestamp=file_time(mark[1]),
                size=mark[0],
                damage=_reason(error),
            )
        return summary_of(read.snapshot, mark[0])

    def _find(self, session_id: str) -> dict[str, _Found]:
        found: dict[str, _Found] = {}
        for folder in self._folders(session_id):
            for key, each in _files_in(folder):
                found.setdefault(key, each)
        return found

    def _path(self, session_id: str, snapshot_id: str) -> Path:
        if is_valid_name(snapshot_id):
            for folder in self._folders(session_id):
                path = folder / file_name(snapshot_id)
                if os.path.lexists(path):
                    return path
        raise StoreError(f"no snapshot {snapshot_id}", "ollm snapshots list")

    def _tell(self) -> None:
        """Let the time of the folder of all snapshots tell that one of them changed."""
        try:
            os.utime(self._layout.snapshots)
        except OSError:
            pass  # those of an earlier program are elsewhere

    def _folder(self, session_id: str) -> Path:
        return self._folders_of(session_id)[0]

    def _folders(self, session_id: str) -> tuple[Path, ...]:
        return self._folders_of(session_id) if is_valid_name(session_id) else ()


def snapshots_beside(sessions: SessionStore) -> SnapshotStore:
    """Return the snapshots of a store of sessions, which are stored as these are."""
    return SnapshotStore(sessions.layout, sessions.cipher, keeps_outputs=sessions.keeps_outputs)


class SnapshotMemory:
    """Snapshots kept in memory: they are gone when the program ends."""

    def __init__(self) -> None:
        self._kept: dict[str, ContextSnapshot] = {}
        self._aside: dict[str, ContextSnapshot] = {}

    def write(self, snapshot: ContextSnapshot) -> SnapshotSummary:
        """Keep a snapshot; its size counts as 0."""
        self._kept[snapshot.id] = snapshot
        return summary_of(snapshot, 0)

    def refresh(self, session_id: str, new: SnapshotSummary | None = None) -> None:
        """Do nothing: there is no index."""

    def read(
        self, session_id: str, snapshot_id: str, known: KnownMessages | None = None
    ) -> SnapshotRead:
        """Return a snapshot. StoreError if there is none."""
        return SnapshotRead(self._of(session_id, snapshot_id), older=False)

    def note(self, listing: Listing, added: SnapshotSummary, removed: Collection[str]) -> None:
        """Do nothing: there is no index."""

    def listing(self, session_id: str) -> Listing:
        """Return the snapshots of a session; there is no index."""
        return Listing(self.summaries(session_id), {}, "nobody")

    def summaries(self, session_id: str) -> list[SnapshotSummary]:
        """Return the snapshots of a session, newest first."""
        kept = (each for each in self._kept.values() if each.session_id == session_id)
        summaries = [summary_of(each, 0) for each in kept]
        return sorted(summaries, key=lambda each: each.timestamp, reverse=True)

    def owners(self) -> dict[str, str]:
        """Return the session of every snapshot."""
        return {key: snapshot.session_id for key, snapshot in self._kept.items()}

    def remove(self, session_id: str, snapshot_ids: Collection[str]) -> list[str]:
        """Remove snapshots; returns those that were removed."""
        return [key for key in snapshot_ids if self._kept.pop(key, None)]

    def put_aside(self, session_id: str, snapshot_id: str) -> None:
        """Delete a snapshot in a way that `put_back` can undo. StoreError if there is none."""
        self._aside[snapshot_id] = self._of(session_id, snapshot_id)
        del self._kept[snapshot_id]

    def put_back(self, session_id: str, snapshot_id: str) -> None:
        """Restore a deleted snapshot. StoreError if it is gone for good."""
        if snapshot_id not in self._aside:
            raise StoreError(f"snapshot {snapshot_id} is permanently deleted", "take another one")
        self._kept[snapshot_id] = self._aside.pop(snapshot_id)

    def _of(self, session_id: str, snapshot_id: str) -> ContextSnapshot:
        snapshot = self._kept.get(snapshot_id)
        if snapshot is None or snapshot.session_id != session_id:
            raise StoreError(f"no snapshot {snapshot_id}", "/snapshot takes one")
        return snapshot


def _names_in(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries]
    except OSError:
        return []


def _files_in(folder: Path) -> Iterator[tuple[str, _Found]]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if key := id_in(entry.name):
            try:
                status = entry.stat()
            except OSError:
                continue  # removed in between
            if stat.S_ISREG(status.st_mode):
                yield key, _Found(entry.path, _mark(status))


def _mark(status: os.stat_result) -> FileMark:
    return status.st_size, status.st_mtime_ns, status.st_ino


def _move(path: Path, target: Path) -> None:
    path.rename(target)
    sync_directory(target.parent)
    sync_directory(path.parent)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error)
