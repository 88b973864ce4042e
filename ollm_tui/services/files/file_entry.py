"""One file of a project with its kind, size and time, which are read when they are asked for."""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Literal


class FileEntry:
    """A file, folder or link. Whatever has to be read of it may raise OSError."""

    def __init__(self, root: Path, relative_path: str) -> None:
        self.root = root
        self.relative_path = relative_path

    @property
    def path(self) -> Path:
        """The whole path."""
        return self.root / self.relative_path

    @property
    def kind(self) -> Literal["file", "folder", "link"]:
        """What is found at the path itself."""
        if stat.S_ISLNK(self._status.st_mode):
            return "link"
        return "folder" if stat.S_ISDIR(self._status.st_mode) else "file"

    @property
    def size(self) -> int:
        """The number of bytes, also of the file that a link leads to."""
        return self._target.st_size

    @property
    def modified(self) -> datetime:
        """When it was written last (UTC), or what a link leads to."""
        return datetime.fromtimestamp(self._target.st_mtime, UTC)

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder or a link to one; False if it cannot be read."""
        try:
            return stat.S_ISDIR(self._target.st_mode)
        except (OSError, ValueError):
            return False

    @cached_property
    def _status(self) -> os.stat_result:
        return self.path.lstat()

    @cached_property
    def _target(self) -> os.stat_result:
        """The status of what a link leads to; of the link itself if that is nowhere."""
        try:
            return self.path.stat() if self.kind == "link" else self._status
        except OSError:
            return self._status
