"""Copies of files that tools may change, named by their content, as far as there is room.

They are not synced one by one: the name tells whether a copy is whole.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable
from pathlib import Path

import msgspec

from ollm_tui.core import clock
from ollm_tui.core.file_change import FileChange, FileContent
from ollm_tui.storage.files.atomic_file import read_regular, write_all, write_atomically
from ollm_tui.storage.files.cipher import CannotOpenError, Cipher
from ollm_tui.storage.store_layout import make_directory

MOST_CHANGES = 5_000

_NAME_LENGTH = 64
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC

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


class FileCopies:
    """The copies of one session."""

    def __init__(self, folder: Path, cipher: Cipher, most_bytes: int) -> None:
        self._folder = folder
        self._cipher = cipher
        self._most_bytes = most_bytes
        self._sizes = self._find()
        self._bytes = sum(self._sizes.values())

    def put(self, data: bytes) -> str:
        """Keep bytes, if there is room; answers with their name in any case. OSError."""
        name = hashlib.sha256(data).hexdigest()
        # One that is shorter was cut off when the machine or the program stopped.
        is_kept = self._sizes.get(name, -1) >= len(data)
        if not is_kept and self._bytes + len(data) <= self._most_bytes:
            if not self._sizes:
                make_directory(self._folder)
            self._write(name, self._cipher.seal(data, name))
        return name

    def get(self, name: str) -> bytes | None:
        """The bytes again; None if there is no copy, or it is not the same any more."""
        try:
            data = self._cipher.open(read_regular(self._folder / name), name)
        except (OSError, CannotOpenError):
            return None
        return data if hashlib.sha256(data).hexdigest() == name else None

    def sizes(self, names: Collection[str]) -> int:
        """The bytes some copies take, those that there are."""
        return sum(self._sizes.get(name, 0) for name in names)

    def keep_only(self, names: Collection[str]) -> None:
        """Remove copies nobody needs any more; what resists is in nobody's way."""
        for name in [name for name in self._sizes if name not in names]:
            try:
                (self._folder / name).unlink(missing_ok=True)
            except OSError:
                continue
            self._bytes -= self._sizes.pop(name)

    def _write(self, name: str, data: bytes) -> None:
        """Not at all where that fails. A workspace may have thousands: no lock and no renaming."""
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
