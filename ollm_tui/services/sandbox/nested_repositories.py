"""Repositories below a directory: submodules, clones, bare ones, found without walking it twice.

Not found: what lies behind links, in node_modules, or beyond the nearest MOST_FOLDERS folders.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

MOST_FOLDERS = 2_000
"""A look at one that did not change takes some microseconds, before every command."""
MOST_ROOTS = 16
_PASSED_OVER = frozenset((".git", "node_modules", "__pycache__"))
_BARE = frozenset(("HEAD", "objects", "refs"))
"""What git takes a directory by for a repository."""
_SAME_MOMENT_NS = 100_000_000
"""The clock of files is coarse: one that changed so recently may have changed since as well."""


class _Folder(NamedTuple):
    changed: int
    """Its ctime when it was listed, which programs cannot set; -1 where that proves nothing."""
    below: tuple[str, ...] = ()
    repository: str = ""


class _Folders:
    """The folders below one, each listed again only after it changed."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._known: dict[str, _Folder] = {}

    def repositories(self) -> Iterator[Path]:
        """As things are now, the nearest first."""
        seen: dict[str, _Folder] = {}
        waiting = deque([self._root])
        while waiting and len(seen) < MOST_FOLDERS:
            path = waiting.popleft()
            folder = seen[path] = _listed(path, self._known.get(path))
            waiting.extend(folder.below)
        self._known = seen
        own = f"{self._root}/.git"
        return (Path(each.repository) for each in seen.values() if each.repository not in ("", own))


def nested_repositories(root: Path) -> Iterator[Path]:
    """The directories, or files, in which git keeps repositories below a directory, but for its
    own; the nearest first."""
    return _folders(str(root)).repositories()


@lru_cache(MOST_ROOTS)
def _folders(root: str) -> _Folders:
    return _Folders(root)


def _listed(path: str, known: _Folder | None) -> _Folder:
    try:
        changed = os.lstat(path).st_ctime_ns
        if known is not None and known.changed == changed:
            return known
        with os.scandir(path) as entries:
            found = list(entries)
    except OSError:
        return _Folder(-1)
    names = {entry.name for entry in found}
    if names >= _BARE:
        return _Folder(_certain(changed), repository=path)
    below = (
        entry.path
        for entry in found
        if entry.name not in _PASSED_OVER and entry.is_dir(follow_symlinks=False)
    )
    return _Folder(_certain(changed), tuple(below), f"{path}/.git" if ".git" in names else "")


def _certain(changed: int) -> int:
    return changed if time.time_ns() - changed > _SAME_MOMENT_NS else -1
