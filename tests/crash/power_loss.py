"""What of a folder a power cut leaves: bytes that were synced, under names whose folder was."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import Any


class SyncedImage:
    """The folder as the disk has it for sure; everything in it is so at first.

    Files and folders are known by their inodes. What was never synced is an empty file.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._names: dict[int, dict[str, int]] = {}
        self._bytes: dict[int, bytes] = {}
        self._kept: list[int] = []
        """Descriptors of what was removed: so no other file gets its inode."""
        self._is_new = False
        for folder, _, files in os.walk(root):
            self._note_folder(Path(folder).stat().st_ino, Path(folder))
            for path in (Path(folder, name) for name in files):
                self._bytes[path.stat().st_ino] = path.read_bytes()

    def before(self, name: str, arguments: tuple[Any, ...]) -> None:
        """Look at what a call is about to change."""
        if name == "open":
            self._is_new = not Path(arguments[0]).exists()
        target = {"unlink": 0, "rmdir": 0, "rename": 1, "replace": 1}.get(name)
        if target is not None and Path(arguments[target]).exists():
            self._kept.append(os.open(arguments[target], os.O_RDONLY))

    def after(self, name: str, arguments: tuple[Any, ...], result: Any) -> None:
        """Take a call that succeeded into account."""
        if name == "open" and self._is_new:
            self._bytes[os.fstat(result).st_ino] = b""
        elif name == "mkdir":
            self._names[Path(arguments[0]).stat().st_ino] = {}
        elif name in ("fsync", "fdatasync"):
            found, here = os.fstat(arguments[0]), Path(f"/proc/self/fd/{arguments[0]}")
            if stat.S_ISDIR(found.st_mode):
                self._note_folder(found.st_ino, here)
            else:
                self._bytes[found.st_ino] = here.read_bytes()

    def restore(self) -> None:
        """Make the folder what the power cut leaves of it."""
        inode = self._root.stat().st_ino
        shutil.rmtree(self._root)
        self._make(self._root, inode)

    def _make(self, path: Path, inode: int) -> None:
        if inode not in self._names:
            path.write_bytes(self._bytes.get(inode, b""))
            return
        path.mkdir()
        for name, below in self._names[inode].items():
            self._make(path / name, below)

    def _note_folder(self, inode: int, path: Path) -> None:
        self._names[inode] = {entry.name: entry.stat().st_ino for entry in os.scandir(path)}
