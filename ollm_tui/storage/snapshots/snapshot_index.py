"""The index of a session's snapshots: what a list shows of each, without opening its file.

It is a cache with the size, time and inode of every file, so files that changed since are seen
and read again.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from ollm_tui.core.snapshot import SNAPSHOT_VERSION, SnapshotSummary
from ollm_tui.storage.files.atomic_file import read_regular
from ollm_tui.storage.files.cache_file import is_json, write_cache
from ollm_tui.storage.files.cipher import MARK, CannotOpenError, Cipher, Plain

INDEX_NAME = "snapshots-index.json"

FileMark = tuple[int, int, int]
"""Size, time and inode of a file; a file that replaces it has another inode."""

Rows = dict[str, tuple[SnapshotSummary, FileMark]]


class _IndexFile(msgspec.Struct, frozen=True):
    version: str
    snapshots: tuple[SnapshotSummary, ...]
    marks: dict[str, FileMark]


Owner = Literal["nobody", "ours", "another"]
"""Whose index is there: `nobody`'s if there is none or it is broken, ours, or `another`'s, which
is that of an earlier program or one sealed with another key."""


class Listing(NamedTuple):
    """The snapshots of a session, and the rows its index should have."""

    summaries: list[SnapshotSummary]
    """Newest first; those that cannot be read say why."""
    rows: Rows
    owner: Owner


class SnapshotIndex:
    """The index in one folder of snapshots. Nothing here raises: it is all derived."""

    def __init__(self, folder: Path, session_id: str, cipher: Cipher) -> None:
        self._path = folder / INDEX_NAME
        self._place = f"{session_id}/snapshots-index"
        self._cipher = cipher

    def rows(self) -> tuple[Rows, Owner]:
        """Return the rows by the ids of the snapshots, and whose index it is."""
        try:
            data = read_regular(self._path)
            if not isinstance(self._cipher, Plain) and not data.startswith(MARK):
                return {}, "nobody"  # from before encryption was switched on
            data = self._cipher.open(data, self._place)
        except OSError:
            return {}, "nobody"
        except CannotOpenError:
            return {}, "another"
        try:
            found = msgspec.json.decode(data, type=_IndexFile)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return {}, "another" if is_json(data) else "nobody"
        marks = found.marks
        return {each.id: (each, marks[each.id]) for each in found.snapshots if each.id in marks}, (
            "ours" if found.version == SNAPSHOT_VERSION else "another"
        )

    def write(self, rows: Rows, owner: Owner) -> None:
        """Write rows in place of an index of that owner; `another`'s is kept under a new name."""
        index = _IndexFile(
            SNAPSHOT_VERSION,
            tuple(summary for summary, _ in rows.values()),
            {key: mark for key, (_, mark) in rows.items()},
        )
        if owner == "another":
            self._keep_original()
        try:
            data = msgspec.json.encode(index)
        except UnicodeEncodeError:
            return  # a lone surrogate in a title: without an index the files are read
        write_cache(self._path, self._cipher.seal(data, self._place))

    def _keep_original(self) -> None:
        try:
            os.link(self._path, self._path.with_name(f"{INDEX_NAME}.original"))
        except OSError:
            pass  # kept by an earlier attempt
