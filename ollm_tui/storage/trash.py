"""The trash: a session moves in, comes back, or goes for good; a crash in between is finished.

One directory per session. Creating or renaming it is the moment that counts: `ID` is in the
trash, `ID.restoring` is on its way back, `ID.deleting` is going for good. The files follow,
and whoever looks next moves what a crash left behind.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import msgspec

from ollm_tui.core import clock
from ollm_tui.core.errors import SessionNotFound, StoreError
from ollm_tui.storage.atomic_file import read_regular, write_atomically
from ollm_tui.storage.layout import (
    StoreLayout,
    is_valid_name,
    make_directory,
    remove_tree,
    sync_directory,
)

_RESTORING = ".restoring"
_DELETING = ".deleting"
_NOTE = "trashed.json"


class TrashNote(msgspec.Struct, frozen=True, rename="camel"):
    """Why and when a session was put into the trash, and what it was called."""

    session_id: str
    title: str = ""
    reason: str = ""
    trashed_at: str = clock.EPOCH


class _Place(NamedTuple):
    session_id: str
    state: str
    path: Path


class Trash:
    """The trash of one store. Callers hold the lock of the session they move."""

    def __init__(self, layout: StoreLayout) -> None:
        self._layout = layout

    def ids(self) -> set[str]:
        """Sessions that are not in the store any more, whatever still lies there."""
        return {place.session_id for place in self._places() if place.state != _RESTORING}

    def has(self, session_id: str) -> bool:
        """Whether a session is in the trash or on its way out."""
        here = self._layout.trash / session_id
        return here.is_dir() or here.with_name(session_id + _DELETING).is_dir()

    def put(self, note: TrashNote) -> None:
        """Move a session into the trash."""
        make_directory(self._layout.trash)
        entry = self._layout.trash / note.session_id
        prepared = entry.with_name(f".{entry.name}.tmp")
        make_directory(prepared)
        write_atomically(prepared / _NOTE, [msgspec.json.encode(note)])
        prepared.rename(entry)
        sync_directory(self._layout.trash)
        self._move_in(note.session_id, entry)

    def restore(self, session_id: str) -> None:
        """Bring a session back. SessionNotFound, or StoreError if its place is taken."""
        entry = self._layout.trash / session_id
        if not is_valid_name(session_id) or not entry.is_dir():
            raise SessionNotFound(
                f"there is no session {session_id} in the trash", "ollm sessions trash list"
            )
        if os.path.lexists(self._layout.session(session_id)):
            raise StoreError(
                f"session {session_id} exists already", "rename or delete the one that is there"
            )
        restoring = entry.rename(entry.with_name(session_id + _RESTORING))
        sync_directory(self._layout.trash)
        self._move_out(session_id, restoring)

    def delete(self, session_id: str) -> None:
        """Remove a session for good, from the store and from the trash."""
        make_directory(self._layout.trash)
        entry = self._layout.trash / session_id
        deleting = entry.with_name(session_id + _DELETING)
        if entry.is_dir() and not deleting.exists():
            entry.rename(deleting)
        else:
            make_directory(deleting)
        sync_directory(self._layout.trash)
        self._move_in(session_id, deleting)
        remove_tree(deleting)

    def notes(self) -> list[TrashNote]:
        """What is in the trash, newest first."""
        places = [place for place in self._places() if not place.state]
        notes = [_read_note(place) for place in places]
        return sorted(notes, key=lambda note: note.trashed_at, reverse=True)

    def recover(self) -> None:
        """Finish what a crash interrupted. Cheap when there is nothing to do."""
        for place in self._places():
            if place.state == _RESTORING:
                self._move_out(place.session_id, place.path)
                continue
            self._move_in(place.session_id, place.path)
            if place.state == _DELETING:
                remove_tree(place.path)

    def _places(self) -> list[_Place]:
        try:
            entries = list(os.scandir(self._layout.trash))
        except (FileNotFoundError, NotADirectoryError):
            return []
        places: list[_Place] = []
        for entry in entries:
            state = next((s for s in (_RESTORING, _DELETING) if entry.name.endswith(s)), "")
            session_id = entry.name.removesuffix(state)
            if is_valid_name(session_id) and entry.is_dir():
                places.append(_Place(session_id, state, Path(entry.path)))
        return places

    def _move_in(self, session_id: str, entry: Path) -> None:
        moved = False
        for name, path in self._layout.belongings(session_id).items():
            try:
                path.rename(entry / name)
                moved = True
            except FileNotFoundError:
                pass  # there is none, or somebody else is finishing the same move
        if moved:
            sync_directory(entry)
            sync_directory(self._layout.sessions)

    def _move_out(self, session_id: str, entry: Path) -> None:
        make_directory(self._layout.sessions)
        for name, path in self._layout.belongings(session_id).items():
            if os.path.lexists(entry / name):
                make_directory(path.parent)
                (entry / name).rename(path)
        sync_directory(self._layout.sessions)
        remove_tree(entry)


def _read_note(place: _Place) -> TrashNote:
    try:
        return msgspec.json.decode(read_regular(place.path / _NOTE), type=TrashNote)
    except (OSError, msgspec.MsgspecError):
        return TrashNote(place.session_id)
