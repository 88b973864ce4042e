"""Copies of files that tools may change, named by their content, as far as there is room.

They are not synced one by one: the name tells whether a copy is whole.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from pathlib import Path

from ollm_tui.storage.atomic_file import read_regular
from ollm_tui.storage.cache_file import write_cache
from ollm_tui.storage.cipher import CannotOpenError, Cipher
from ollm_tui.storage.layout import make_directory

_NAME_LENGTH = 64


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
        if name not in self._sizes and self._bytes + len(data) <= self._most_bytes:
            make_directory(self._folder)
            path = self._folder / name
            write_cache(path, self._cipher.seal(data, name))
            if path.is_file():
                self._count(name, path.stat().st_size)
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

    def _count(self, name: str, size: int) -> None:
        self._sizes[name] = size
        self._bytes += size

    def _find(self) -> dict[str, int]:
        try:
            with os.scandir(self._folder) as entries:
                found = [entry for entry in entries if len(entry.name) == _NAME_LENGTH]
                return {entry.name: entry.stat().st_size for entry in found}
        except OSError:
            return {}
