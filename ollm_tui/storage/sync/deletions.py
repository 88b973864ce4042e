"""Which sessions the user deleted, until the other machines have been told."""

from __future__ import annotations

import os
from collections.abc import Collection

from ollm_tui.storage.files.atomic_file import (
    open_for_writing,
    read_regular,
    write_all,
    write_atomically,
)
from ollm_tui.storage.store_layout import StoreLayout, is_valid_name, remove_tree

FOLDER = "sync"
"""The folder of a store in which syncing keeps its files."""
BACKUP = "before-first-sync"
"""The folder in it with the sessions as they were before the first merge."""


class Deletions:
    """The list of one store. Where nothing is synced, there is none and nothing is noted."""

    def __init__(self, layout: StoreLayout) -> None:
        self._folder = layout.root / FOLDER
        self._copies = StoreLayout(self._folder / BACKUP / layout.sessions.relative_to(layout.root))
        self._file = self._folder / "deleted"

    @property
    def are_told(self) -> bool:
        """Whether other machines are told of deletions."""
        return self._folder.is_dir()

    def note(self, session_ids: Collection[str]) -> None:
        """Note that the user deleted sessions. OSError."""
        if not session_ids or not self.are_told:
            return
        descriptor = open_for_writing(self._file, os.O_APPEND)
        try:
            write_all(descriptor, "".join(f"{each}\n" for each in session_ids).encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def erase_copies(self, session_ids: Collection[str]) -> None:
        """Remove deleted sessions from the copy that was made before the first merge. OSError."""
        if self._copies.sessions.is_dir():
            for session_id in session_ids:
                for path in self._copies.belongings(session_id).values():
                    remove_tree(path)

    def all(self) -> list[str]:
        """Return the sessions that the other machines have not been told of."""
        try:
            lines = read_regular(self._file).decode("utf-8", "replace").splitlines()
        except FileNotFoundError:
            return []
        return [line for line in dict.fromkeys(lines) if is_valid_name(line)]

    def forget(self, session_ids: Collection[str]) -> None:
        """Leave out what the other machines have been told."""
        told = set(session_ids)
        rest = [each for each in self.all() if each not in told]
        write_atomically(self._file, [f"{each}\n".encode() for each in rest])
