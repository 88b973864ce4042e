"""Whole files: replacing them atomically, and reading only what is a regular file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from ollm_tui.storage.store_layout import FILE_MODE, sync_directory, temporary_name


def write_atomically(path: Path, chunks: Iterable[bytes]) -> None:
    """Replace a file: afterwards there is the old one or the new one, whole, on disk.

    The temporary name is fixed, so a killed writer leaves at most one and the next
    writer takes it over; callers hold the lock of what they write.
    """
    temporary = temporary_name(path)
    descriptor = open_for_writing(temporary, os.O_TRUNC)
    try:
        try:
            for chunk in chunks:
                write_all(descriptor, chunk)
            # Before the rename: otherwise a power cut can leave an empty file under the name.
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def open_for_writing(path: Path, how: int) -> int:
    """Open a file for this user only, creating it. OSError also for a link or a FIFO."""
    # Without O_NONBLOCK, opening a FIFO waits for a reader.
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    return os.open(path, flags | how, FILE_MODE)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte; a disk that takes only some of them raises at the next write."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def read_regular(path: Path, start: int = 0, most: int = -1) -> bytes:
    """Return the bytes of a file, or those after `start`; at most so many.

    OSError also for what is there but is no regular file (a FIFO would hang).
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is not a file")
        if start:
            file.seek(start)
        return file.read(most)
