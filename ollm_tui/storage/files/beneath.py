"""Files below one directory, reached step by step: no link is ever followed out of it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from uuid import uuid4

from ollm_tui.storage.files.atomic_file import write_all

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class FoundFile(NamedTuple):
    """A regular file as it is now."""

    size: int
    mode: int
    modified: int
    """Modification time in nanoseconds."""
    data: bytes | None
    """The content; None if it is too large."""


class Beneath:
    """One directory. Paths are relative to it, with slashes. OSError for what is refused."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, path: str, most_bytes: int) -> FoundFile | None:
        """Read a regular file, without its bytes if they are too many; None if there is none."""
        try:
            with self._parent(path) as (parent, name):
                # Checked before opening: merely opening a device may do something.
                _check_regular(os.lstat(name, dir_fd=parent).st_mode)
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                descriptor = os.open(name, flags, dir_fd=parent)
        except FileNotFoundError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            _check_regular(status.st_mode)
            data = file.read(most_bytes + 1)  # one more tells whether the file is too large
        is_whole = len(data) <= most_bytes
        return FoundFile(
            len(data) if is_whole else status.st_size,
            stat.S_IMODE(status.st_mode),
            status.st_mtime_ns,
            data if is_whole else None,
        )

    def write(self, path: str, data: bytes, mode: int | None) -> None:
        """Put a file there, whole or not at all; missing directories are made.

        Without a mode it gets the one new files have.
        """
        with self._parent(path, create=True) as (parent, name):
            temporary = f".{uuid4().hex}.tmp"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            # A file with a mode of its own stays private until its content is complete.
            at_first = 0o666 if mode is None else 0o600
            descriptor = os.open(temporary, flags, at_first, dir_fd=parent)
            try:
                try:
                    write_all(descriptor, data)
                    if mode is not None:
                        os.fchmod(descriptor, mode)
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
                os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
            except BaseException:
                os.unlink(temporary, dir_fd=parent)
                raise
            os.fsync(parent)

    def remove(self, path: str) -> None:
        """Remove a file; it need not be there."""
        with self._parent(path) as (parent, name):
            try:
                os.unlink(name, dir_fd=parent)
            except FileNotFoundError:
                return
            os.fsync(parent)

    @contextmanager
    def _parent(self, path: str, *, create: bool = False) -> Generator[tuple[int, str]]:
        """Open the directory a file lies in; yields its descriptor and the file's name there."""
        *folders, name = _steps(path)
        # The root may be reached through a link; what lies below it may not.
        descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for folder in folders:
                below = _step(descriptor, folder, create=create)
                os.close(descriptor)
                descriptor = below
            yield descriptor, name
        finally:
            os.close(descriptor)


def _step(parent: int, folder: str, *, create: bool) -> int:
    try:
        return os.open(folder, _DIRECTORY, dir_fd=parent)
    except FileNotFoundError:
        if not create:
            raise
    try:
        os.mkdir(folder, dir_fd=parent)
    except FileExistsError:
        pass  # another process made it just now
    return os.open(folder, _DIRECTORY, dir_fd=parent)


def _check_regular(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a directory")
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, "it is a link")
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a file")


def _steps(path: str) -> tuple[str, ...]:
    steps = PurePosixPath(path).parts
    if not steps or ".." in steps or steps[0] == "/" or "\0" in path:
        raise OSError(errno.EINVAL, "that is no path below this directory")
    return steps
