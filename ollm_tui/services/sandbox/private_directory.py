"""The directory all jobs of this program have their temporary files in, and those that programs
left behind that were killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

PREFIX = "ollm-tmp-"
ABANDONED_SECONDS = 3600.0
"""Untouched for so long: a younger one may have been made just now, and not be locked yet."""


class PrivateDirectory:
    """Exists, and is locked, until the program ends."""

    def __init__(self) -> None:
        self._made = tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)
        self.path = Path(self._made.name)
        # The kernel lets go of the lock when the program is killed.
        self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


@cache
def private_directory() -> PrivateDirectory:
    """The one of this program; making it is the time to clear away what others left."""
    remove_abandoned(Path(tempfile.gettempdir()))
    return PrivateDirectory()


def remove_abandoned(place: Path) -> None:
    """Remove directories of programs that are no more; for a thread."""
    for path in place.glob(f"{PREFIX}*"):
        # Somebody else's, or gone already.
        with suppress(OSError):
            if _is_abandoned(path):
                shutil.rmtree(path, ignore_errors=True)


def _is_abandoned(path: Path) -> bool:
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        return False
    if time.time() - found.st_mtime < ABANDONED_SECONDS:
        return False
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True
