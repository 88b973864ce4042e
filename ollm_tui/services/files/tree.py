"""The folders of a project: walked once, then read again only where something changed.

Only one thread at a time may use a tree.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ollm_tui.services.files.folder import Folder, FolderReader, Waiting
from ollm_tui.services.files.folder_events import FolderListener, NoListener
from ollm_tui.services.files.git_program import GitProgram, Unanswered
from ollm_tui.services.files.glob_patterns import PathChoice
from ollm_tui.services.files.ground import Ground, possible_grounds
from ollm_tui.services.files.ignore_files import OWN_IGNORE, stamp_of
from ollm_tui.services.files.ignore_rules import OwnRules
from ollm_tui.services.files.options import DiscoveryOptions
from ollm_tui.services.files.repository import find_repository

MOST_AT_ONCE = 2_000
"""Folders that are read before git is asked about what is in them."""


@dataclass
class Changes:
    """Files that were added and removed since the last time, relative to the root."""

    added: list[str] = field(default_factory=list[str])
    removed: list[str] = field(default_factory=list[str])

    def net(self) -> Changes:
        """Return the changes without files that were both removed and added."""
        both = set(self.added).intersection(self.removed)
        return Changes(
            [path for path in self.added if path not in both],
            [path for path in self.removed if path not in both],
        )

    def then(self, later: Changes) -> Changes:
        """Return these changes followed by later ones, without what cancels out."""
        return Changes(self.added + later.added, self.removed + later.removed).net()


class Tree:
    """The folders below a root that are looked into, by their relative path.

    Git lists the files and tells which folders are ignored. The folders are read here all the
    same, because git does not list those without files, and files may appear in them.
    """

    def __init__(self, root: Path, options: DiscoveryOptions, environ: Mapping[str, str]) -> None:
        self.root = root
        self.folders: dict[str, Folder] = {}
        self.listener: FolderListener = NoListener()
        self.version = 0
        """Grows whenever the list of files changes."""
        self._options = options
        self._program = GitProgram(environ)
        self._reader = FolderReader(root, options)
        self._choice = PathChoice(options.include)
        self._own = OwnRules(self._program, root)
        self._has_own = False
        """Whether one of our own ignore files was found."""
        self._repository = find_repository(root)
        self._grounds: list[Ground] = []
        self._apart: deque[tuple[str, int]] = deque()
        """Paths and depths of folders to be read, each with its own rules: repositories, links."""
        self._seen: set[tuple[int, int]] = set()

    @property
    def unreadable(self) -> int:
        """How many folders could not be read."""
        return len(self._reader.unreadable)

    def paths(self) -> list[str]:
        """Return all files, in no particular order."""
        return _paths(self.folders.values())

    def paths_below(self, path: str) -> list[str]:
        """Return the files in a folder and in all folders below it."""
        found, below = list[str](), [path]
        while below:
            if folder := self.folders.get(below.pop()):
                found += folder.paths()
                below += folder.children()
        return found

    def known(self, paths: Iterable[str]) -> set[str]:
        """Return those of the files that are in the tree."""
        by_folder: dict[str, set[str]] = {}
        for path in paths:
            cut = path.rfind("/") + 1
            by_folder.setdefault(path[:cut], set()).add(path[cut:])
        found: set[str] = set()
        for path, names in by_folder.items():
            if folder := self.folders.get(path):
                found.update(path + name for name in names.intersection(folder.files))
        return found

    def was_replaced(self, path: str) -> bool:
        """Return whether another folder has taken the place of a known one."""
        if path not in self.folders:
            return False
        try:
            found = os.lstat(self._reader.base + path)
        except OSError:
            return False
        return self.folders[path].identity != (found.st_dev, found.st_ino)

    def walk(self) -> Iterator[list[str]]:
        """Walk the whole tree anew and yield its files in batches, those near to the root first."""
        self.folders.clear()
        self._seen.clear()
        self._grounds.clear()
        self._repository = find_repository(self.root)
        self._apart = deque((("", 0),))
        yield from self._walk_apart()

    def refresh(self) -> Changes:
        """Read again the folders whose time, or that of an ignore file in them, has changed."""
        changes = self.refresh_rules()
        return changes.then(
            self.look_again([path for path in self.folders if self._is_stale(path)])
        )

    def refresh_rules(self) -> Changes:
        """Walk again if rules outside of the tree, or what is in git's index, have changed."""
        is_other = find_repository(self.root) != self._repository
        if is_other or any(ground.has_changed() for ground in self._grounds):
            return self._walk_again()
        return Changes()

    def look_again(self, paths: Iterable[str], replaced: Collection[str] = ()) -> Changes:
        """Read some folders again, with new folders in them; `replaced` ones with all below."""
        changes = Changes()
        known = map(self.folders.get, sorted({*paths, *map(_parent, replaced)}))
        try:
            again = [(old, self._read(old.path, old.depth, old.ground)) for old in known if old]
            if any(new and new.has_other_rules(old) for old, new in again):
                return self._walk_again()
            read = [new for _, new in again if new]
            self._judge_folders(read)
            self._judge_files(read)
            for path in replaced:
                self._drop(path, changes)
            fresh = [each for old, new in again for each in self._compare(old, new, changes)]
            for folders in self._explore(fresh):
                changes.added += _paths(folders)
            for batch in self._walk_apart():
                changes.added += batch
        except Unanswered:
            return changes.then(self._walk_again())
        return self._counted(changes)

    def _compare(self, old: Folder, new: Folder | None, changes: Changes) -> list[Waiting]:
        """Take a folder as it is now, note its changes and return the new folders in it."""
        if old.path not in self.folders:
            return []
        if new is None:
            self._drop(old.path, changes)
            return []
        self.folders[new.path] = new
        changes.added += set(new.paths()).difference(old.paths())
        changes.removed += set(old.paths()).difference(new.paths())
        for child in set(old.children()).difference(new.children()):
            self._drop(child, changes)
        return self._inside(new)

    def _walk_apart(self) -> Iterator[list[str]]:
        """Walk the folders that have rules of their own, and yield their files in batches."""
        while self._apart:
            path, depth = self._apart.popleft()
            others = self._apart.copy()
            levels = self._options.max_depth - depth
            # Git need not look into what is left out anyway.
            excluded = (*self._options.builtin_ignores, f"/{'*/' * (levels + 1)}")
            for ground in possible_grounds(self._program, Path(self._reader.base + path), path):
                if not path:
                    self._own = OwnRules(self._program, self.root, ground.repository)
                    self._has_own = self._own.are_above
                try:
                    with ground.listing(excluded):
                        for folders in self._explore([Waiting(path, depth, ground)]):
                            if found := _paths(folders):
                                yield found
                    self._grounds.append(ground)
                    break
                except Unanswered:
                    self._drop(path, Changes())
                    self._apart = others.copy()
                    self.version += 1  # some of it may have been yielded

    def _explore(self, start: Sequence[Waiting]) -> Iterator[list[Folder]]:
        """Read folders, then all below them; yield both as they are taken into the tree.

        Git may go on listing files while folders are read. Unanswered.
        """
        waiting = deque(start)
        below: list[Folder] = []
        while waiting:
            some = [waiting.popleft() for _ in range(min(len(waiting), MOST_AT_ONCE))]
            folders = [folder for each in some if (folder := self._enter(each))]
            self._judge_folders(folders)
            for folder in folders:
                waiting.extend(self._inside(folder))
            if some[0] is start[0]:
                # The first files are wanted soon: git is asked about them before it has listed all.
                self._judge_files(folders, soon=True)
                yield self._take(folders)
            else:
                below += folders
        self._judge_files(below)
        yield self._take(below)

    def _enter(self, waiting: Waiting) -> Folder | None:
        """Read a folder; None if it is gone, was read under another path, or has its own rules."""
        path, depth, ground = waiting
        folder = self._read(path, depth, ground)
        if folder and folder.is_nested and ground.repository is None:
            self._apart.appendleft((path, depth))
            return None
        if folder is None or (self._options.follow_symlinks and folder.identity in self._seen):
            self.listener.left(path)
            return None
        return folder

    def _read(self, path: str, depth: int, ground: Ground) -> Folder | None:
        # Watched before it is read: what changes in between is then reported.
        self.listener.entering(path)
        folder = self._reader.read(path, depth, ground)
        self._has_own = self._has_own or (folder is not None and OWN_IGNORE in folder.files)
        return folder

    def _take(self, folders: list[Folder]) -> list[Folder]:
        """Take folders into the tree."""
        for folder in folders:
            self.folders[folder.path] = folder
            self._seen.add(folder.identity)
        return folders

    def _inside(self, folder: Folder) -> list[Waiting]:
        """Return the folders in a folder that are not known yet."""
        found: list[Waiting] = []
        for name in folder.folders:
            path, depth = f"{folder.path}{name}/", folder.depth + 1
            if path in self.folders:
                continue
            if name in folder.links:
                # Later: as each real folder is read once, it gets its real path if it has one.
                self._apart.append((path, depth))
            else:
                found.append(Waiting(path, depth, folder.ground))
        return found

    def _judge_folders(self, folders: Sequence[Folder]) -> None:
        """Leave out the ignored folders in some folders. Unanswered."""
        for ground, group in _by_ground(folders):
            paths = [path[:-1] for each in group for path in each.children()]
            ignored = ground.ignored((), paths)
            if self._has_own:
                ignored |= self._own.ignored((), paths)
            for each in group if ignored else ():
                path = each.path
                each.folders = [name for name in each.folders if path + name not in ignored]

    def _judge_files(self, folders: Sequence[Folder], *, soon: bool = False) -> None:
        """Leave out the ignored files in some folders, and those not included. Unanswered."""
        for ground, group in _by_ground(each for each in folders if not each.is_nested):
            if soon or (kept := ground.listed()) is None:
                paths = _paths(group)
                kept = set(paths).difference(ground.ignored(paths, ()))
            _keep(group, kept)
            if self._has_own:
                paths = _paths(group)
                _keep(group, set(paths).difference(self._own.ignored(paths, ())))
            if self._options.include:
                _keep(group, set(self._choice.kept(_paths(group))))

    def _drop(self, path: str, changes: Changes) -> None:
        """Forget a folder and all folders below it; their files count as removed."""
        below = [path]
        while below:
            if folder := self.folders.pop(below.pop(), None):
                self.listener.left(folder.path)
                self._seen.discard(folder.identity)
                changes.removed += folder.paths()
                below += folder.children()

    def _walk_again(self) -> Changes:
        before, left = self.paths(), set(self.folders)
        deque(self.walk(), maxlen=0)
        for path in left.difference(self.folders):
            self.listener.left(path)
        return self._counted(Changes(self.paths(), before))

    def _counted(self, changes: Changes) -> Changes:
        """Return the net changes; if there are any, the tree gets a new version."""
        net = changes.net()
        self.version += bool(net.added or net.removed)
        return net

    def _is_stale(self, path: str) -> bool:
        """Return whether a folder, or an ignore file in it, may have changed since it was read."""
        folder = self.folders[path]
        try:
            found = os.lstat(self._reader.base + path)
        except OSError:
            return True
        return (
            found.st_mtime_ns != folder.written
            or found.st_ino != folder.identity[1]
            or any(stamp_of(file) != stamp for file, stamp in folder.ignore_files.items())
        )


def _paths(folders: Iterable[Folder]) -> list[str]:
    return [path for folder in folders for path in folder.paths()]


def _by_ground(folders: Iterable[Folder]) -> Iterable[tuple[Ground, list[Folder]]]:
    found: dict[Ground, list[Folder]] = {}
    for folder in folders:
        found.setdefault(folder.ground, []).append(folder)
    return found.items()


def _keep(folders: Iterable[Folder], paths: Collection[str]) -> None:
    for folder in folders:
        path = folder.path
        folder.files = [name for name in folder.files if path + name in paths]


def _parent(path: str) -> str:
    return path[: path.rfind("/", 0, -1) + 1]
