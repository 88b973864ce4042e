"""Keeps a tree as it is on disk and reports files that were added, changed and removed.

Events of the system are only hints where to look; what counts is the difference to before. So
renames, bursts, and editors that save by renaming need no special care.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Literal, NamedTuple

from ollm_tui.services.files.folder_events import FolderEvents, Hints, NoListener
from ollm_tui.services.files.tree import Changes, Tree

QUIET_SECONDS = 0.1
"""Changes are reported when nothing more has happened for this long."""
LONGEST_SECONDS = 1.0
"""Changes are reported after this time at the latest."""
CLOCK_STEP_NANOSECONDS = 20_000_000
"""The largest step of the times that the system gives to files."""
LEAST_SECONDS = 2.0
"""The shortest pause between two polls."""
REST_FOR_WORK = 20
"""A pause is at least this many times as long as the last poll took: 5 % of a processor."""

POLLING_NOTICE = (
    "the system cannot watch this many folders: changes are noticed some seconds later; "
    "a higher fs.inotify.max_user_watches helps"
)
NO_EVENTS_NOTICE = "file watching unavailable: changes show up a few seconds later"


class FileEvent(NamedTuple):
    """A change of a file; its path is relative to the root."""

    kind: Literal["add", "change", "unlink"]
    path: str


class _Noted(NamedTuple):
    """A file that something happened to since it was last reported."""

    was_there: bool
    first: float
    last: float
    """When something happened for the first and for the last time (monotonic seconds)."""


class Watcher:
    """Watches the folders of a tree, in a thread of its own, until it is closed.

    Other users of the tree have to hold the lock meanwhile. Making one loads watchdog, which
    takes 40 ms: no thread that has to answer keys should do it.
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
        self._events = events or best_events(tree.root)
        self._quiet_seconds = quiet_seconds
        self._hints = Hints()
        self._noted: dict[str, _Noted] = {}
        """Files that something happened to since they were last reported."""
        self._closed = False
        self._times = _Times(tree.root)
        self._thread = Thread(target=self._run, name="file watcher", daemon=True)

    @property
    def notice(self) -> str:
        """A notice for the user about how changes are watched; mostly empty."""
        return self._events.notice

    def start(self) -> None:
        """Start the thread. What changed since the tree was walked is reported, too."""
        with self._lock:
            self._tree.listener = self._events
            # Watched first, compared afterwards: nothing in between is missed.
            for folder in self._tree.folders:
                self._events.entering(folder)
            self._note(self._tree.refresh())
            self._poll_if_exhausted()
            if isinstance(self._events, Polling):
                self._times.written(self._tree.paths())
        self._thread.start()

    def catch_up(self) -> None:
        """Bring the tree up to date at once; called in another thread, which holds the lock."""
        self._events.collect(self._hints)
        self._bring_up_to_date()
        if not self._events.is_prompt:
            self._note(self._tree.refresh())
        if self._noted or self._events.exhausted:
            self._events.wake()

    def close(self) -> None:
        """Stop; when this returns the thread has ended."""
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
                due = self._due()
            if due and not self._closed:
                self._report(due)

    def _settle(self) -> None:
        """Bring the tree up to date once it is quiet, or when that takes too long."""
        began = time.monotonic()
        while True:
            self._events.wait(self._quiet_seconds)
            late = time.monotonic() - began > LONGEST_SECONDS
            with self._lock:
                more = self._events.collect(self._hints)
                done = late or not self._hints
                if late or not more:
                    self._bring_up_to_date()
            # Reading folders finds changes before their events arrive: wait for these, too.
            if done or self._closed:
                return

    def _bring_up_to_date(self) -> None:
        hints, self._hints = self._hints, Hints()
        changes = self._tree.refresh_rules()
        self._note(changes.then(self._look(hints)) if hints else changes)

    def _look(self, hints: Hints) -> Changes:
        """Read again what the hints name; note the files that were written."""
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
        """Note that something happened to a file; whether it existed counts the first time."""
        now = time.monotonic()
        was_there, first, _ = self._noted.get(path, (is_there, now, now))
        self._noted[path] = _Noted(was_there, first, now)

    def _due(self) -> list[FileEvent]:
        """Return the events to report, without files that are just being written."""
        self._events.collect(self._hints)
        now = time.monotonic()
        ripe = [path for path, noted in self._noted.items() if self._is_ripe(path, noted, now)]
        there = self._tree.known(ripe)
        events: list[FileEvent] = []
        for path in ripe:
            was_there = self._noted.pop(path).was_there
            if path in there:
                events.append(FileEvent("change" if was_there else "add", path))
            elif was_there:
                events.append(FileEvent("unlink", path))
        return events

    def _is_ripe(self, path: str, noted: _Noted, now: float) -> bool:
        """Return whether a file is quiet, or has waited for long enough."""
        if now - noted.first >= LONGEST_SECONDS:
            return True
        is_busy = path in self._hints.files or self._events.is_being_written(path)
        return now - noted.last >= self._quiet_seconds and not is_busy

    def _poll_if_exhausted(self) -> None:
        """Change to polling if the system allows no more watches."""
        if self._events.exhausted:
            self._events.close()
            self._events = self._tree.listener = Polling(POLLING_NOTICE)
            self._times.written(self._tree.paths())


def best_events(root: Path) -> FolderEvents:
    """Return what the system reports, or polling if it reports nothing (any more)."""
    try:
        if sys.platform == "linux":
            from ollm_tui.services.files.inotify_events import InotifyEvents

            return InotifyEvents(f"{root}/")
        from ollm_tui.services.files.observer_events import ObserverEvents, recursive_observer

        return ObserverEvents(root, recursive_observer())
    except (ImportError, OSError, RuntimeError):
        return Polling(NO_EVENTS_NOTICE)


class _Times:
    """Finds files written since the last time, by the times their inodes changed (ctime)."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._checked = time.time_ns()
        self._recent: dict[str, int] = {}
        """Times that are known already, of files changed just before the last check."""

    def written(self, paths: Iterable[str]) -> list[str]:
        """Return the files written since the last call."""
        # Times may lag behind the clock by a step: files of that moment are looked at again.
        since, self._checked = self._checked - CLOCK_STEP_NANOSECONDS, time.time_ns()
        known, self._recent = self._recent, {}
        for path in paths:
            if (changed := self._changed(path)) >= since:
                self._recent[path] = changed
        return [path for path, changed in self._recent.items() if known.get(path) != changed]

    def nothing_missed(self) -> None:
        """Note that the system has reported everything until now."""
        self._checked = time.time_ns()

    def seen(self, paths: Iterable[str]) -> None:
        """Take the times of files that are reported as added already as known."""
        self._recent.update((path, self._changed(path)) for path in paths)

    def _changed(self, path: str) -> int:
        try:
            return os.lstat(f"{self._root}/{path}").st_ctime_ns
        except OSError:
            return -1


class Polling:
    """The events of a system that reports none: after every pause all has to be looked at."""

    exhausted = False
    is_prompt = False

    def __init__(self, notice: str = "", least_seconds: float = LEAST_SECONDS) -> None:
        self.notice = notice
        self._least = least_seconds
        self._wakened = Event()
        self._due = False
        self._began: float | None = None
        self._rest = least_seconds

    def entering(self, folder: str) -> None:
        """Do nothing: all folders are looked at anyway."""

    def left(self, folder: str) -> None:
        """Do nothing: all folders are looked at anyway."""

    def wait(self, seconds: float | None) -> bool:
        """Sleep until the next poll (None), or only for some seconds; return whether one is due."""
        if self._began is not None:
            self._rest = max(self._least, REST_FOR_WORK * (time.monotonic() - self._began))
            self._began = None
        self._wakened.wait(self._rest if seconds is None else seconds)
        self._wakened.clear()
        self._due = self._due or seconds is None
        return self._due

    def collect(self, hints: Hints) -> bool:
        """Ask for a look at everything, once after each pause."""
        if not self._due:
            return False
        self._due, hints.everything = False, True
        self._began = time.monotonic()
        return True

    def is_being_written(self, path: str) -> bool:
        """Return False: that is not known."""
        return False

    def wake(self) -> None:
        """End the pause."""
        self._wakened.set()

    def close(self) -> None:
        """Do nothing: there are no resources."""
