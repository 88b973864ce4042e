"""System calls that change the disk, counted; something goes wrong at the one it is told to.

To be installed before the store is imported: some of its modules take functions out of `os`
when they are loaded.
"""

from __future__ import annotations

import errno
import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from tests.crash.power_loss import SyncedImage

Fault = Literal["kill", "kill half-written", "power", "ENOSPC", "EIO", "EROFS", "short write"]
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
        self._at: int | None = None
        self._fault: Fault = "kill"
        self._image: SyncedImage | None = None
        self._originals: dict[str, Callable[..., Any]] = {}

    def install(self) -> None:
        """Replace the functions of `os`, for this process and those it forks."""
        for name in CHANGING:
            if hasattr(os, name):  # macOS has no fdatasync
                self._originals[name] = getattr(os, name)
                setattr(os, name, self._wrapped(name))

    def arm(self, at: int | None, fault: Fault, root: Path) -> None:
        """From now on count; at a call of that number something goes wrong, below `root`."""
        self._image = SyncedImage(root) if fault == "power" else None
        self._at = at
        self._fault = fault
        self._armed = True

    def _wrapped(self, name: str) -> Callable[..., Any]:
        original = self._originals[name]

        def call(*arguments: Any, **options: Any) -> Any:
            # The store gives no options; they come from the standard library.
            if options or not self._armed or not _is_of_the_store(name, arguments):
                return original(*arguments, **options)
            is_hit = False
            if _changes(name, arguments):
                is_hit = self._at == len(self.calls)
                self.calls.append(name)
            if is_hit and self._fault == "short write" and name == "write":
                descriptor, data = arguments
                arguments = (descriptor, bytes(data)[: len(data) // 2])
            elif is_hit:
                self._break(original, arguments)
            if self._image:
                self._image.before(name, arguments)
            result = original(*arguments)
            self.unsynced.note(name, arguments, result)
            if self._image:
                self._image.after(name, arguments, result)
            return result

        return call

    def _break(self, original: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """Die or fail, as it was told; a short write is possible in a write only."""
        if self._fault == "short write":
            return
        if self._fault in ("ENOSPC", "EIO", "EROFS"):
            number: int = getattr(errno, self._fault)
            raise OSError(number, os.strerror(number))
        if self._fault == "kill half-written":
            descriptor, data = arguments
            original(descriptor, bytes(data)[: len(data) // 2])
        if self._image:
            self._armed = False
            self._image.restore()
        os.kill(os.getpid(), signal.SIGKILL)


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
