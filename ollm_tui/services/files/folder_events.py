"""What happens in the folders of a tree: who wants to know, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


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

    def add(self, more: Hints) -> None:
        """Add other hints to these."""
        self.folders |= more.folders
        self.replaced |= more.replaced
        self.files |= more.files
        self.everything |= more.everything


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
    def notice(self) -> str:
        """A notice for the user about how changes are found; mostly empty."""
        ...

    @property
    def is_prompt(self) -> bool:
        """Whether `collect` knows of everything that has happened until then."""
        ...

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
