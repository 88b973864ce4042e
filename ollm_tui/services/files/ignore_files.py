"""Ignore files: what they are called, what is in them, and whether they have changed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

GIT_IGNORE, OWN_IGNORE = ".gitignore", ".ollmignore"
LARGEST_BYTES = 16_000_000
"""Bytes of an ignore file that are read."""

Stamp = tuple[int, int, int] | None
"""Time (ns), size and inode of a file, which change when it does; None if it does not exist."""


def stamp_of(path: str) -> Stamp:
    """Return the stamp of a file, or of what a link leads to."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def content_of(path: str) -> bytes:
    """Read an ignore file; empty if there is none. As git does, links are not followed."""
    try:
        # Without blocking: opening a FIFO of such a name would wait for ever.
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
        descriptor = os.open(path, flags)
    except (OSError, ValueError):
        return b""
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        try:
            return file.read(LARGEST_BYTES)
        except OSError:
            return b""


def folders_above(path: str) -> list[str]:
    """Return the folders that a path lies in, from the outermost ("") to the nearest."""
    found, end = [""], path.find("/")
    while 0 <= end < len(path) - 1:
        found.append(path[: end + 1])
        end = path.find("/", end + 1)
    return found
