"""Side files: values too large for the session file or the journal, named by their hash."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from pathlib import Path

from ollm_tui.core.session.message import FileRef
from ollm_tui.storage.files.atomic_file import read_regular, write_atomically
from ollm_tui.storage.files.cipher import CannotOpenError, Cipher, Plain
from ollm_tui.storage.store_layout import make_directory

SIDE_FILE_FROM_BYTES = 256 * 1024
"""Keeps every line of a journal under 1 MB, also when it is sealed."""


class SideFiles:
    """The side files of one session; the directory exists once there is one."""

    def __init__(self, directory: Path, cipher: Cipher | None = None) -> None:
        self._directory = directory
        self._cipher = cipher or Plain()
        self.kept: set[str] = set()
        """Names put by this object; other files may be removed by `keep_only`."""

    def put(self, data: bytes) -> FileRef:
        """Write bytes durably and return a reference to them."""
        # The hash is that of the sealed bytes, so that damage is found without the key.
        data = self._cipher.seal(data, self._directory.name)
        reference = FileRef(hashlib.sha256(data).hexdigest(), len(data))
        if not self._has(reference):
            make_directory(self._directory)
            write_atomically(self._directory / reference.sha256, [data])
        self.kept.add(reference.sha256)
        return reference

    def get(self, reference: FileRef) -> bytes:
        """Return the bytes again. OSError if they are gone, damaged or cannot be opened."""
        data = self.remains(reference)
        if hashlib.sha256(data).hexdigest() != reference.sha256:
            raise OSError(f"side file {reference.sha256[:12]} is damaged")
        try:
            return self._cipher.open(data, self._directory.name)
        except CannotOpenError as error:
            raise OSError(f"side file {reference.sha256[:12]}: {error}") from error

    def remains(self, reference: FileRef) -> bytes:
        """Return the file as it is, damaged or not. OSError if there is none."""
        # The name comes from a file: as a path it could lead out of the directory.
        if len(reference.sha256) != 64 or not reference.sha256.isalnum():
            raise OSError("a side file has a name that is no hash")
        return read_regular(self._directory / reference.sha256)

    def keep_only(self, names: Collection[str]) -> None:
        """Remove all other files; those that cannot be removed stay."""
        try:
            for path in list(self._directory.iterdir()):
                if path.name not in names:
                    path.unlink(missing_ok=True)
            if not names:
                self._directory.rmdir()
        except OSError:
            pass

    def bytes(self) -> int:
        """Return the size of all files together."""
        try:
            with os.scandir(self._directory) as entries:
                return sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
        except OSError:
            return 0

    def _has(self, reference: FileRef) -> bool:
        try:
            return (self._directory / reference.sha256).stat().st_size == reference.size
        except OSError:
            return False
