"""Which files a session has read, and what was in them: nobody overwrites what came later."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

MOST_FILES = 10_000


class FilesRead:
    """Remembers contents by their hash."""

    def __init__(self) -> None:
        self._hashes: dict[Path, bytes] = {}

    def note(self, path: Path, data: bytes) -> None:
        """The model has seen this, or wrote it."""
        self._hashes.pop(path, None)
        self._hashes[path] = sha256(data).digest()
        if len(self._hashes) > MOST_FILES:
            del self._hashes[next(iter(self._hashes))]

    def is_outdated(self, path: Path, data: bytes | None) -> bool:
        """Whether a file was read and is another one now; None: it is gone."""
        known = self._hashes.get(path)
        return known is not None and (data is None or sha256(data).digest() != known)
