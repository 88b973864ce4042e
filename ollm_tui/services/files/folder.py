"""Reads one folder of a project: the names of the files and folders in it."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ollm_tui.services.files.git_program import Unanswered
from ollm_tui.services.files.glob_patterns import Exclusion
from ollm_tui.services.files.ground import Ground
from ollm_tui.services.files.ignore_files import GIT_IGNORE, OWN_IGNORE, Stamp, stamp_of
from ollm_tui.services.files.options import DiscoveryOptions
from ollm_tui.services.files.repository import repository_at

_GIT_FOLDER = ".git"
_IGNORE_FILES = frozenset((GIT_IGNORE, OWN_IGNORE))
_NOTHING_READ: Mapping[str, Stamp] = MappingProxyType({})

RACY_NANOSECONDS = 100_000_000
COARSE_RACY_NANOSECONDS = 2_000_000_000
"""A folder written this shortly before it was read may be written again without a new time.

The coarse one is for file systems that store whole seconds.
"""


class Waiting(NamedTuple):
    """A folder that is still to be read."""

    path: str
    """The path relative to the root: "" or ending with a slash."""
    depth: int
    ground: Ground


@dataclass(slots=True, eq=False)
class Folder:
    """The content of a folder when it was read."""

    path: str
    depth: int
    ground: Ground
    identity: tuple[int, int] = (0, 0)
    """Device and inode."""
    written: int = -1
    """When its list of names changed last (ns); -1 if it may change without a new time."""
    ignore_files: Mapping[str, Stamp] = field(default_factory=lambda: _NOTHING_READ)
    is_repository: bool = False
    files: Sequence[str] = ()
    """Names of files. A repository inside another one is a single file with an empty name."""
    folders: Sequence[str] = ()
    links: Collection[str] = ()
    """Names in `folders` that are links, which are followed."""

    @property
    def is_nested(self) -> bool:
        """Whether it is a repository inside another one, of which nothing is listed."""
        return len(self.files) == 1 and not self.files[0]

    def paths(self) -> list[str]:
        """Return its files, relative to the root."""
        path = self.path
        return [path + name for name in self.files]

    def children(self) -> list[str]:
        """Return the folders in it, relative to the root and with a slash at their ends."""
        return [f"{self.path}{name}/" for name in self.folders]

    def has_other_rules(self, before: Folder) -> bool:
        """Return whether other rules hold below it than before."""
        mine = self.ignore_files, self.is_repository
        return mine != (before.ignore_files, before.is_repository)


class FolderReader:
    """Reads folders below one root, without what globs leave out and what lies too deep."""

    def __init__(self, root: Path, options: DiscoveryOptions) -> None:
        self.base = f"{root}/".replace("//", "/")
        self._max_depth = options.max_depth
        self._follows = options.follow_symlinks
        self._exclusion = Exclusion((*options.builtin_ignores, *options.exclude))
        self.unreadable: set[str] = set()
        """Folders that could not be read."""

    def read(self, path: str, depth: int, ground: Ground) -> Folder | None:
        """Read a folder; None if it does not exist any more. Unanswered if git could not."""
        place = self.base + path
        self.unreadable.discard(path)
        # Time and status before the names: a change in between makes the folder stale, never
        # unnoticed.
        now = time.time_ns()
        try:
            found = os.lstat(place)
            files, folders, links = self._names(place, ground)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            self.unreadable.add(path)
            return Folder(path, depth, ground)
        folder = Folder(path, depth, ground, (found.st_dev, found.st_ino))
        folder.written = _settled(found.st_mtime_ns, now)
        if _GIT_FOLDER in folders or _GIT_FOLDER in files:
            folder.is_repository = path != "" and repository_at(Path(place)) is not None
        if folder.is_repository and path != ground.prefix:
            folder.files = ("",)
            return folder
        if not _IGNORE_FILES.isdisjoint(files):
            places = [place + name for name in _IGNORE_FILES.intersection(files)]
            folder.ignore_files = {each: stamp_of(each) for each in places}
        if files:
            folder.files = sorted(self._exclusion.kept(path, files))
        if folders and depth < self._max_depth:
            kept = self._exclusion.kept(path, folders, folders=True)
            folder.folders = sorted(name for name in kept if name != _GIT_FOLDER)
            folder.links = links
        return folder

    def _names(self, place: str, ground: Ground) -> tuple[list[str], list[str], list[str]]:
        """Return the names of files (also links), of folders, and of folders that are links."""
        files: list[str] = []
        folders: list[str] = []
        links: list[str] = []
        with os.scandir(place) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    files.append(entry.name)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif not entry.is_symlink():
                    if entry.name == GIT_IGNORE and ground.is_asked_of_git:
                        raise Unanswered  # a FIFO of this name, which git would wait for
                elif self._follows and _leads_to_folder(entry):
                    folders.append(entry.name)
                    links.append(entry.name)
                else:
                    files.append(entry.name)
        return files, folders, links


def _leads_to_folder(link: os.DirEntry[str]) -> bool:
    try:
        return link.is_dir()
    except OSError:  # a loop, or a folder on the way that may not be read
        return False


def _settled(written: int, now: int) -> int:
    """Return when a folder was written; -1 if another write just now might get the same time."""
    coarse = written % 1_000_000_000 == 0
    racy = COARSE_RACY_NANOSECONDS if coarse else RACY_NANOSECONDS
    return written if now - written > racy else -1
