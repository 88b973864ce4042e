"""The list of what tools changed in a session, on disk; sealed where the store is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from ollm_tui.core import clock
from ollm_tui.core.file_change import FileChange, FileContent
from ollm_tui.storage.files.atomic_file import read_regular, write_atomically
from ollm_tui.storage.files.cipher import CannotOpenError, Cipher
from ollm_tui.storage.store_layout import make_directory

MOST_CHANGES = 5_000

Found = tuple[str, FileContent | None, FileContent | None]
"""A path, and what was and is there."""


class FileChangeLog:
    """The changes of one session, oldest first; of very many the oldest are forgotten."""

    def __init__(self, path: Path, place: str, cipher: Cipher) -> None:
        self._path = path
        self._place = place
        self._cipher = cipher
        self.changes = self._read()

    def add(self, found: Iterable[Found]) -> tuple[FileChange, ...]:
        """Make changes durable, numbered. OSError."""
        number = self.changes[-1].number if self.changes else 0
        moment = clock.now()
        new = tuple(FileChange(n, moment, *each) for n, each in enumerate(found, number + 1))
        if new:
            changes = [*self.changes, *new][-MOST_CHANGES:]
            make_directory(self._path.parent)
            data = msgspec.json.encode(changes)
            write_atomically(self._path, [self._cipher.seal(data, self._place)])
            self.changes = changes
        return new

    def names(self) -> set[str]:
        """The contents it speaks of."""
        contents = (each for change in self.changes for each in (change.before, change.after))
        return {content.sha256 for content in contents if content and content.sha256}

    def _read(self) -> list[FileChange]:
        try:
            data = self._cipher.open(read_regular(self._path), self._place)
            return msgspec.json.decode(data, type=list[FileChange])
        except (OSError, CannotOpenError, msgspec.MsgspecError):
            return []  # then there is nothing to go back to
