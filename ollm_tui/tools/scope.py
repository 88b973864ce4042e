"""The scope: the directories that tools may touch, and the files that really lie in them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ollm_tui.core.errors import ToolError
from ollm_tui.storage.files.beneath import Beneath, FoundFile
from ollm_tui.tools.call_arguments import one_line

LONGEST_PATH = 4096
"""In characters; PATH_MAX of Linux."""


class Place(NamedTuple):
    """A file in the scope. Links were followed to find it; none is followed to open it."""

    files: Beneath
    path: str
    """The path below the directory of the scope; empty for the directory itself."""
    name: str
    """The path as it is shown: relative to the project if the file lies in it."""

    @property
    def whole(self) -> Path:
        """The absolute path."""
        return self.files.root / self.path

    def read(self, most_bytes: int) -> FoundFile | None:
        """Read the file; None if there is nothing. ToolError if it is not a regular file."""
        try:
            if not self.path:
                raise IsADirectoryError(errno.EISDIR, "it is a directory")
            return self.files.read(self.path, most_bytes)
        except IsADirectoryError as error:
            pattern = "*" if self.name == "." else f"{self.name}/"
            raise ToolError(
                f"{self.name} is a directory; find_files with the pattern {pattern!r} lists it"
            ) from error
        except (OSError, ValueError) as error:
            raise ToolError(f"{self.name} cannot be read: {reason(error)}") from error

    def write(self, data: bytes, mode: int | None) -> None:
        """Write the file whole or not at all. ToolError if that fails."""
        try:
            self.files.write(self.path, data, mode)
        except (OSError, ValueError) as error:
            raise ToolError(f"{self.name} cannot be written: {reason(error)}") from error


class Scope:
    """The directories tools may touch. Relative paths start at the project's root."""

    def __init__(self, root: Path, directories: Iterable[Path] = (Path(),)) -> None:
        self.root = root.resolve()
        found = sorted({(self.root / directory).resolve() for directory in directories})
        outermost = [each for each in found if not any(up in found for up in each.parents)]
        # A directory inside of another could be replaced by a link with a tool, so only the
        # outermost ones are opened by their path.
        self._files = {directory: Beneath(directory) for directory in outermost}

    @property
    def directories(self) -> tuple[Path, ...]:
        """The directories of the scope, none inside of another."""
        return tuple(self._files)

    def find(self, path: str) -> Place:
        """Find the file a model named. ToolError if it is not in the scope.

        The file is opened later and may have been replaced by then. Every step of its path is
        opened without following links, so that it cannot lead out of the scope.
        """
        if "\0" in path or len(path) > LONGEST_PATH:
            raise ToolError("that is no path: it is too long, or has a NUL character in it")
        try:
            whole = Path(os.path.realpath(self.root / path))
        except (OSError, ValueError) as error:
            raise ToolError(f"{one_line(path)} cannot be found: {reason(error)}") from error
        for directory, files in self._files.items():
            if whole.is_relative_to(directory):
                inside = whole.relative_to(directory).as_posix()
                return Place(files, "" if inside == "." else inside, self.name_of(whole))
        allowed = ", ".join(map(self.name_of, self._files))
        raise ToolError(
            f"{one_line(path)} is outside of what tools may touch",
            f"they may touch what lies in: {allowed}",
        )

    def holds(self, whole: Path) -> bool:
        """Return whether a path lies in the scope after its links are followed."""
        real = Path(os.path.realpath(whole))
        return any(real.is_relative_to(directory) for directory in self._files)

    def name_of(self, whole: Path) -> str:
        """Return a path as it is shown."""
        inside = whole.relative_to(self.root) if whole.is_relative_to(self.root) else whole
        return one_line(inside.as_posix())


def reason(error: OSError | ValueError) -> str:
    """Return why something failed, in words of the system."""
    words = error.strerror if isinstance(error, OSError) else str(error)
    return (words or "it failed").lower()
