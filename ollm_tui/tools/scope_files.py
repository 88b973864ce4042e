"""The files of the scope that are not ignored, and choosing some by a glob, folder or words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ollm_tui.core.errors import ToolError, UsageError
from ollm_tui.services.files.file_entry import FileEntry
from ollm_tui.services.files.fuzzy import rank
from ollm_tui.services.files.glob_patterns import PathChoice
from ollm_tui.services.files.project_files import ProjectFiles
from ollm_tui.tools.scope import Scope

MOST_ALIKE = 100
"""How many paths are returned that only resemble the words."""
_WILD = re.compile(r"[*?\[{]")


def is_glob(pattern: str) -> bool:
    """Return whether a pattern has wildcards."""
    return _WILD.search(pattern) is not None


class ScopeFiles:
    """Lists files of the scope. Paths are relative to the project, or absolute outside of it."""

    def __init__(self, scope: Scope, project: ProjectFiles) -> None:
        self._root = scope.root
        self._directories = scope.directories
        self._inside = [each for each in scope.directories if each.is_relative_to(scope.root)]
        self._project = project
        above = (each for each in scope.directories if each not in self._inside)
        self._others = {each: project.elsewhere(each) for each in above}

    @property
    def unreadable(self) -> int:
        """The number of folders that could not be read so far."""
        return sum(files.unreadable for files in (self._project, *self._others.values()))

    async def paths(self) -> list[str]:
        """Return every file that is not ignored, sorted."""
        found = [path for path in await self._project.paths() if self._is_inside(path)]
        for directory, files in self._others.items():
            paths = (directory / path for path in await files.paths())
            found += [str(path) for path in paths if not path.is_relative_to(self._root)]
        return sorted(found)

    def entry(self, path: str) -> FileEntry:
        """Return a path of ours with its kind, size and time."""
        return self._project.entry(path)

    def split(self, path: str) -> tuple[str, str]:
        """Split a path of ours into its directory of the scope and the path below that."""
        whole = self._root / path
        directory = next(each for each in self._directories if whole.is_relative_to(each))
        return str(directory), whole.relative_to(directory).as_posix()

    def _is_inside(self, path: str) -> bool:
        whole = self._root / path
        return any(whole.is_relative_to(directory) for directory in self._inside)

    def relative(self, pattern: str) -> str:
        """Return a pattern of the model as our paths are written; empty for the whole project."""
        pattern = pattern.strip().removeprefix("./")
        if pattern.startswith(f"{self._root}/"):
            return pattern.removeprefix(f"{self._root}/")
        return "" if Path(pattern) in (Path(), self._root) else pattern


def chosen(paths: Sequence[str], pattern: str) -> list[str]:
    """Return the paths that match a glob, a folder with a slash at its end, or words in any order.

    If no path has all the words, similar paths are returned, the most similar first. ToolError
    for a glob that would take too long.
    """
    if not pattern:
        return list(paths)
    if is_glob(pattern) or pattern.endswith("/"):
        return _fitting(paths, pattern)
    words = pattern.casefold().split()
    found = [path for path in paths if all(word in path.casefold() for word in words)]
    return found or [match.path for match in rank("".join(words), paths, MOST_ALIKE)]


def _fitting(paths: Iterable[str], pattern: str) -> list[str]:
    try:
        choice = PathChoice((pattern,))
    except UsageError as error:
        raise ToolError(error.message, error.hint) from error
    return sorted(choice.kept(paths))
