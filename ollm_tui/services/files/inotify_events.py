"""Events of single folders on Linux, by watchdog's inotify instance.

watchdog's own observer would watch all below the root, ignored folders too, or start a thread for
each folder. Its inotify instance takes one folder at a time and is read here by whoever wants to
know, so that there is no thread between the kernel and the one that asks.
"""

from __future__ import annotations

import errno
import os
import select

from watchdog.observers.inotify_c import (
    CallbackId,
    InotifyConstants,
    InotifyEvent,
    InotifyFD,
    Mask,
    WatchDescriptor,
)

from ollm_tui.services.files.folder_events import Hints
from ollm_tui.services.files.ignore_files import GIT_IGNORE, OWN_IGNORE

_READ_BYTES = 1 << 16

_WRITTEN = InotifyConstants.IN_MODIFY | InotifyConstants.IN_CLOSE_WRITE
_BEGUN = InotifyConstants.IN_CREATE | InotifyConstants.IN_MODIFY
_APPEARED = InotifyConstants.IN_CREATE | InotifyConstants.IN_MOVED_TO
_NAMES_CHANGED = _APPEARED | InotifyConstants.IN_DELETE | InotifyConstants.IN_MOVED_FROM
_MASK = Mask(
    _WRITTEN | _NAMES_CHANGED | InotifyConstants.IN_ONLYDIR | InotifyConstants.IN_EXCL_UNLINK
)


class InotifyEvents:
    """One inotify instance with a watch for each folder. OSError if the system has none left."""

    notice = ""
    is_prompt = True

    def __init__(self, base: str) -> None:
        self._base = base
        self._inotify = _Instance()
        # A pipe ends the sleep in `poll`: its second end is written to by `wake`.
        self._waking, self._wakened = os.pipe()
        self._poll = select.poll()
        self._poll.register(self._inotify, select.POLLIN)
        self._poll.register(self._waking, select.POLLIN)
        for end in (self._waking, self._wakened):
            os.set_blocking(end, False)
        self._watches: dict[str, _Watch] = {}
        self._hints = Hints()
        """What the events that are just being read are added to."""
        self._being_written: dict[str, set[str]] = {}
        """Names by folder of files that were written to and not closed since."""
        self.exhausted = False
        """Whether a folder could not be watched because the system allows no more watches."""

    def entering(self, folder: str) -> None:
        """Watch a folder. One that was renamed keeps its watch, under both names until it left."""
        watch, place = _Watch(self, folder), os.fsencode(self._base + folder)
        try:
            watch.number = self._inotify.add_callback(place, _MASK, watch, watch.id)
        except OSError as error:
            self.exhausted |= error.errno in (errno.ENOSPC, errno.ENOMEM)
            return  # or it is gone: whoever reads it is about to find that
        # Only now, so that a folder that stayed the same is watched all the time.
        self._forget(folder)
        self._watches[folder] = watch

    def left(self, folder: str) -> None:
        """Stop watching a folder, unless it is watched under a new name."""
        self._being_written.pop(folder, None)
        self._forget(folder)

    def wait(self, seconds: float | None) -> bool:
        """Sleep until there are events, `wake` is called or the time is over."""
        ready = dict(self._poll.poll(None if seconds is None else seconds * 1000))
        if self._waking in ready:
            os.read(self._waking, _READ_BYTES)
        return bool(ready)

    def collect(self, hints: Hints) -> bool:
        """Add all events so far to the hints; return whether there were any."""
        self._hints = hints
        some = False
        while self._inotify.has_events():
            some = True
            for event in self._inotify.read_events(event_buffer_size=_READ_BYTES):
                if event.is_queue_overflow:
                    hints.everything = True
                else:
                    self._inotify.handle_event(event)
        return some

    def is_being_written(self, path: str) -> bool:
        """Return whether a file was written to and not closed since."""
        cut = path.rfind("/") + 1
        return path[cut:] in self._being_written.get(path[:cut], ())

    def wake(self) -> None:
        """End the `wait` of another thread."""
        try:
            os.write(self._wakened, b"!")
        except BlockingIOError:
            pass  # the pipe is full: the other thread is going to wake anyway

    def close(self) -> None:
        """Close the descriptors; the watches end with them."""
        self._inotify.release()
        os.close(self._waking)
        os.close(self._wakened)

    def note(self, folder: str, event: InotifyEvent) -> None:
        """Add one event in a folder to the hints."""
        hints, name = self._hints, os.fsdecode(event.name)
        if event.is_directory:
            hints.folders.add(folder)
            if event.mask & _APPEARED:
                hints.replaced.add(f"{folder}{name}/")
            return
        writing = self._being_written.setdefault(folder, set())
        (writing.add if event.mask & _BEGUN else writing.discard)(name)
        if event.mask & (_WRITTEN | _APPEARED):
            hints.files.add(folder + name)
        if event.mask & _NAMES_CHANGED or name in (GIT_IGNORE, OWN_IGNORE):
            hints.folders.add(folder)

    def note_end(self, watch: _Watch) -> None:
        """Note that a watched folder is gone."""
        self._hints.folders.add(watch.folder)
        if self._watches.get(watch.folder) is watch:
            del self._watches[watch.folder]

    def _forget(self, folder: str) -> None:
        if watch := self._watches.pop(folder, None):
            self._inotify.remove_callbacks([(watch.number, watch.id)])


class _Watch:
    """A folder by one of its names, as watchdog calls it back."""

    __slots__ = ("_events", "folder", "id", "number")

    def __init__(self, events: InotifyEvents, folder: str) -> None:
        self._events = events
        self.folder = folder
        self.id = CallbackId(id(self))
        self.number = WatchDescriptor(-1)

    def on_event(self, event: InotifyEvent) -> None:
        self._events.note(self.folder, event)

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        self._events.note_end(self)

    def on_queue_overflow(self) -> None:
        """Do nothing: lost events are noted when they are read."""


class _Instance(InotifyFD):
    """watchdog's inotify instance, whose thread is never started.

    Nothing else here uses what is private to watchdog: the descriptor, and how it is closed.
    """

    def __init__(self) -> None:
        super().__init__()
        os.set_inheritable(self._inotify_fd, False)
        self._now = select.poll()
        self._now.register(self._inotify_fd, select.POLLIN)

    def fileno(self) -> int:
        """Return the descriptor that becomes readable when there are events."""
        return self._inotify_fd

    def has_events(self) -> bool:
        """Return whether events can be read without waiting."""
        return bool(self._now.poll(0))

    def release(self) -> None:
        """Close the descriptors: `close` leaves that to the thread, which does not run."""
        self._close_resources()
