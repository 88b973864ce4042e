"""Small files that several processes write: each takes its turn, none sees half a file."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from ollm_tui.storage.files.atomic_file import (
    open_for_writing,
    read_regular,
    write_all,
    write_atomically,
)
from ollm_tui.storage.store_layout import FILE_MODE, make_directory

TRIES = 50
PAUSE_SECONDS = 0.02
LOCK = ".lock"
"""Never removed: a lock on a file that is gone protects nothing."""


def append_line(path: Path, line: bytes) -> None:
    """Add a line at the end of a file; a line that a crash or a full disk cut off stays alone."""
    with _turn(path.parent):
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(path, flags, FILE_MODE)
        try:
            size = os.fstat(descriptor).st_size
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            try:
                write_all(descriptor, b"\n" * torn + line + b"\n")
            except OSError:
                os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)


def keep_last_lines(path: Path, count: int, most_bytes: int) -> None:
    """Cut a file of lines back to its last ones."""
    with _turn(path.parent):
        lines = read_regular(path).splitlines(keepends=True)
        first, room = len(lines), most_bytes
        while first and len(lines) - first < count and len(lines[first - 1]) <= room:
            first -= 1
            room -= len(lines[first])
        if first:
            write_atomically(path, lines[first:])


def replace(path: Path, chunks: Iterable[bytes]) -> None:
    """Give a file another content, whole or not at all."""
    with _turn(path.parent):
        write_atomically(path, chunks)


@contextmanager
def _turn(directory: Path) -> Generator[None]:
    """The only one who writes in a directory, for a moment. OSError if another never ends."""
    make_directory(directory)
    descriptor = open_for_writing(directory / LOCK, 0)
    try:
        for last in (False,) * (TRIES - 1) + (True,):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if last:
                    raise
                time.sleep(PAUSE_SECONDS)
        yield
    finally:
        os.close(descriptor)
