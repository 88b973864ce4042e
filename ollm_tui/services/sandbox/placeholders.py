"""Files and directories made in missing places, so that a sandbox can protect those places.

They are removed when the last job that needs them ends. Each is locked by its users and marked
by its mode, so one that a crash left behind is recognised, and goes with the next job. Also
loaded by the launcher of jobs, so it imports nothing but the standard library.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

_DIRECTORY_MODE, _FILE_MODE = 0o1500, 0o1400
"""Modes that nobody gives to own files, by which placeholders are recognised."""
_NOT_OURS_EITHER = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR)
"""With these errors no placeholder is needed: where we cannot create anything a job cannot."""
MOST_TRIES = 1000
"""How often a placeholder is made anew that others keep removing."""


class Placeholder(NamedTuple):
    """What must exist at a path; something else that exists there already is left alone."""

    path: str
    content: str | None = None
    """The content of a file; None for a directory."""


class Placeholders:
    """The placeholders one job needs, held until they are released."""

    def __init__(self, needed: Iterable[Placeholder]) -> None:
        self._needed = tuple(needed)
        self._held: list[tuple[Placeholder, int]] = []

    def hold(self) -> None:
        """Make and lock those that are missing. OSError if that is not possible."""
        with ExitStack() as undo:
            undo.callback(self.release)
            for each in self._needed:
                descriptor = _hold(each)
                if descriptor is not None:
                    self._held.append((each, descriptor))
            undo.pop_all()

    def release(self) -> None:
        """Unlock them, and remove those that no other job needs."""
        while self._held:
            placeholder, descriptor = self._held.pop()
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(placeholder)
            except OSError:
                pass  # another job needs it, or somebody has put something into it
            finally:
                os.close(descriptor)


def _hold(placeholder: Placeholder) -> int | None:
    """A descriptor that locks a placeholder; None if something of the user's own is there."""
    for _ in range(MOST_TRIES):
        try:
            _make(placeholder)
        except FileExistsError:
            pass
        except OSError as error:
            if error.errno in _NOT_OURS_EITHER:
                return None
            raise
        try:
            descriptor = os.open(placeholder.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            continue  # its last user has just removed it
        except OSError:
            return None  # a link, or something we may not open: no placeholder
        if not _is_placeholder(os.fstat(descriptor)):
            os.close(descriptor)
            return None
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        # It may have been removed before the lock was taken.
        if _still_there(placeholder.path, descriptor):
            return descriptor
        os.close(descriptor)
    raise OSError(errno.EBUSY, "others keep making and removing it")


def _make(placeholder: Placeholder) -> None:
    path = Path(placeholder.path)
    if placeholder.content is None:
        path.mkdir(_DIRECTORY_MODE)
        return
    if path.is_symlink() or path.exists():
        raise FileExistsError
    # Linked when it is complete, since git fails on half a file; a link replaces nothing. Threads
    # make it at the same time, and a killed process leaves its draft: each has a name of its own.
    draft = path.with_name(f"{path.name}.{os.urandom(6).hex()}.ollm")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE_MODE)
    try:
        os.write(descriptor, placeholder.content.encode())
        os.link(draft, path)
    finally:
        os.close(descriptor)
        draft.unlink()


def _remove(placeholder: Placeholder) -> None:
    if placeholder.content is None:
        Path(placeholder.path).rmdir()
    else:
        Path(placeholder.path).unlink()


def _is_placeholder(status: os.stat_result) -> bool:
    mode = stat.S_IMODE(status.st_mode)
    own = _DIRECTORY_MODE if stat.S_ISDIR(status.st_mode) else _FILE_MODE
    return mode == own and status.st_uid == os.getuid()


def _still_there(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(Path(path).lstat(), os.fstat(descriptor))
    except OSError:
        return False
