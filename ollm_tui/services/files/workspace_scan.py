"""Which files a workspace has and how they look from outside: a bounded walk."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

IGNORED = frozenset(
    (
        *(".git", ".hg", ".svn", "node_modules", "dist", "build", "target", ".next", ".cache"),
        *(".venv", "venv", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".tox"),
    )
)
"""Kept by others, or made anew by a command."""
MOST_FILES = 20_000
DEEPEST = 32


class FileMark(NamedTuple):
    """How a file looks from outside: whoever changes it changes one of these."""

    size: int
    modified: int
    changed: int
    inode: int
    mode: int


class WorkspaceScan(NamedTuple):
    """The files of a workspace by their paths, with slashes, relative to its root."""

    files: dict[str, FileMark]
    is_whole: bool
    """False: there are more files, or deeper ones, than are looked at."""


def scan(root: Path, apart: Path, ignored: Collection[str] = IGNORED) -> WorkspaceScan:
    """Look at a workspace. Links are not followed; `apart` and what is ignored are not entered."""
    files: dict[str, FileMark] = {}
    is_whole = True
    waiting = [("", 0)]
    while waiting:
        folder, depth = waiting.pop()
        for entry in _entries(root / folder):
            path = f"{folder}/{entry.name}" if folder else entry.name
            try:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name in ignored or entry.path == str(apart):
                        continue
                    if depth < DEEPEST:
                        waiting.append((path, depth + 1))
                    else:
                        is_whole = False
                    continue
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode):
                if len(files) >= MOST_FILES:
                    return WorkspaceScan(files, is_whole=False)
                files[path] = mark_of(status)
    return WorkspaceScan(files, is_whole)


def mark_of(status: os.stat_result) -> FileMark:
    """How a file looks from outside."""
    times = status.st_mtime_ns, status.st_ctime_ns
    return FileMark(status.st_size, *times, status.st_ino, stat.S_IMODE(status.st_mode))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """In a fixed order, so that a bounded walk sees the same files every time."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []
