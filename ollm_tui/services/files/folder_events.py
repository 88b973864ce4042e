"""Events of watched folders: the interface, and inotify as Linux provides it."""

from __future__ import annotations

import ctypes
import errno
import os
import select
import struct
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Protocol

from ollm_tui.services.files.ignore_files import GIT_IGNORE, OWN_IGNORE


@dataclass
class Hints:
    """Folders and files to look at. Hints may be outdated: only what is on disk counts."""

    folders: set[str] = field(default_factory=set[str])
    """Folders in which a name appeared or disappeared, or an ignore file changed."""
    replaced: set[str] = field(default_factory=set[str])
    """Folders whose place another folder may have taken."""
    files: set[str] = field(default_factory=set[str])
    """Files that were written, created or moved in."""
    everything: bool = False
    """Events were lost, or are never reported: everything has to be looked at."""

    def __bool__(self) -> bool:
        return bool(self.everything or self.folders or self.replaced or self.files)


class FolderListener(Protocol):
    """Gets to know which folders are looked into, so that it can watch them."""

    def entering(self, folder: str) -> None:
        """Watch a folder that is about to be read, maybe not for the first time."""
        ...

    def left(self, folder: str) -> None:
        """Stop watching a folder that is gone or ignored now."""
        ...


class NoListener:
    """The listener of a tree that is not watched."""

    def entering(self, folder: str) -> None:
        """Do nothing."""

    def left(self, folder: str) -> None:
        """Do nothing."""


class FolderEvents(FolderListener, Protocol):
    """Reports what happens in the folders that are looked into."""

    @property
    def exhausted(self) -> bool:
        """Whether a folder could not be watched because the system allows no more watches."""
        ...

    def wait(self, seconds: float | None) -> bool:
        """Sleep until there are events, `wake` is called or the time is over."""
        ...

    def collect(self, hints: Hints) -> bool:
        """Add all events so far to the hints; return whether there were any."""
        ...

    def is_being_written(self, path: str) -> bool:
        """Return whether a file is known to be in the middle of being written."""
        ...

    def wake(self) -> None:
        """End the `wait` of another thread."""
        ...

    def close(self) -> None:
        """Release all resources."""
        ...


# The header of `struct inotify_event`; the name follows it, padded with NULs.
_EVENT = struct.Struct("iIII")
_READ_BYTES = 1 << 16


class _Happened(IntFlag):
    """The flags of inotify (IN_MODIFY and so on)."""

    MODIFY = 0x2
    CLOSE_WRITE = 0x8
    MOVED_FROM = 0x40
    MOVED_TO = 0x80
    CREATE = 0x100
    DELETE = 0x200
    OVERFLOW = 0x4000
    IGNORED = 0x8000
    IS_FOLDER = 0x4000_0000


_WRITTEN = _Happened.MODIFY | _Happened.CLOSE_WRITE
_BEGUN = _Happened.CREATE | _Happened.MODIFY
_APPEARED = _Happened.CREATE | _Happened.MOVED_TO
_NAMES_CHANGED = _APPEARED | _Happened.DELETE | _Happened.MOVED_FROM
# IN_ONLYDIR and IN_EXCL_UNLINK.
_ONLY_FOLDERS, _NOT_UNLINKED = 0x0100_0000, 0x0400_0000
_MASK = _WRITTEN | _NAMES_CHANGED | _ONLY_FOLDERS | _NOT_UNLINKED


class Inotify:
    """One inotify instance, used by ctypes. OSError if the system has none (left)."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._library = ctypes.CDLL(None, use_errno=True)
        if not hasattr(self._library, "inotify_init1"):
            raise OSError(errno.ENOSYS, "no inotify here")
        self._descriptor = self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            raise OSError(ctypes.get_errno(), "no more inotify instances")
        # A pipe ends the sleep in `poll`: its second end is written to by `wake`.
        self._waking, self._wakened = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._poll = select.poll()
        for descriptor in (self._descriptor, self._waking):
            self._poll.register(descriptor, select.POLLIN)
        self._folders: dict[int, str] = {}
        self._watches: dict[str, int] = {}
        self._being_written: dict[str, set[str]] = {}
        """Names by folder of files that were written to and not closed since."""
        self.exhausted = False
        """Whether a folder could not be watched because the system allows no more watches."""

    def entering(self, folder: str) -> None:
        """Watch a folder. One that was renamed keeps its watch and gets its new name here."""
        place = os.fsencode(self._base + folder)
        watch = self._library.inotify_add_watch(self._descriptor, place, int(_MASK))
        if watch >= 0:
            self._folders[watch] = folder
            self._watches[folder] = watch
        elif ctypes.get_errno() in (errno.ENOSPC, errno.ENOMEM):
            self.exhausted = True

    def left(self, folder: str) -> None:
        """Stop watching a folder, unless its watch now belongs to a new name of it."""
        self._being_written.pop(folder, None)
        watch = self._watches.pop(folder, -1)
        if self._folders.get(watch) == folder:
            del self._folders[watch]
            self._library.inotify_rm_watch(self._descriptor, watch)

    def wait(self, seconds: float | None) -> bool:
        """Sleep until there are events, `wake` is called or the time is over."""
        ready = dict(self._poll.poll(None if seconds is None else seconds * 1000))
        if self._waking in ready:
            os.read(self._waking, _READ_BYTES)
        return bool(ready)

    def collect(self, hints: Hints) -> bool:
        """Add all events so far to the hints; return whether there were any."""
        some = False
        while data := self._read():
            some = True
            at = 0
            while at < len(data):
                watch, mask, _, length = _EVENT.unpack_from(data, at)
                at += _EVENT.size + length
                name = os.fsdecode(data[at - length : at].rstrip(b"\0"))
                self._note(hints, watch, _Happened(mask), name)
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
        """Close the descriptors."""
        for descriptor in (self._descriptor, self._waking, self._wakened):
            os.close(descriptor)

    def _read(self) -> bytes:
        try:
            return os.read(self._descriptor, _READ_BYTES)
        except BlockingIOError:
            return b""

    def _note(self, hints: Hints, watch: int, happened: _Happened, name: str) -> None:
        """Add one event to the hints."""
        if happened & _Happened.OVERFLOW:
            hints.everything = True
            return
        folder = self._folders.get(watch)
        if folder is None:
            return  # an event that was under way when the watch was removed
        if happened & _Happened.IGNORED:  # the folder is gone
            del self._folders[watch]
            hints.folders.add(folder)
        elif happened & _Happened.IS_FOLDER:
            hints.folders.add(folder)
            if happened & _APPEARED:
                hints.replaced.add(f"{folder}{name}/")
        else:
            writing = self._being_written.setdefault(folder, set())
            (writing.add if happened & _BEGUN else writing.discard)(name)
            if happened & (_WRITTEN | _APPEARED):
                hints.files.add(folder + name)
            if happened & _NAMES_CHANGED or name in (GIT_IGNORE, OWN_IGNORE):
                hints.folders.add(folder)
