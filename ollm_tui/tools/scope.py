"""Where tools may go: the directories of the scope, and the files that really lie in them."""

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


class Place(NamedTuple):
    """A file in the scope, with every link followed already. From here on no link is."""

    files: Beneath
    path: str
    """Below the directory of the scope; empty: the directory itself."""
    name: str
    """As it is shown: relative to the project where it lies in there."""

    @property
    def whole(self) -> Path:
        """Where it is."""
        return self.files.root / self.path

    def read(self, most_bytes: int) -> FoundFile | None:
        """The file; None if there is nothing. ToolError for whatever is no file."""
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
        """Put a file there, whole or not at all. ToolError if that cannot be done."""
        try:
            self.files.write(self.path, data, mode)
        except (OSError, ValueError) as error:
            raise ToolError(f"{self.name} cannot be written: {reason(error)}") from error


class Scope:
    """The directories tools may touch. Relative paths go from the project's root."""

    def __init__(self, root: Path, directories: Iterable[Path] = (Path(),)) -> None:
        self.root = root.resolve()
        found = sorted({(self.root / directory).resolve() for directory in directories})
        outermost = [each for each in found if not any(up in found for up in each.parents)]
        # What lies in a directory could be exchanged by a tool; what it lies in could not.
        self._files = {directory: Beneath(directory) for directory in outermost}

    @property
    def directories(self) -> tuple[Path, ...]:
        """The directories, none inside of another."""
        return tuple(self._files)

    def find(self, path: str) -> Place:
        """Where a path leads that a model named. ToolError if that is not in the scope.

        What stands there is opened later and may be another thing by then: every step is
        opened without following links, so that it is still in the scope.
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
        """Whether a path lies in the scope, wherever its links lead."""
        real = Path(os.path.realpath(whole))
        return any(real.is_relative_to(directory) for directory in self._files)

    def name_of(self, whole: Path) -> str:
        """A path as it is shown."""
        inside = whole.relative_to(self.root) if whole.is_relative_to(self.root) else whole
        return one_line(inside.as_posix())


def reason(error: OSError | ValueError) -> str:
    """Why something failed, in words."""
    words = error.strerror if isinstance(error, OSError) else str(error)
    return (words or "it failed").lower()
