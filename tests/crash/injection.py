"""System calls that change the disk, counted; the process kills itself at the one it is told to.

To be installed before the store is imported: some of its modules take functions out of `os`
when they are loaded.
"""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHANGING = (
    *("open", "write", "fsync", "fdatasync", "ftruncate"),
    *("rename", "replace", "unlink", "link", "mkdir", "rmdir"),
)


class Injection:
    """Stands between Python and the kernel. Passes everything on until it is armed."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.unsynced = Unsynced()
        self._armed = False
        self._kill_at: int | None = None
        self._half_written = False
        self._originals: dict[str, Callable[..., Any]] = {}

    def install(self) -> None:
        """Replace the functions of `os`, for this process and those it forks."""
        for name in CHANGING:
            if hasattr(os, name):  # macOS has no fdatasync
                self._originals[name] = getattr(os, name)
                setattr(os, name, self._wrapped(name))

    def arm(self, kill_at: int | None, *, half_written: bool) -> None:
        """From now on count; be killed before a call, or in the middle of it if it is a write."""
        self._armed = True
        self._kill_at = kill_at
        self._half_written = half_written

    def _wrapped(self, name: str) -> Callable[..., Any]:
        original = self._originals[name]

        def call(*arguments: Any) -> Any:
            if not self._armed or not _is_of_the_store(name, arguments):
                return original(*arguments)
            if _changes(name, arguments):
                if self._kill_at == len(self.calls):
                    if self._half_written:
                        descriptor, data = arguments
                        original(descriptor, bytes(data)[: len(data) // 2])
                    os.kill(os.getpid(), signal.SIGKILL)
                self.calls.append(name)
            result = original(*arguments)
            self.unsynced.note(name, arguments, result)
            return result

        return call


class Unsynced:
    """What a power cut could still take: files with new bytes, directories with new names."""

    def __init__(self) -> None:
        self.paths: set[Path] = set()
        self._opened: dict[int, Path] = {}

    def note(self, name: str, arguments: tuple[Any, ...], result: Any) -> None:
        """Take a call that succeeded into account."""
        first = arguments[0]
        match name:
            case "open":
                self._opened[result] = Path(first)
                if arguments[1] & os.O_CREAT:
                    self.paths.add(Path(first).parent)
            case "write" | "ftruncate":
                self.paths.add(self._opened[first])
            case "fsync" | "fdatasync":
                self.paths.discard(self._opened[first])
            case "mkdir":
                self.paths.add(Path(first).parent)
            case "rename" | "replace" | "link":
                source, target = map(Path, arguments)
                if source in self.paths:
                    self.paths.add(target)
                self.paths |= {source.parent, target.parent}
                if name != "link":
                    self.paths.discard(source)
            case _:
                self.paths.discard(Path(first))


def _changes(name: str, arguments: tuple[Any, ...]) -> bool:
    return name != "open" or bool(arguments[1] & os.O_CREAT)


def _is_of_the_store(name: str, arguments: tuple[Any, ...]) -> bool:
    """Pipes, on which the child tells what it has done, are not."""
    return name != "write" or stat.S_ISREG(os.fstat(arguments[0]).st_mode)
