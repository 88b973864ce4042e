"""Keeps a tree as it is on disk, and tells which files were added, changed and unlinked.

What the system tells is only a hint where to look; what counts is the difference to before.
So renames, bursts and editors that write by renaming need no special care.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Literal, NamedTuple

from ollm_tui.services.files.folder_events import FolderEvents, Hints, Inotify, NoListener
from ollm_tui.services.files.tree import Changes, Tree

LEAST_SECONDS = 2.0
REST_FOR_WORK = 20
"""Rest that many times as long as the last look took: at most 5 % of a processor."""


class Polling:
    """Says after every rest that everything has to be looked at."""

    exhausted = False

    def __init__(self, least_seconds: float = LEAST_SECONDS) -> None:
        self._least = least_seconds
        self._wakened = Event()
        self._due = False
        self._began: float | None = None
        self._rest = least_seconds

    def entering(self, folder: str) -> None:
        """All folders are looked at anyway."""

    def left(self, folder: str) -> None:
        """All folders are looked at anyway."""

    def wait(self, seconds: float | None) -> bool:
        """Rest until the next look; or only for some seconds."""
        if self._began is not None:
            self._rest = max(self._least, REST_FOR_WORK * (time.monotonic() - self._began))
            self._began = None
        self._wakened.wait(self._rest if seconds is None else seconds)
        self._wakened.clear()
        self._due = self._due or seconds is None
        return self._due

    def collect(self, hints: Hints) -> bool:
        """Everything, once after each rest."""
        if not self._due:
            return False
        self._due, hints.everything = False, True
        self._began = time.monotonic()
        return True

    def is_being_written(self, path: str) -> bool:
        """Nobody knows."""
        return False

    def wake(self) -> None:
        """End the rest."""
        self._wakened.set()

    def close(self) -> None:
        """There is nothing to give back."""


QUIET_SECONDS = 0.1
LONGEST_SECONDS = 1.0
"""Told when nothing more has happened for a while, or at the latest after this time."""

CLOCK_STEP_NANOSECONDS = 20_000_000
"""Times of files are that coarse at most."""

POLLING_NOTICE = (
    "the system cannot watch this many folders: changes are noticed some seconds later; "
    "a higher fs.inotify.max_user_watches helps"
)


class FileEvent(NamedTuple):
    """What happened to a file; its path is relative to the root."""

    kind: Literal["add", "change", "unlink"]
    path: str


class _Noted(NamedTuple):
    """A file that something happened to."""

    was_there: bool
    first: float
    last: float
    """When it happened, for the first and for the last time."""


class Watcher:
    """Watches the folders of a tree, in a thread of its own, until it is closed.

    Who else uses the tree holds the lock meanwhile.
    """

    def __init__(
        self,
        tree: Tree,
        lock: Lock,
        report: Callable[[Sequence[FileEvent]], None],
        events: FolderEvents | None = None,
        quiet_seconds: float = QUIET_SECONDS,
    ) -> None:
        self._tree = tree
        self._lock = lock
        self._report = report
        self._events = events or _best_events(tree)
        self._quiet_seconds = quiet_seconds
        self._hints = Hints()
        self._noted: dict[str, _Noted] = {}
        """Files that something happened to since they were told last."""
        self._closed = False
        self._times = _Times(tree.root)
        self._thread = Thread(target=self._run, name="file watcher", daemon=True)

    @property
    def notice(self) -> str:
        """What the user should know about how it watches; mostly nothing."""
        return POLLING_NOTICE if isinstance(self._events, Polling) else ""

    def start(self) -> None:
        """Begin. What changed since the tree was walked is told, too."""
        with self._lock:
            self._tree.listener = self._events
            for folder in self._tree.folders:
                self._events.entering(folder)
            self._note(self._tree.refresh())
            self._poll_if_exhausted()
            if isinstance(self._events, Polling):
                self._times.written(self._tree.paths())
        self._thread.start()

    def catch_up(self) -> None:
        """Bring the tree up to date at once, from another thread. The lock has to be held."""
        self._events.collect(self._hints)
        self._bring_up_to_date()
        if self._noted or self._events.exhausted:
            self._events.wake()

    def close(self) -> None:
        """Stop; the thread has ended when this returns."""
        self._closed = True
        self._events.wake()
        if self._thread.is_alive():
            self._thread.join()
        self._tree.listener = NoListener()
        self._events.close()

    def _run(self) -> None:
        while not self._closed:
            self._events.wait(self._quiet_seconds if self._noted else None)
            self._settle()
            with self._lock:
                self._poll_if_exhausted()
                told = self._told()
            if told and not self._closed:
                self._report(told)

    def _settle(self) -> None:
        """Bring the tree up to date when nothing more happens, or it goes on for too long."""
        began = time.monotonic()
        while True:
            self._events.wait(self._quiet_seconds)
            late = time.monotonic() - began > LONGEST_SECONDS
            with self._lock:
                more = self._events.collect(self._hints)
                done = late or not self._hints
                if late or not more:
                    self._bring_up_to_date()
            # What was found by looking is told by the system, too: so not before that is in.
            if done or self._closed:
                return

    def _bring_up_to_date(self) -> None:
        hints, self._hints = self._hints, Hints()
        changes = self._tree.refresh_rules()
        self._note(changes.then(self._look(hints)) if hints else changes)

    def _look(self, hints: Hints) -> Changes:
        tree = self._tree
        if hints.everything:
            self._note_written({*hints.files, *self._times.written(tree.paths())})
            changes = tree.refresh()
            self._times.seen(changes.added)
            return changes
        replaced = {folder for folder in hints.replaced if tree.was_replaced(folder)}
        below = [path for folder in replaced for path in tree.paths_below(folder)]
        self._note_written({*hints.files, *below})
        self._times.nothing_missed()
        return tree.look_again(hints.folders, replaced)

    def _note_written(self, paths: set[str]) -> None:
        there = self._tree.known(paths)
        for path in paths:
            self._note_one(path, path in there)

    def _note(self, changes: Changes) -> None:
        for path in changes.added:
            self._note_one(path, False)
        for path in changes.removed:
            self._note_one(path, True)

    def _note_one(self, path: str, is_there: bool) -> None:
        now = time.monotonic()
        was_there, first, _ = self._noted.get(path, (is_there, now, now))
        self._noted[path] = _Noted(was_there, first, now)

    def _told(self) -> list[FileEvent]:
        """The difference to what was told before, of files that are not being written just now."""
        self._events.collect(self._hints)
        now = time.monotonic()
        ripe = [path for path, noted in self._noted.items() if self._is_ripe(path, noted, now)]
        there = self._tree.known(ripe)
        told: list[FileEvent] = []
        for path in ripe:
            was_there = self._noted.pop(path).was_there
            if path in there:
                told.append(FileEvent("change" if was_there else "add", path))
            elif was_there:
                told.append(FileEvent("unlink", path))
        return told

    def _is_ripe(self, path: str, noted: _Noted, now: float) -> bool:
        if now - noted.first >= LONGEST_SECONDS:
            return True
        is_busy = path in self._hints.files or self._events.is_being_written(path)
        return now - noted.last >= self._quiet_seconds and not is_busy

    def _poll_if_exhausted(self) -> None:
        if self._events.exhausted:
            self._events.close()
            self._events = self._tree.listener = Polling()
            self._times.written(self._tree.paths())


class _Times:
    """Finds files written since the last time, by when their inodes changed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._checked = time.time_ns()
        self._recent: dict[str, int] = {}
        """Of files of the last moment: times which are known already."""

    def written(self, paths: Iterable[str]) -> list[str]:
        """Those written since this was asked before."""
        since, self._checked = self._checked - CLOCK_STEP_NANOSECONDS, time.time_ns()
        known, self._recent = self._recent, {}
        for path in paths:
            if (changed := self._changed(path)) >= since:
                self._recent[path] = changed
        return [path for path, changed in self._recent.items() if known.get(path) != changed]

    def nothing_missed(self) -> None:
        """All until now was told by the system."""
        self._checked = time.time_ns()

    def seen(self, paths: Iterable[str]) -> None:
        """These are told otherwise: they count as known."""
        self._recent.update((path, self._changed(path)) for path in paths)

    def _changed(self, path: str) -> int:
        try:
            return os.lstat(f"{self._root}/{path}").st_ctime_ns
        except OSError:
            return -1


def _best_events(tree: Tree) -> FolderEvents:
    try:
        return Inotify(f"{tree.root}/")
    except OSError:
        return Polling()
