"""The map of all snapshots: which session each belongs to, for lookups by id alone.

It is a cache with the times of the folders it is made from; only those that changed are read
again.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ollm_tui.storage.files.atomic_file import read_regular
from ollm_tui.storage.files.cache_file import is_json, write_cache
from ollm_tui.storage.snapshots.snapshot_file import id_in
from ollm_tui.storage.store_layout import StoreLayout, is_valid_name

SETTLED_AFTER_NS = 2 * 10**9
"""A folder that changed just now may change again without getting another time."""

Times = tuple[int, ...]
"""When each folder of a session changed, 0 where there is none; empty if that is too recent."""


class _MapFile(msgspec.Struct, frozen=True):
    snapshots: dict[str, str]
    """The session of each snapshot."""
    folders: dict[str, Times]
    """The times of the folders of each session."""
    sizes: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """Bytes of all snapshots of a session."""


class SnapshotMap:
    """The map of one store. Used by one thread at a time; nothing here raises, it is a cache."""

    def __init__(self, layout: StoreLayout) -> None:
        self._layout = layout
        self._known: _MapFile | None = None
        self._may_write = True

    def owners(self) -> dict[str, str]:
        """Return the session of every snapshot."""
        return dict(self._now().snapshots)

    def holdings(self) -> tuple[dict[str, str], int]:
        """Return the session of every snapshot, and the size of all of them in bytes."""
        known = self._now()
        return dict(known.snapshots), sum(known.sizes.values())

    def _now(self) -> _MapFile:
        known = self._known or self._read()
        times, sized = self._times(), known.sizes
        changed = {
            name
            for name, each in times.items()
            if each != known.folders.get(name) or name not in sized
        }
        if changed or known.folders.keys() - times.keys():
            known = self._brought_up_to_date(known, times, changed)
        self._known = known
        return known

    def _brought_up_to_date(
        self, known: _MapFile, times: dict[str, Times], changed: set[str]
    ) -> _MapFile:
        unchanged = times.keys() - changed
        snapshots = {key: name for key, name in known.snapshots.items() if name in unchanged}
        sizes = {name: size for name, size in known.sizes.items() if name in unchanged}
        for name in changed:
            found = self._look(name)
            snapshots |= dict.fromkeys(found, name)
            sizes[name] = sum(found.values())
        limit = time.time_ns() - SETTLED_AFTER_NS
        settled = {name: each for name, each in times.items() if max(each) < limit}
        updated = _MapFile(snapshots, {**dict.fromkeys(times, ()), **settled}, sizes)
        if updated != known:
            self._write(updated)
        return updated

    def _times(self) -> dict[str, Times]:
        found: dict[str, list[int]] = {}
        layout = self._layout
        places = (layout.snapshots, layout.older_snapshots, layout.older_sessions)
        for number, place in enumerate(places):
            for name, changed in folders_in(place):
                found.setdefault(name, [0] * len(places))[number] = changed
        return {name: tuple(times) for name, times in found.items()}

    def _look(self, session_id: str) -> dict[str, int]:
        """Return the snapshots of a session with their sizes in bytes."""
        # In reverse, so that the first folder wins, as it does in reading.
        found: dict[str, int] = {}
        for folder in reversed(self._layout.snapshot_folders(session_id)):
            found |= _sizes_in(folder)
        return found

    def _read(self) -> _MapFile:
        try:
            data = read_regular(self._layout.snapshot_map)
        except OSError:
            return _MapFile({}, {})
        try:
            return msgspec.json.decode(data, type=_MapFile)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            self._may_write = not is_json(data)  # an earlier program's map stays as it is
            return _MapFile({}, {})

    def _write(self, found: _MapFile) -> None:
        if self._may_write and self._layout.snapshots.is_dir():
            write_cache(self._layout.snapshot_map, msgspec.json.encode(found))


def _sizes_in(folder: Path) -> dict[str, int]:
    try:
        with os.scandir(folder) as entries:
            return {
                key: entry.stat(follow_symlinks=False).st_size
                for entry in entries
                if (key := id_in(entry.name))
            }
    except OSError:
        return {}


def folders_in(place: Path) -> Iterator[tuple[str, int]]:
    """Yield the sessions with a folder of snapshots in a place, and when it changed."""
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        with os.scandir(descriptor) as entries:
            names = [entry.name for entry in entries]
        for name in filter(is_valid_name, names):
            try:
                status = os.stat(f"{name}/snapshots", dir_fd=descriptor)
            except OSError:
                continue
            if stat.S_ISDIR(status.st_mode):
                yield name, status.st_mtime_ns
    finally:
        os.close(descriptor)
