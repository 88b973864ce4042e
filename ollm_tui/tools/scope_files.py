"""The files of the scope as discovery finds them, chosen by a glob, a folder or some words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ollm_tui.core.errors import ToolError, UsageError
from ollm_tui.services.files.fuzzy import rank
from ollm_tui.services.files.glob_patterns import PathChoice
from ollm_tui.services.files.project_files import ProjectFiles
from ollm_tui.tools.scope import Scope

MOST_ALIKE = 100
_WILD = re.compile(r"[*?\[{]")


def is_glob(pattern: str) -> bool:
    """Whether a pattern has wildcards."""
    return _WILD.search(pattern) is not None


class ScopeFiles:
    """What is not ignored. Paths are relative to the project, or whole where they lie elsewhere."""

    def __init__(self, scope: Scope, project: ProjectFiles) -> None:
        self._root = scope.root
        self._directories = scope.directories
        self._inside = [each for each in scope.directories if each.is_relative_to(scope.root)]
        self._project = project
        above = (each for each in scope.directories if each not in self._inside)
        self._others = {each: project.elsewhere(each) for each in above}

    @property
    def unreadable(self) -> int:
        """How many folders could not be read, of those looked at so far."""
        return sum(files.unreadable for files in (self._project, *self._others.values()))

    async def paths(self) -> list[str]:
        """Every file, sorted."""
        found = [path for path in await self._project.paths() if self._is_inside(path)]
        for directory, files in self._others.items():
            paths = (directory / path for path in await files.paths())
            found += [str(path) for path in paths if not path.is_relative_to(self._root)]
        return sorted(found)

    def split(self, path: str) -> tuple[str, str]:
        """The directory of the scope one of our paths lies in, and the way from there."""
        whole = self._root / path
        directory = next(each for each in self._directories if whole.is_relative_to(each))
        return str(directory), whole.relative_to(directory).as_posix()

    def _is_inside(self, path: str) -> bool:
        whole = self._root / path
        return any(whole.is_relative_to(directory) for directory in self._inside)

    def relative(self, pattern: str) -> str:
        """What a model wrote, as our paths are written."""
        pattern = pattern.strip().removeprefix("./")
        if pattern.startswith(f"{self._root}/"):
            return pattern.removeprefix(f"{self._root}/")
        return "" if Path(pattern) in (Path(), self._root) else pattern


def chosen(paths: Sequence[str], pattern: str) -> list[str]:
    """The paths that fit: a glob, a folder with a slash at its end, or words in any order.

    Words that no path has are looked for letter by letter, the most alike first. ToolError for a
    glob that would take too long.
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
    folders: dict[str, list[str]] = {}
    for path in paths:
        cut = path.rfind("/", 0, -1) + 1
        folders.setdefault(path[:cut], []).append(path[cut:])
    return sorted(
        folder + name for folder, names in folders.items() for name in choice.kept(folder, names)
    )
