"""What the system tells about watched folders, before anybody looks what it means."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


@dataclass
class Hints:
    """Places to look at. They may be out of date: only what is on disk counts."""

    folders: set[str] = field(default_factory=set[str])
    """Folders in which a name appeared or went away, or an ignore file changed."""
    replaced: set[str] = field(default_factory=set[str])
    """Folders that may be another one of the same name now."""
    files: set[str] = field(default_factory=set[str])
    """Files that were written or put in place."""
    everything: bool = False
    """Something was missed, or is never told: look at all."""

    def __bool__(self) -> bool:
        return bool(self.everything or self.folders or self.replaced or self.files)


class FolderListener(Protocol):
    """Is told which folders are looked into, so that it can watch them."""

    def entering(self, folder: str) -> None:
        """A folder is about to be read, maybe not for the first time."""
        ...

    def left(self, folder: str) -> None:
        """A folder is gone, or ignored now."""
        ...


class NobodyListens:
    """For a tree that nobody watches."""

    def entering(self, folder: str) -> None:
        """Nobody wants to know."""

    def left(self, folder: str) -> None:
        """Nobody wants to know."""


class FolderEvents(FolderListener, Protocol):
    """Tells what happens in the folders that are looked into."""

    @property
    def exhausted(self) -> bool:
        """Whether it could not watch a folder because the system allows no more."""
        ...

    def wait(self, seconds: float | None) -> bool:
        """Sleep until there is something, or `wake` was called, or the time is over."""
        ...

    def collect(self, hints: Hints) -> bool:
        """Add what has happened until now; False if nothing has."""
        ...

    def is_being_written(self, path: str) -> bool:
        """Whether somebody is known to be in the middle of writing a file."""
        ...

    def wake(self) -> None:
        """End the sleep of another thread."""
        ...

    def close(self) -> None:
        """Give everything back to the system."""
        ...
