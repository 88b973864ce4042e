"""Finds git repositories by their files, without running git."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

_HEAD = re.compile(rb"ref:\s*refs/|[0-9a-f]{40}")


class Repository(NamedTuple):
    """A work tree and the folders in which git keeps its own files."""

    top: Path
    git: Path
    """The folder for this work tree; its index is here."""
    common: Path
    """The folder for all work trees of the repository; the same one if there is only one."""

    def lead_to(self, folder: Path) -> str:
        """Return the path of a resolved folder in the work tree, "" or ending with a slash."""
        return "" if folder == self.top else f"{folder.relative_to(self.top).as_posix()}/"


def find_repository(folder: Path) -> Repository | None:
    """Return the repository that a folder lies in."""
    start = folder.resolve()
    found = (repository_at(candidate) for candidate in (start, *start.parents))
    return next(filter(None, found), None)


def repository_at(folder: Path) -> Repository | None:
    """Return the repository whose top folder this is; None if it is none."""
    git = folder / ".git"
    link = _read(git)
    if link.startswith(b"gitdir: "):  # a linked work tree or a submodule: .git is a file
        git = folder / _as_path(link.removeprefix(b"gitdir: "))
    common = git
    if link := _read(git / "commondir"):
        common = git / _as_path(link)
    head = _read(git / "HEAD")
    try:
        if (git / "HEAD").is_symlink():  # as old versions of git wrote it
            head = b"ref: " + os.fsencode((git / "HEAD").readlink())
        is_one = (common / "objects").is_dir() and (common / "refs").is_dir()
    except OSError:
        return None
    return Repository(folder, git, common) if is_one and _HEAD.match(head) else None


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(4096)
    except OSError:
        return b""


def _as_path(line: bytes) -> str:
    return os.fsdecode(line.rstrip(b"\r\n").replace(b"\0", b""))
