"""Values too large for the session file: files of their own, named by their hash."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path

from ollm_tui.core.session.message import FileRef
from ollm_tui.storage.files.atomic_file import read_regular, write_atomically
from ollm_tui.storage.files.cipher import CannotOpenError, Cipher, Plain
from ollm_tui.storage.store_layout import make_directory

SIDE_FILE_FROM_BYTES = 256 * 1024


class SideFiles:
    """The side files of one session; the directory exists once there is one."""

    def __init__(self, directory: Path, cipher: Cipher | None = None) -> None:
        self._directory = directory
        self._cipher = cipher or Plain()
        self.kept: set[str] = set()
        """Names put through this object; what else lies there may be swept away."""

    def put(self, data: bytes) -> FileRef:
        """Keep bytes, durably, and say where."""
        data = self._cipher.seal(data, self._directory.name)
        reference = FileRef(hashlib.sha256(data).hexdigest(), len(data))
        if not self._has(reference):
            make_directory(self._directory)
            write_atomically(self._directory / reference.sha256, [data])
        self.kept.add(reference.sha256)
        return reference

    def get(self, reference: FileRef) -> bytes:
        """The bytes again. OSError if they are gone or are not the same any more."""
        data = self.remains(reference)
        if hashlib.sha256(data).hexdigest() != reference.sha256:
            raise OSError(f"side file {reference.sha256[:12]} is damaged")
        try:
            return self._cipher.open(data, self._directory.name)
        except CannotOpenError as error:
            raise OSError(f"side file {reference.sha256[:12]}: {error}") from error

    def remains(self, reference: FileRef) -> bytes:
        """Whatever lies where the bytes were put. OSError if that is nothing."""
        if len(reference.sha256) != 64 or not reference.sha256.isalnum():
            raise OSError("a side file has a name that is no hash")
        return read_regular(self._directory / reference.sha256)

    def keep_only(self, names: Collection[str]) -> None:
        """Remove the files nothing refers to any more; what resists is in nobody's way."""
        try:
            for path in list(self._directory.iterdir()):
                if path.name not in names:
                    path.unlink(missing_ok=True)
            if not names:
                self._directory.rmdir()
        except OSError:
            pass

    def _has(self, reference: FileRef) -> bool:
        try:
            return (self._directory / reference.sha256).stat().st_size == reference.size
        except OSError:
            return False
