"""Advisory file locks: a session, a cache file or the trash has one writer at a time."""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

from ollm_tui.core.errors import SessionBusy
from ollm_tui.storage.store_layout import FILE_MODE


def open_locked(path: Path) -> int:
    """Open a file for appending, creating it, and hold its lock until it is closed.

    SessionBusy if another process holds the lock, OSError if it is no regular file.
    """
    # Another process may remove the file between opening and locking; a lock on a removed
    # file protects nothing, so the name is compared with what was locked.
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    while True:
        descriptor = os.open(path, flags, FILE_MODE)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(f"{path} is not a file")
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if is_in_place(path, descriptor):
                return descriptor
        except BlockingIOError as error:
            os.close(descriptor)
            raise SessionBusy(
                "another ollm is writing this session",
                f"close it there, or continue in a copy: ollm sessions fork {path.stem}",
            ) from error
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def is_in_place(path: Path, descriptor: int) -> bool:
    """Whether a path still leads to the file that was opened."""
    try:
        named = path.stat()
    except OSError:
        return False
    opened = os.fstat(descriptor)
    return (named.st_ino, named.st_dev) == (opened.st_ino, opened.st_dev)
