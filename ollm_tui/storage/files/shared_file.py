"""Small files that several processes write: one at a time, and no reader sees half a file."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Generator, Iterable
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
"""Between tries: together one second, while a write takes milliseconds."""
LOCK = ".lock"
"""The lock file is never removed: a lock on a file that is gone protects nothing."""


def append_line(path: Path, line: bytes) -> None:
    """Append a line to a file; it never joins an earlier line that a crash cut off."""
    with _locked(path.parent):
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
    """Cut a file back to its last lines, at most `count` with at most `most_bytes`."""
    with _locked(path.parent):
        lines = read_regular(path).splitlines(keepends=True)
        first, room = len(lines), most_bytes
        while first and len(lines) - first < count and len(lines[first - 1]) <= room:
            first -= 1
            room -= len(lines[first])
        if first:
            write_atomically(path, lines[first:])


def drop_lines(path: Path, is_dropped: Callable[[bytes], bool]) -> None:
    """Remove some lines of a file; a file without any left is removed."""
    with _locked(path.parent):
        lines = read_regular(path).splitlines(keepends=True)
        kept = [line for line in lines if not is_dropped(line)]
        if not kept:
            path.unlink()
        elif len(kept) < len(lines):
            write_atomically(path, kept)


def replace(path: Path, chunks: Iterable[bytes]) -> None:
    """Replace the content of a file, whole or not at all."""
    with _locked(path.parent):
        write_atomically(path, chunks)


@contextmanager
def _locked(directory: Path) -> Generator[None]:
    """Hold the lock of a directory. OSError if another process keeps it for too long."""
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
