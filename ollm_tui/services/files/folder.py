"""Reads one folder of a project: which of its files count, and which folders to look into."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from ollm_tui.services.files.glob_patterns import PathChoice
from ollm_tui.services.files.ignore_files import (
    GIT_IGNORE,
    NOTHING_READ,
    OWN_IGNORE,
    IgnoreFiles,
    Scope,
    Stamp,
)
from ollm_tui.services.files.options import DiscoveryOptions
from ollm_tui.services.files.repository import repository_at

GIT_FOLDER = ".git"
_IGNORE_FILES = frozenset((GIT_IGNORE, OWN_IGNORE))

RACY_NANOSECONDS = 100_000_000
COARSE_RACY_NANOSECONDS = 2_000_000_000
"""A folder written this shortly before it was read may be written again without a new time.

The coarse one is for file systems that store whole seconds.
"""


class Waiting(NamedTuple):
    """A folder that is still to be read, and the rules that hold from above."""

    path: str
    """The path relative to the root: "" or ending with a slash."""
    depth: int
    scope: Scope


class Folder(NamedTuple):
    """The content of a folder when it was read."""

    path: str
    depth: int
    scope: Scope
    """The rules for what it contains."""
    identity: tuple[int, int]
    """Device and inode."""
    written: int = -1
    """When its list of names changed last (ns); -1 if it may change without a new time."""
    ignore_files: Mapping[str, Stamp] = NOTHING_READ
    files: tuple[str, ...] = ()
    """Names of files. A repository inside another one is a single file with an empty name."""
    folders: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    """Names of links to folders, if they are followed."""

    def paths(self) -> list[str]:
        """Return its files, relative to the root."""
        path = self.path
        return [path + name for name in self.files]


class FolderReader:
    """Reads folders below one root."""

    def __init__(self, root: Path, options: DiscoveryOptions, ignore_files: IgnoreFiles) -> None:
        self.base = f"{root}/".replace("//", "/")
        self._options = options
        self._ignore_files = ignore_files
        self._choice = PathChoice(options.include)
        self.tracked: Mapping[str, set[str]] = {}
        """Names by folder that are in git's index, so that git never ignores them."""
        self.unreadable: set[str] = set()
        """Folders that could not be read."""

    def read(self, waiting: Waiting) -> Folder | None:
        """Read a folder; None if it does not exist any more."""
        path, depth, scope = waiting
        place = self.base + path
        self.unreadable.discard(path)
        # Time and status before the names: a change in between makes the folder stale, never
        # unnoticed.
        now = time.time_ns()
        try:
            found = os.lstat(place)
            files, folders, links = self._names(place)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            self.unreadable.add(path)
            return Folder(path, depth, scope, (0, 0))
        written, identity = _settled(found.st_mtime_ns, now), (found.st_dev, found.st_ino)
        if path and (GIT_FOLDER in folders or GIT_FOLDER in files):
            repository = repository_at(Path(place))
            if repository and scope.in_repository:
                return Folder(path, depth, scope, identity, written, files=("",))
            if repository:
                git = self._ignore_files.in_repository(repository, path).git
                scope = scope._replace(git=git, in_repository=True)
        stamps = NOTHING_READ
        if not _IGNORE_FILES.isdisjoint(files):
            scope, stamps = self._ignore_files.inside(scope, path, place, files)
        if depth == self._options.max_depth:
            folders = links = []
        files = self._counting(path, files, scope)
        folders = scope.kept(path, folders, folders=True)
        links = scope.kept(path, links, folders=True)
        names = _in_order(files), _in_order(folders), _in_order(links)
        return Folder(path, depth, scope, identity, written, stamps, *names)

    def _counting(self, path: str, files: list[str], scope: Scope) -> list[str]:
        """Return the files of a folder that are neither ignored nor left out by globs."""
        kept = scope.kept(path, files, folders=False)
        if path in self.tracked:
            ignored = self.tracked[path].intersection(files).difference(kept)
            kept = [*kept, *scope.kept(path, list(ignored), folders=False, tracked=True)]
        return self._choice.kept(path, kept)

    def scope_if_tracked(self, path: str, cut: int, above: Scope) -> Scope | None:
        """Return the rules in a folder that git ignores; None if own rules ignore it, too.

        `cut` is the index in `path` at which the folder's name begins.
        """
        if not above.kept(path[:cut], [path[cut:-1]], folders=True, tracked=True):
            return None
        return self._ignore_files.inside(above, path, self.base + path, (OWN_IGNORE,))[0]

    def tracked_files(self, path: str, names: Iterable[str], scope: Scope) -> list[str]:
        """Return the files in a folder that git ignores, that are in its index and still exist."""
        kept = scope.kept(path, sorted(names), folders=False, tracked=True)
        paths = [path + name for name in self._choice.kept(path, kept)]
        return [found for found in paths if _is_file_or_link(self.base + found)]

    def _names(self, place: str) -> tuple[list[str], list[str], list[str]]:
        """Return the names of files (also links), folders, and links to folders if followed."""
        files: list[str] = []
        folders: list[str] = []
        links: list[str] = []
        follow = self._options.follow_symlinks
        with os.scandir(place) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    files.append(entry.name)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif entry.is_symlink():
                    (links if follow and _leads_to_folder(entry) else files).append(entry.name)
        return files, folders, links


def _leads_to_folder(link: os.DirEntry[str]) -> bool:
    try:
        return link.is_dir()
    except OSError:  # a loop, or a folder on the way that may not be read
        return False


def _is_file_or_link(path: str) -> bool:
    try:
        return not stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _in_order(names: list[str]) -> tuple[str, ...]:
    """Return names sorted and without `.git`, which is never listed."""
    if not names:
        return ()
    if GIT_FOLDER in names:
        names = [name for name in names if name != GIT_FOLDER]
    return tuple(sorted(names))


def _settled(written: int, now: int) -> int:
    """Return when a folder was written; -1 if another write just now might get the same time."""
    coarse = written % 1_000_000_000 == 0
    racy = COARSE_RACY_NANOSECONDS if coarse else RACY_NANOSECONDS
    return written if now - written > racy else -1
