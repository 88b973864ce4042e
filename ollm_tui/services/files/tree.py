"""The folders of a project: walked once, then read again only where something changed.

Only one thread at a time may use a tree.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ollm_tui.services.files.folder import Folder, FolderReader, Waiting
from ollm_tui.services.files.folder_events import FolderListener, NoListener
from ollm_tui.services.files.git_program import GitProgram
from ollm_tui.services.files.glob_patterns import rules_of
from ollm_tui.services.files.ignore_files import IgnoreFiles, Scope, Stamp, stamp_of
from ollm_tui.services.files.ignore_rules import IgnoreRules
from ollm_tui.services.files.options import DiscoveryOptions
from ollm_tui.services.files.repository import repository_at

FIRST_BATCH, LARGEST_BATCH = 200, 20_000
"""Paths in a batch: few in the first one so that it comes soon, then twice as many each time."""


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
    """The folders below a root that are looked into, by their relative path."""

    def __init__(self, root: Path, options: DiscoveryOptions, environ: Mapping[str, str]) -> None:
        self.root = root
        self.folders: dict[str, Folder] = {}
        self.listener: FolderListener = NoListener()
        self.version = 0
        """Grows whenever the list of files changes."""
        always = rules_of((*options.builtin_ignores, *options.exclude))
        self._program = GitProgram(environ)
        self._ignore_files = IgnoreFiles(root, always, environ)
        self._reader = FolderReader(root, options, self._ignore_files)
        self._max_depth = options.max_depth
        self._follows = options.follow_symlinks
        self._outermost = Scope(IgnoreRules(), IgnoreRules(), IgnoreRules())
        self._seen: set[tuple[int, int]] = set()
        self._index: Stamp = None
        self._hidden: list[str] = []
        """Files in git's index that lie in folders it ignores: they are listed without a walk."""

    @property
    def unreadable(self) -> int:
        """How many folders could not be read."""
        return len(self._reader.unreadable)

    def paths(self) -> list[str]:
        """Return all files, in no particular order."""
        found = list(self._hidden)
        for folder in self.folders.values():
            found += folder.paths()
        return found

    def paths_below(self, path: str) -> list[str]:
        """Return the files in a folder and in all folders below it."""
        found, below = list[str](), [path]
        while below:
            if folder := self.folders.get(below.pop()):
                found += folder.paths()
                below += _children(folder)
        return found

    def known(self, paths: Iterable[str]) -> set[str]:
        """Return those of the files that are in the tree."""
        found: set[str] = set()
        for path, names in _by_folder(paths).items():
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
        self._hidden = []
        self._reader.tracked = {}
        self._outermost = self._ignore_files.outermost()
        start = [Waiting("", 0, self._outermost)]
        self._index = self._stamp_of_index()
        if self._index is None:
            yield from self._explore(start)
            return
        # Git answers while the walk goes on.
        with self._program.tracked_but_ignored(str(self.root)) as question:
            yield from self._explore(start)
            if found := self._with_tracked(question.answer()).added:
                yield found

    def refresh(self) -> Changes:
        """Read again the folders whose time, or that of an ignore file in them, has changed."""
        changes = self.refresh_rules()
        return changes.then(
            self.look_again([path for path in self.folders if self._is_stale(path)])
        )

    def refresh_rules(self) -> Changes:
        """Read again what is affected by changes of rules outside the tree, or of git's index."""
        if self._ignore_files.have_changed() or self._has_other_repository():
            return self._walk_again()
        index = self._stamp_of_index()
        if index == self._index:
            return Changes()
        self._index = index
        with self._program.tracked_but_ignored(str(self.root)) as question:
            return self._with_tracked(question.answer())

    def look_again(self, paths: Iterable[str], replaced: Collection[str] = ()) -> Changes:
        """Read some folders again, with new folders in them; `replaced` ones with all below."""
        changes = Changes()
        fresh: list[Waiting] = []
        for path in sorted({*paths, *replaced}):  # a folder before those in it
            if old := self.folders.get(path):
                fresh += self._read_again(old, changes, path in replaced)
        for batch in self._explore(fresh):
            changes.added += batch
        return self._counted(changes)

    def _read_again(self, old: Folder, changes: Changes, replaced: bool) -> list[Waiting]:
        """Read one folder again; note its changes and return the new folders in it."""
        path = old.path
        self.listener.entering(path)
        new = self._reader.read(Waiting(path, old.depth, self._scope_above(path)))
        if new is None:
            self._drop(path, changes)
            return []
        self.folders[path] = new
        changes.removed += [path + name for name in set(old.files).difference(new.files)]
        changes.added += [path + name for name in new.files if name not in old.files]
        gone = set(_children(old)).difference(_children(new))
        # Other rules may hold in all folders below: they are dropped and found anew.
        if replaced or _rules_differ(old, new):
            gone = set(_children(old))
        for child in gone:
            self._drop(child, changes)
        children = [child for child in _children(new) if child not in self.folders]
        return [Waiting(child, new.depth + 1, new.scope) for child in children]

    def _explore(self, start: Iterable[Waiting]) -> Iterator[list[str]]:
        """Read folders and all below them; yield their files in batches."""
        # Links come last: as each real folder is read once, it gets its real path if it has one.
        waiting, behind_links = deque(start), deque[Waiting]()
        batch: list[str] = []
        enough = FIRST_BATCH
        while waiting or behind_links:
            current = waiting.popleft() if waiting else behind_links.popleft()
            folder = self._enter(current)
            if folder is None:
                continue
            batch += folder.paths()
            waiting.extend(_waiting(folder, folder.folders))
            behind_links.extend(_waiting(folder, folder.links))
            if len(batch) >= enough:
                yield batch
                batch, enough = [], min(2 * enough, LARGEST_BATCH)
        if batch:
            yield batch

    def _enter(self, waiting: Waiting) -> Folder | None:
        """Read a folder; None if it is gone, or was read under another path."""
        # Watched before it is read: what changes in between is then reported.
        self.listener.entering(waiting.path)
        folder = self._reader.read(waiting)
        if folder is None or (self._follows and folder.identity in self._seen):
            self.listener.left(waiting.path)
            return None
        self._seen.add(folder.identity)
        self.folders[waiting.path] = folder
        return folder

    def _drop(self, path: str, changes: Changes) -> None:
        """Forget a folder and all folders below it; their files count as removed."""
        below = [path]
        while below:
            if folder := self.folders.pop(below.pop(), None):
                self.listener.left(folder.path)
                self._seen.discard(folder.identity)
                changes.removed += folder.paths()
                below += _children(folder)

    def _walk_again(self) -> Changes:
        before, left = self.paths(), set(self.folders)
        after = [path for batch in self.walk() for path in batch]
        for path in left.difference(self.folders):
            self.listener.left(path)
        return self._counted(Changes(after, before))

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
            or bool(folder.ignore_files and _any_changed(folder.ignore_files))
        )

    def _scope_above(self, path: str) -> Scope:
        parent = path[: path.rfind("/", 0, -1) + 1]
        return self.folders[parent].scope if path else self._outermost

    def _has_other_repository(self) -> bool:
        """Return whether the root has become a repository of its own, or is one no more."""
        known, found = self._ignore_files.repository, repository_at(self.root.resolve())
        return found is not None if known is None else known.top == self.root and found is None

    def _stamp_of_index(self) -> Stamp:
        repository = self._ignore_files.repository
        return stamp_of(str(repository.git / "index")) if repository else None

    def _with_tracked(self, tracked: Iterable[str]) -> Changes:
        """List the ignored files that are in git's index; return what that changes."""
        by_folder = _by_folder(tracked)
        affected = set(self._reader.tracked).union(by_folder).intersection(self.folders)
        self._reader.tracked = by_folder
        changes = self.look_again(affected)
        before = self._hidden
        self._hidden = self._in_ignored_folders(by_folder)
        hidden = self._counted(Changes(list(self._hidden), before))
        return changes.then(hidden)

    def _in_ignored_folders(self, tracked: Mapping[str, Collection[str]]) -> list[str]:
        found: list[str] = []
        scopes: dict[str, Scope | None] = {}
        for folder, names in tracked.items():
            if folder in self.folders or folder.count("/") > self._max_depth:
                continue
            if scope := self._scope_in_ignored(folder, scopes):
                found += self._reader.tracked_files(folder, names, scope)
        return found

    def _scope_in_ignored(self, path: str, known: dict[str, Scope | None]) -> Scope | None:
        """Return the rules in a folder that git ignores; None if own rules ignore it, too."""
        if path in self.folders:
            return self.folders[path].scope
        if path not in known:
            cut = path.rfind("/", 0, -1) + 1
            above = self._scope_in_ignored(path[:cut], known)
            known[path] = above and self._reader.scope_if_tracked(path, cut, above)
        return known[path]


def _by_folder(paths: Iterable[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in paths:
        cut = path.rfind("/") + 1
        found.setdefault(path[:cut], set()).add(path[cut:])
    return found


def _waiting(folder: Folder, names: Iterable[str]) -> list[Waiting]:
    path, depth, scope = folder.path, folder.depth + 1, folder.scope
    return [Waiting(f"{path}{name}/", depth, scope) for name in names]


def _children(folder: Folder) -> list[str]:
    return [f"{folder.path}{name}/" for name in (*folder.folders, *folder.links)]


def _any_changed(stamps: Mapping[str, Stamp]) -> bool:
    return any(stamp_of(path) != stamp for path, stamp in stamps.items())


def _rules_differ(old: Folder, new: Folder) -> bool:
    other_repository = old.scope.in_repository != new.scope.in_repository
    return other_repository or old.ignore_files != new.ignore_files
