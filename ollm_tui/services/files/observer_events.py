"""Events of systems that report all below a folder at once, as macOS and Windows do."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event, Lock

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers.api import BaseObserver

from ollm_tui.services.files.folder_events import Hints
from ollm_tui.services.files.ignore_files import GIT_IGNORE, OWN_IGNORE


class ObserverEvents(FileSystemEventHandler):
    """One of watchdog's observers, which watches the root with everything below it.

    What happens in folders that nobody looks into is dropped as soon as it arrives. OSError or
    RuntimeError if the system cannot watch the root.
    """

    notice = ""
    # The system takes its time to report.
    is_prompt = False
    exhausted = False

    def __init__(self, root: Path, observer: Callable[[], BaseObserver]) -> None:
        # The system reports real paths, whatever the path that was asked for.
        place = os.path.realpath(root)
        self._base = place.rstrip(os.sep) + os.sep
        self._folders: set[str] = set()
        self._lock = Lock()
        """Held while hints are changed: events arrive in a thread of the observer."""
        self._hints = Hints()
        self._woken = Event()
        self._observer = observer()
        self._observer.schedule(self, place, recursive=True)
        self._observer.start()

    def entering(self, folder: str) -> None:
        """Let events in a folder count."""
        self._folders.add(folder)

    def left(self, folder: str) -> None:
        """Drop events in a folder from now on."""
        self._folders.discard(folder)

    def wait(self, seconds: float | None) -> bool:
        """Sleep until there are events, `wake` is called or the time is over."""
        woken = self._woken.wait(seconds)
        self._woken.clear()
        return woken

    def collect(self, hints: Hints) -> bool:
        """Add all that arrived so far to the hints; return whether there was anything."""
        with self._lock:
            found, self._hints = self._hints, Hints()
        hints.add(found)
        return bool(found)

    def is_being_written(self, path: str) -> bool:
        """Return False: that is not known."""
        return False

    def wake(self) -> None:
        """End the `wait` of another thread."""
        self._woken.set()

    def close(self) -> None:
        """Stop the observer; its threads have ended when this returns."""
        self._observer.stop()
        self._observer.join()

    def on_created(self, event: FileSystemEvent) -> None:
        """Note a new name; called by a thread of the observer, like all that follow."""
        self._note(event.src_path, event.is_directory, appeared=True)

    def on_deleted(self, event: FileSystemEvent) -> None:
        """Note that a name is gone."""
        self._note(event.src_path, event.is_directory)

    def on_moved(self, event: FileSystemEvent) -> None:
        """Note that a name is gone and that there is a new one."""
        self._note(event.src_path, event.is_directory)
        self._note(event.dest_path, event.is_directory, appeared=True)

    def on_modified(self, event: FileSystemEvent) -> None:
        """Note a written file, or a folder in which names have changed."""
        if event.is_directory:
            self._note(os.fsdecode(event.src_path) + os.sep, is_folder=True)
        else:
            self._note(event.src_path, is_folder=False, written=True)

    def _note(
        self, path: bytes | str, is_folder: bool, *, appeared: bool = False, written: bool = False
    ) -> None:
        place = os.fsdecode(path)
        if place + os.sep == self._base:  # the root itself has gone
            place = self._base
        if not place.startswith(self._base):
            return
        place = place.removeprefix(self._base).replace(os.sep, "/")
        cut = place.rfind("/") + 1
        folder, name = place[:cut], place[cut:]
        if folder not in self._folders:
            return
        with self._lock:
            if not written or name in (GIT_IGNORE, OWN_IGNORE):
                self._hints.folders.add(folder)
            if not is_folder and (written or appeared):
                self._hints.files.add(place)
            elif appeared:
                self._hints.replaced.add(f"{place}/")
        self._woken.set()


def recursive_observer() -> Callable[[], BaseObserver]:
    """Return the observer of a system that reports all below a folder; ImportError without one.

    watchdog's choice is not taken where that means kqueue, which opens every file, or reading
    every folder again and again: it would do so in ignored folders, too.
    """
    if sys.platform == "win32":
        from watchdog.observers.read_directory_changes import WindowsApiObserver

        return WindowsApiObserver
    from watchdog.observers.fsevents import FSEventsObserver

    return FSEventsObserver
