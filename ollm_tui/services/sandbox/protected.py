"""Paths in the scope that a job must not write because they decide what runs by itself.

That is known of the scope's own directories and of repositories below them when the job starts.
A sandbox cannot forbid names: a job can make a new repository below, in which git, run by somebody
later, would find hooks and settings of the job. A nested `.git` that is a link can be replaced.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ollm_tui.core.errors import JobError
from ollm_tui.services.safety.places import SHELL_STARTS
from ollm_tui.services.sandbox.placeholders import Placeholder

MOST_FOLDERS = 2_000
"""How many folders are searched for nested repositories before every command; each that did not
change takes some microseconds."""
MOST_ROOTS = 16
"""For how many directories of scopes the listed folders are remembered."""
_PASSED_OVER = frozenset((".git", "node_modules", "__pycache__"))
_BARE = frozenset(("HEAD", "objects", "refs"))
"""By these entries git takes a directory for a repository."""
_SAME_MOMENT_NS = 100_000_000
"""The clock of files is coarse: a folder that changed so recently may have changed again since."""


_GIT_SELF = ".\n"
"""The content of .git/commondir with which git looks for its settings in the same directory."""
_GIT_PLACES = ("modules", "worktrees", "config.worktree")
"""Protected in a repository if they exist."""
_COMMITTABLE = 5
"""In how many nested repositories, the nearest, commits work; others are read-only as a whole. That
takes one mount instead of four, and each mount takes 1 ms, more where there are many."""
_MOST_NESTED = 60
"""How many nested repositories below one directory are protected, the nearest."""
_PROFILE = "test -r ~/.profile && . ~/.profile\n"
_IN_ITS_PLACE: Mapping[str, str] = {".bash_profile": _PROFILE, ".bash_login": _PROFILE}
"""What the placeholders of these say: bash reads only the first of its profiles that exists, so an
empty one would keep ~/.profile from being read."""
_HOME_PLACES = (".gitconfig", ".config/git", ".config/systemd", ".config/autostart", ".config/fish")


class Protected(NamedTuple):
    """Paths to protect, outer ones before those inside."""

    fixed: tuple[Path, ...]
    """Paths that can be written but not moved or replaced."""
    read_only: tuple[Path, ...]
    placeholders: tuple[Placeholder, ...]
    """What must exist so that it can be protected."""


class _Place(NamedTuple):
    path: Path
    content: str | None
    """The content of its placeholder while it does not exist; None for a directory."""


def protected_in(scope: Sequence[Path], others: Sequence[Path]) -> Protected:
    """What has to be protected now. JobError if something cannot be because it is a link."""
    nested = _nested(scope, others)
    committable = list(islice(filter(_is_plain, nested), _COMMITTABLE))
    own = (git for root in scope if (git := root / ".git").is_dir())
    fixed = tuple(dict.fromkeys((*own, *committable)))
    places = [place for root in scope for place in _of_project(root)]
    places += [place for git in committable for place in _of_repository(git)]
    places += [_Place(git, None) for git in nested if git not in committable]
    if any(Path.home().is_relative_to(root) for root in scope):
        names = sorted(name for name in SHELL_STARTS if name.startswith("."))
        places += [_Place(Path.home() / name, _IN_ITS_PLACE.get(name, "")) for name in names]
        places += _existing(Path.home(), _HOME_PLACES)
    places += [_Place(path, None) for path in others if path.exists() and _inside(path, scope)]
    for path in (*fixed, *(place.path for place in places)):
        if path.is_symlink():
            raise JobError(
                f"the sandbox cannot protect {path}: it is a link",
                "put what it leads to in its place",
            )
    absent = tuple(Placeholder(str(p.path), p.content) for p in places)
    return Protected(fixed, tuple(place.path for place in places), absent)


def _of_project(root: Path) -> Iterator[_Place]:
    yield _Place(root / ".ollm", None)
    git = root / ".git"
    if not git.is_dir() or git.is_symlink():
        yield _Place(git, None)
    else:
        yield from _of_repository(git)


def _of_repository(git: Path) -> Iterator[_Place]:
    yield _Place(git / "hooks", None)
    yield _Place(git / "config", "")
    yield _Place(git / "commondir", _GIT_SELF)
    yield from _existing(git, _GIT_PLACES)


def _nested(scope: Sequence[Path], others: Sequence[Path]) -> list[Path]:
    """Repositories below the scope that can be protected and are not in something protected."""
    held = (*others, *(root / name for root in scope for name in (".git", ".ollm")))
    found = (git for root in scope for git in islice(nested_repositories(root), _MOST_NESTED))
    return [git for git in dict.fromkeys(found) if not (git.is_symlink() or _inside(git, held))]


def _is_plain(git: Path) -> bool:
    """Whether the parts of a repository can be protected one by one: links cannot."""
    return git.is_dir() and not any(place.path.is_symlink() for place in _of_repository(git))


def _existing(root: Path, names: Sequence[str]) -> Iterator[_Place]:
    return (_Place(root / name, None) for name in names if (root / name).exists())


def _inside(path: Path, scope: Sequence[Path]) -> bool:
    return any(path.is_relative_to(root) for root in scope)


class _Folder(NamedTuple):
    changed: int
    """Its ctime when it was listed, which programs cannot set; -1 if it must be listed again."""
    below: tuple[str, ...] = ()
    repository: str = ""
    """Where git keeps the repository of this folder; empty if it has none."""


class _Folders:
    """The folders below a root, each listed again only after it changed."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._known: dict[str, _Folder] = {}

    def repositories(self) -> Iterator[Path]:
        """The repositories that exist now, but for the root's own, the nearest first."""
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
    """The `.git` directories or files, and bare repositories, below a directory, but for its own;
    the nearest first."""
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
    """The ctime of a folder, or -1 if it may have changed again in the same moment."""
    return changed if time.time_ns() - changed > _SAME_MOMENT_NS else -1
