"""Tracks which files tools change in the workspace, and can restore them.

The workspace is compared before and after a tool runs: first by size, times and inode, then by
content where these differ. Copies are limited in size; only files that are asked for are touched.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from threading import RLock
from typing import Literal, NamedTuple

from ollm_tui.core.snapshot import ContextSnapshot, FileChange, FileContent, FileVersion
from ollm_tui.storage.files.beneath import Beneath
from ollm_tui.storage.files.cipher import Cipher, Plain
from ollm_tui.storage.files.file_copies import FileChangeLog, FileCopies, Found
from ollm_tui.storage.store_layout import StoreLayout

IGNORED = frozenset(
    (
        *(".git", ".hg", ".svn", "node_modules", "dist", "build", "target", ".next", ".cache"),
        *(".venv", "venv", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".tox"),
    )
)
"""Folders that are not looked at: other programs keep them, or a command makes them anew."""
MOST_FILES = 20_000
DEEPEST = 32
"""Limits of a scan: files, and levels of folders."""
LARGEST_FILE = 1024 * 1024
"""Bytes of the largest file that is copied."""
MOST_BYTES = 50 * 1024 * 1024
"""Bytes of all copies of a session."""
SHARE_BEFORE = 0.8
"""The share of these for files as they were before a tool; the rest is for what they become."""
SETTLED_AFTER_NS = 2 * 10**9
"""A file written less than this ago may be written again without a new time: it is read again."""

How = Literal["restore", "delete", "recreate", "conflict", "no-copy", "refused"]
"""`conflict`: somebody else changed it since the tool wrote it. `no-copy`: it was too large,
or there was no room. `refused`: a link, a directory or something unreadable is in its place."""


class FileStep(NamedTuple):
    """What a restore would do, or did, to one file."""

    path: str
    how: How
    now: int | None
    """Its size in bytes; None if it does not exist."""
    then: int | None
    """Its size in bytes after the restore; None if it will not exist."""


class FileMark(NamedTuple):
    """What is known of a file without reading it: any change of the file changes one of these."""

    size: int
    modified: int
    changed: int
    inode: int
    mode: int


class WorkspaceScan(NamedTuple):
    """The files of a workspace by their paths, with slashes, relative to its root."""

    files: dict[str, FileMark]
    is_whole: bool
    """False if there are more files, or deeper folders, than are looked at."""


class _Seen(NamedTuple):
    """A file as it was last seen."""

    mark: FileMark
    content: FileContent


class FileWatch:
    """Tracks the workspace of one session; usable in any thread.

    `before` and `after` are called around a tool; `begun` and `ended` for jobs that go on after
    it. OSError if the store cannot be written.
    """

    def __init__(
        self,
        root: Path,
        layout: StoreLayout,
        session_id: str,
        cipher: Cipher | None = None,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        folder = layout.snapshots / session_id / "files"
        cipher = cipher or Plain()
        self._files = Beneath(root.resolve())
        self._apart = layout.root.resolve()
        """The program's own store, which may lie in the workspace and is not looked at."""
        self._most_bytes = most_bytes
        self._copies = FileCopies(folder, cipher, most_bytes)
        self._log = FileChangeLog(folder / "changes.json", f"{session_id}/file-changes", cipher)
        self._scan = WorkspaceScan({}, is_whole=True)
        self._seen: dict[str, _Seen] = {}
        self._unsettled: set[str] = set()
        """Files written so recently that their marks may not tell another change."""
        self._only: Found | None = None
        """The one file that is about to be written, as it was before, if it is only one."""
        self._running: set[str] = set()
        self._is_open = False
        """Whether a job ran since the last comparison, so that differences are its doing."""
        self.has_looked = False
        """Whether the workspace was scanned at all."""
        self._lock = RLock()

    @property
    def root(self) -> Path:
        """The root of the workspace."""
        return self._files.root

    def before(self, path: str = "") -> None:
        """Remember the workspace, with copies of what is new since the last time.

        If `path` names the only file that is going to be written, only that one.
        """
        with self._lock:
            self._only = self._one(path)
            if self._only is None:
                now = scan(self._files.root, self._apart)
                if self._is_open:
                    self._log.add(self._compared(now))
                self._look(now)

    def after(self) -> tuple[FileChange, ...]:
        """Return what changed since `before`; it is logged when this returns."""
        with self._lock:
            if self._only is not None:
                return self._log.add(self._written(self._only))
            return self.settle()

    def begun(self, job_id: str) -> None:
        """Note that a job runs from now on, outside of `before` and `after`."""
        self._running.add(job_id)
        self._is_open = self.has_looked

    def ended(self, job_id: str) -> bool:
        """Note that a job has ended; return whether `begun` was called for it."""
        is_known = job_id in self._running
        self._running.discard(job_id)
        return is_known

    def settle(self) -> tuple[FileChange, ...]:
        """Return what changed since the last comparison; it is logged when this returns."""
        with self._lock:
            if not (self.has_looked and self._files.root.is_dir()):
                return ()
            changes = self._log.add(self._compared(scan(self._files.root, self._apart)))
            self._is_open = bool(self._running)
            return changes

    def versions(self) -> tuple[FileVersion, ...]:
        """Return the files that tools changed, as they left them, for a snapshot to remember."""
        last = {change.path: change for change in self._log.changes}
        return tuple(map(_version, last.values()))

    def preview(self, snapshot: ContextSnapshot) -> list[FileStep]:
        """Return exactly which files a restore of a snapshot would touch, and how."""
        since = self._since(snapshot)
        left = {change.path: change.after for change in since}
        then = {change.path: change.before for change in reversed(since)}
        steps = (self._step(path, then[path], left[path]) for path in sorted(then))
        return [step for step in steps if step]

    def restore(self, snapshot: ContextSnapshot, paths: Collection[str]) -> list[FileStep]:
        """Restore some of the files of a preview, each whole or not at all; return the steps.

        The restore is logged like any change, so it can be undone the same way. A step that
        failed is `refused` or `no-copy` in the result.
        """
        with self._lock:
            return self._restore(snapshot, paths)

    def _look(self, now: WorkspaceScan) -> None:
        """Take a scan as the state before a tool, with copies of the files."""
        self._scan, self.has_looked, self._is_open = now, True, bool(self._running)
        files = now.files
        known = {path: seen for path, seen in self._seen.items() if self._is_as(seen, path)}
        to_copy = self._to_copy(files)
        contents = (known[path].content for path in to_copy if path in known)
        names = {content.sha256 for content in contents if content.sha256}
        # Room first: what neither the log nor this state needs is removed before files are copied.
        self._copies.keep_only(self._log.names() | names)
        self._seen = {}
        for path, mark in files.items():
            if content := self._content(path, mark, known.get(path), path in to_copy):
                self._seen[path] = _Seen(mark, content)
        self._note_unsettled()

    def _note_unsettled(self) -> None:
        """Find the files whose times are too recent to tell another change."""
        limit = time.time_ns() - SETTLED_AFTER_NS
        files = self._scan.files
        self._unsettled = {path for path, mark in files.items() if max(mark[1:3]) > limit}

    def _one(self, path: str) -> Found | None:
        """Return a file as it is; None if it is outside the workspace or cannot be read."""
        target = self._files.root / path
        if not path or not target.is_relative_to(self._files.root) or ".." in target.parts:
            return None
        if target.is_relative_to(self._apart):
            return None
        name = target.relative_to(self._files.root).as_posix()
        try:
            before = self._read(name)
        except OSError:
            return None
        return name, before, before

    def _written(self, only: Found) -> list[Found]:
        """Return the change of the one file that was to be written; none if it is the same."""
        path, before, _ = only
        try:
            after = self._read(path)
        except OSError:
            return []
        if not IGNORED.intersection(path.split("/")[:-1]):
            self._remember(path, after)
        return [(path, before, after)] if before != after else []

    def _remember(self, path: str, content: FileContent | None) -> None:
        """Take a file's content into the known state, so that it is not found as a change later."""
        try:
            mark = mark_of(os.lstat(self._files.root / path)) if content else None
        except OSError:
            return
        if content and mark:
            self._scan.files[path] = mark
            self._seen[path] = _Seen(mark, content)
            self._unsettled.add(path)
        else:
            self._scan.files.pop(path, None)
            self._seen.pop(path, None)

    def _restore(self, snapshot: ContextSnapshot, paths: Collection[str]) -> list[FileStep]:
        then = {change.path: change.before for change in reversed(self._since(snapshot))}
        done: list[FileStep] = []
        found: list[Found] = []
        for step in self.preview(snapshot):
            if step.path not in paths:
                continue
            if step.how not in ("no-copy", "refused"):
                try:
                    now = self._read(step.path)
                    self._put(step.path, then[step.path])
                    found.append((step.path, now, then[step.path]))
                    self._remember(step.path, then[step.path])
                except OSError:
                    step = step._replace(how="refused")
            done.append(step)
        self._log.add(found)
        return done

    def _since(self, snapshot: ContextSnapshot) -> list[FileChange]:
        """Return the changes since a snapshot.

        By the number of the last change it knows; a snapshot without files, taken before the
        first scan, knows none: then its time decides.
        """
        if snapshot.files:
            last = max(file.change for file in snapshot.files)
            return [change for change in self._log.changes if change.number > last]
        return [change for change in self._log.changes if change.at > snapshot.timestamp]

    def _is_as(self, seen: _Seen, path: str) -> bool:
        """Return whether a file is certainly still as it was seen."""
        return seen.mark == self._scan.files.get(path) and path not in self._unsettled

    def _to_copy(self, files: dict[str, FileMark]) -> set[str]:
        """Return the files to copy: the newest ones, which are worked on, while there is room."""
        room = self._most_bytes * SHARE_BEFORE - self._copies.sizes(self._log.names())
        chosen: set[str] = set()
        for path, mark in sorted(files.items(), key=lambda item: -item[1].modified):
            if mark.size <= min(LARGEST_FILE, room):
                room -= mark.size
                chosen.add(path)
        return chosen

    def _content(
        self, path: str, mark: FileMark, known: _Seen | None, is_copied: bool
    ) -> FileContent | None:
        """Return the content of a file; None if it cannot be read."""
        if not is_copied:
            return FileContent(mark.size, mark.mode, modified=mark.modified)
        if known and known.content.sha256:
            return known.content
        try:
            return self._read(path)
        except OSError:
            return None

    def _compared(self, now: WorkspaceScan) -> list[Found]:
        """Return what differs from the known state, and take the scan as the new one."""
        found = list(self._found(now))
        for path, _, after in found:
            mark = now.files.get(path)
            if after and mark:
                self._seen[path] = _Seen(mark, after)
            else:
                self._seen.pop(path, None)
        self._scan = now
        self._note_unsettled()
        return found

    def _found(self, now: WorkspaceScan) -> Iterator[Found]:
        """Yield the files whose content differs from the known state."""
        for path in sorted({*self._scan.files, *now.files}):
            seen = self._seen.get(path)
            may_deceive = path in self._unsettled and seen and seen.content.sha256
            if seen and seen.mark == now.files.get(path) and not may_deceive:
                continue
            # A file that could not be read before, or was beyond the scan's limits, may be old.
            if seen is None and (path in self._scan.files or not self._scan.is_whole):
                continue
            before = seen.content if seen else None
            try:
                after = self._read(path)
            except OSError:
                continue
            if before != after:
                yield path, before, after

    def _step(
        self, path: str, then: FileContent | None, left: FileContent | None
    ) -> FileStep | None:
        """Return how a file gets back from what the tool `left` to `then`; None if it is so."""
        sizes = None, then.size if then else None
        try:
            now = self._read(path)
        except OSError:
            return FileStep(path, "refused", *sizes)
        if now == then:
            return None
        sizes = now.size if now else None, then.size if then else None
        if then and self._copy(then) is None:
            return FileStep(path, "no-copy", *sizes)
        if now != left:
            return FileStep(path, "conflict", *sizes)
        if then is None:
            return FileStep(path, "delete", *sizes)
        return FileStep(path, "restore" if now else "recreate", *sizes)

    def _put(self, path: str, then: FileContent | None) -> None:
        """Write or remove a file. OSError if that fails or there is no copy."""
        if then is None:
            self._files.remove(path)
            return
        data = self._copy(then)
        if data is None:
            raise OSError("the copy is gone")
        self._files.write(path, data, then.mode)

    def _copy(self, content: FileContent) -> bytes | None:
        return self._copies.get(content.sha256) if content.sha256 else None

    def _read(self, path: str) -> FileContent | None:
        """Return the content of a file now, copied if there is room; None if there is no file.

        OSError if something else is there.
        """
        found = self._files.read(path, LARGEST_FILE)
        if found is None:
            return None
        if found.data is None:
            return FileContent(found.size, found.mode, modified=found.modified)
        return FileContent(found.size, found.mode, self._copies.put(found.data))


def scan(root: Path, apart: Path, ignored: Collection[str] = IGNORED) -> WorkspaceScan:
    """Scan a workspace. Links are not followed; `apart` and `ignored` folders are not entered."""
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
    """Return the mark of a file from its status."""
    times = status.st_mtime_ns, status.st_ctime_ns
    return FileMark(status.st_size, *times, status.st_ino, stat.S_IMODE(status.st_mode))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """List a folder in a fixed order, so that a limited scan sees the same files every time."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _version(change: FileChange) -> FileVersion:
    left = change.after
    return FileVersion(
        change.path, left.sha256 if left else None, left.size if left else 0, change.number
    )
