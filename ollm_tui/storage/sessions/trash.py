"""The trash: sessions are moved in, restored or deleted for good; a crash in between is repaired.

Each session has a directory. Creating or renaming it decides: `ID` is in the trash,
`ID~restoring` is being restored, `ID~deleting` is being deleted. The files follow, and the next
process finishes what a crash left behind. Only one process moves files at a time.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from ollm_tui.core import clock
from ollm_tui.core.errors import SessionBusy, SessionNotFound, StoreError
from ollm_tui.storage.files.atomic_file import read_regular, write_atomically
from ollm_tui.storage.files.lock import open_locked
from ollm_tui.storage.store_layout import (
    StoreLayout,
    is_valid_name,
    make_directory,
    remove_tree,
    sync_directory,
    temporary_name,
)

# No name of a session contains a tilde.
_RESTORING = "~restoring"
_DELETING = "~deleting"
_STATES = ("", _RESTORING, _DELETING)
_NOTE = "trashed.json"
_LOCK = ".lock"
WAIT_SECONDS = 10
"""Moving takes milliseconds: a process that takes longer hangs."""


class TrashNote(msgspec.Struct, frozen=True, rename="camel"):
    """Why and when a session was put into the trash, and what it was called."""

    session_id: str
    title: str = ""
    reason: str = ""
    trashed_at: str = clock.EPOCH


class _TrashedSession(NamedTuple):
    session_id: str
    state: str
    path: Path


class Trash:
    """The trash of one store. Callers hold the lock of a session they move in."""

    def __init__(self, layout: StoreLayout, *, wait_seconds: float = WAIT_SECONDS) -> None:
        self._layout = layout
        self._wait_seconds = wait_seconds

    def ids(self) -> set[str]:
        """Return the sessions that do not count as in the store, whatever files are there."""
        return {trashed.session_id for trashed in self._trashed_sessions()}

    def has(self, session_id: str) -> bool:
        """Whether a session is in the trash, or being restored or deleted."""
        here = self._layout.trash / session_id
        return any(_is_directory(f"{here}{state}") for state in _STATES)

    def put(self, note: TrashNote) -> None:
        """Move a session into the trash. SessionBusy if another process is moving for long."""
        entry = self._layout.trash / note.session_id
        prepared = temporary_name(entry)
        with self._moving(self._wait_seconds):
            # Renamed only when complete: no session in the trash is without its note.
            make_directory(prepared)
            write_atomically(prepared / _NOTE, [_encoded(note)])
            prepared.rename(entry)
            sync_directory(self._layout.trash)
            self._move_in(note.session_id, entry)

    def restore(self, session_id: str) -> None:
        """Restore a session. SessionNotFound, or StoreError if the store has one of that id."""
        entry = self._layout.trash / session_id
        with self._moving(self._wait_seconds):
            if not is_valid_name(session_id) or not entry.is_dir():
                raise SessionNotFound(
                    f"no session {session_id} in the trash", "ollm sessions trash list"
                )
            if self._is_taken(session_id):
                raise StoreError(
                    f"session {session_id} already exists", "move the existing one away"
                )
            restoring = entry.rename(entry.with_name(session_id + _RESTORING))
            sync_directory(self._layout.trash)
            self._move_out(session_id, restoring)

    def delete(self, session_id: str) -> None:
        """Remove a session for good, from the store and from the trash."""
        try:
            self._delete(session_id)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            # A full disk has no room for the directory in the trash; deleting makes some.
            for path in self._layout.belongings(session_id).values():
                remove_tree(path)

    def notes(self) -> list[TrashNote]:
        """Return the notes of the sessions in the trash, newest first."""
        found = [trashed for trashed in self._trashed_sessions() if not trashed.state]
        notes = [_read_note(trashed) for trashed in found]
        return sorted(notes, key=lambda note: note.trashed_at, reverse=True)

    def recover(self) -> None:
        """Finish what a crash interrupted, if possible. Cheap when there is nothing to do."""
        if not any(map(self._is_unfinished, self._trashed_sessions())):
            return
        try:
            with self._moving(0):
                pass  # taking the lock finishes everything
        except (OSError, SessionBusy):
            pass  # another process does it, or nothing can be moved; it stays unlisted

    @contextmanager
    def _moving(self, wait_seconds: float) -> Generator[None]:
        """Lock the trash and finish what a crash left in it. SessionBusy or OSError."""
        make_directory(self._layout.trash)
        descriptor = _turn_to_move(self._layout.trash / _LOCK, wait_seconds)
        try:
            for prepared in self._layout.trash.glob(".*.tmp"):
                remove_tree(prepared)
            for trashed in filter(self._is_unfinished, self._trashed_sessions()):
                self._finish(trashed)
            yield
        finally:
            os.close(descriptor)

    def _delete(self, session_id: str) -> None:
        entry = self._layout.trash / session_id
        deleting = entry.with_name(session_id + _DELETING)
        with self._moving(self._wait_seconds):
            if entry.is_dir() and not deleting.exists():
                entry.rename(deleting)
            else:
                make_directory(deleting)
            sync_directory(self._layout.trash)
            self._move_in(session_id, deleting)
            remove_tree(deleting)

    def _is_unfinished(self, trashed: _TrashedSession) -> bool:
        belongings = self._layout.belongings(trashed.session_id).values()
        return bool(trashed.state) or any(map(os.path.lexists, belongings))

    def _finish(self, trashed: _TrashedSession) -> None:
        try:
            if trashed.state == _RESTORING:
                self._move_out(trashed.session_id, trashed.path)
                return
            self._move_in(trashed.session_id, trashed.path)
            if trashed.state == _DELETING:
                remove_tree(trashed.path)
        except OSError:
            pass  # one that cannot be moved does not hold up the others

    def _trashed_sessions(self) -> list[_TrashedSession]:
        try:
            entries = list(os.scandir(self._layout.trash))
        except OSError:
            return []
        found: list[_TrashedSession] = []
        for entry in entries:
            session_id, tilde, state = entry.name.partition("~")
            state = tilde + state
            if state in _STATES and is_valid_name(session_id) and _is_directory(entry.path):
                found.append(_TrashedSession(session_id, state, Path(entry.path)))
        return found

    def _move_in(self, session_id: str, entry: Path) -> None:
        """Move the files of a session into its directory in the trash."""
        # What is already there belongs to it; a file of that name in the store then does not.
        changed = {entry}
        for name, path in self._layout.belongings(session_id).items():
            if os.path.lexists(path) and not os.path.lexists(entry / name):
                path.rename(entry / name)
                changed.add(path.parent)
        for directory in changed:
            sync_directory(directory)

    def _move_out(self, session_id: str, entry: Path) -> None:
        for name, path in self._layout.origins(session_id).items():
            if os.path.lexists(entry / name):
                make_directory(path.parent)
                (entry / name).rename(path)
                sync_directory(path.parent)
        remove_tree(entry)

    def _is_taken(self, session_id: str) -> bool:
        """Whether the store has a session of that id."""
        # An empty journal is no session: it is left of an attempt to lock one.
        journal = self._layout.journal(session_id)
        return any(
            os.path.lexists(path) and (path != journal or path.lstat().st_size > 0)
            for path in self._layout.belongings(session_id).values()
        )


def _is_directory(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _turn_to_move(path: Path, wait_seconds: float) -> int:
    until = time.monotonic() + wait_seconds
    while True:
        try:
            return open_locked(path)
        except SessionBusy as error:
            if time.monotonic() >= until:
                raise SessionBusy(
                    "another ollm is moving sessions to or from the trash", "try again soon"
                ) from error
        time.sleep(0.005)


def _encoded(note: TrashNote) -> bytes:
    # UTF-8 cannot hold a lone surrogate, and this title is only shown.
    title = note.title.encode("utf-8", "replace").decode()
    return msgspec.json.encode(msgspec.structs.replace(note, title=title))


def _read_note(trashed: _TrashedSession) -> TrashNote:
    try:
        note = msgspec.json.decode(read_regular(trashed.path / _NOTE), type=TrashNote)
    except (OSError, msgspec.MsgspecError):
        return TrashNote(trashed.session_id)
    return msgspec.structs.replace(note, session_id=trashed.session_id)
