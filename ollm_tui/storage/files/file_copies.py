"""What tools changed in the workspace: the changes of a session, and copies of the files.

Copies are named by their content. They are not synced: the name tells whether one is whole.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable
from pathlib import Path

import msgspec

from ollm_tui.core import clock
from ollm_tui.core.snapshot import FileChange, FileContent
from ollm_tui.storage.files.atomic_file import read_regular, write_all, write_atomically
from ollm_tui.storage.files.cipher import CannotOpenError, Cipher
from ollm_tui.storage.store_layout import make_directory

MOST_CHANGES = 5_000

_NAME_LENGTH = 64
"""Characters of a SHA-256 in hexadecimal."""
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC

Found = tuple[str, FileContent | None, FileContent | None]
"""A path with the file before and after a change; None where there was no file."""


class FileChangeLog:
    """The changes of one session, oldest first; the oldest of more than MOST_CHANGES go."""

    def __init__(self, path: Path, place: str, cipher: Cipher) -> None:
        self._path = path
        self._place = place
        self._cipher = cipher
        self.changes = self._read()

    def add(self, found: Iterable[Found]) -> tuple[FileChange, ...]:
        """Number changes and make them durable. OSError if they cannot be written."""
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
        """Return the names of all contents in the log."""
        contents = (each for change in self.changes for each in (change.before, change.after))
        return {content.sha256 for content in contents if content and content.sha256}

    def _read(self) -> list[FileChange]:
        try:
            data = self._cipher.open(read_regular(self._path), self._place)
            return msgspec.json.decode(data, type=list[FileChange])
        except (OSError, CannotOpenError, msgspec.MsgspecError):
            return []  # without a readable log there is nothing to go back to


class FileCopies:
    """The copies of one session."""

    def __init__(self, folder: Path, cipher: Cipher, most_bytes: int) -> None:
        self._folder = folder
        self._cipher = cipher
        self._most_bytes = most_bytes
        self._sizes = self._find()
        self._bytes = sum(self._sizes.values())

    def put(self, data: bytes) -> str:
        """Keep bytes if there is room, and return their name in any case.

        OSError if the folder cannot be created.
        """
        name = hashlib.sha256(data).hexdigest()
        # A shorter copy was cut off by a crash; a sealed one is longer than its content.
        is_kept = self._sizes.get(name, -1) >= len(data)
        if not is_kept and self._bytes + len(data) <= self._most_bytes:
            if not self._sizes:
                make_directory(self._folder)
            self._write(name, self._cipher.seal(data, name))
        return name

    def get(self, name: str) -> bytes | None:
        """Return the bytes of a copy; None if there is none, or it is damaged."""
        try:
            data = self._cipher.open(read_regular(self._folder / name), name)
        except (OSError, CannotOpenError):
            return None
        return data if hashlib.sha256(data).hexdigest() == name else None

    def sizes(self, names: Collection[str]) -> int:
        """Return the bytes on disk of those of these copies that exist."""
        return sum(self._sizes.get(name, 0) for name in names)

    def keep_only(self, names: Collection[str]) -> None:
        """Remove all other copies; those that cannot be removed stay."""
        for name in [name for name in self._sizes if name not in names]:
            try:
                (self._folder / name).unlink(missing_ok=True)
            except OSError:
                continue
            self._bytes -= self._sizes.pop(name)

    def _write(self, name: str, data: bytes) -> None:
        """Write a copy; if that fails there is none."""
        # No temporary file and no lock: a workspace may have thousands of files.
        path = f"{self._folder}/{name}"
        self._bytes -= self._sizes.pop(name, 0)
        try:
            descriptor = os.open(path, _WRITING, 0o600)
        except OSError:
            return
        try:
            write_all(descriptor, data)
        except OSError:
            Path(path).unlink()
        else:
            self._sizes[name] = len(data)
            self._bytes += len(data)
        finally:
            os.close(descriptor)

    def _find(self) -> dict[str, int]:
        try:
            with os.scandir(self._folder) as entries:
                found = [entry for entry in entries if len(entry.name) == _NAME_LENGTH]
                return {entry.name: entry.stat().st_size for entry in found}
        except OSError:
            return {}
