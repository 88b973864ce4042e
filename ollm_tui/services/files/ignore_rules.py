"""What ignore files say: asked of git, or read by pathspec where git cannot be asked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from pathspec import GitIgnoreSpec

from ollm_tui.core.errors import UsageError
from ollm_tui.services.files.git_program import GitProgram, Unanswered, scratch_repository
from ollm_tui.services.files.glob_patterns import GlobPattern, compiled
from ollm_tui.services.files.ignore_files import (
    GIT_IGNORE,
    OWN_IGNORE,
    content_of,
    folders_above,
)
from ollm_tui.services.files.repository import Repository


class SpecRules:
    """The ignore files of one name below a folder, as pathspec understands them."""

    def __init__(self, base: Path, name: str, lead: str = "") -> None:
        """`lead` is put before every path that is asked about."""
        self._base = f"{base}/"
        self._name = name
        self._lead = lead

    def ignored(self, files: Sequence[str], folders: Sequence[str]) -> set[str]:
        """Return the paths that are ignored; none of the folders they lie in may be."""
        known: dict[str, list[tuple[int, GitIgnoreSpec]]] = {}
        found = {path for path in files if self._ignores(self._lead + path, known)}
        found.update(path for path in folders if self._ignores(f"{self._lead}{path}/", known))
        return found

    def _ignores(self, path: str, known: dict[str, list[tuple[int, GitIgnoreSpec]]]) -> bool:
        above = folders_above(path)
        if above[-1] not in known:
            known[above[-1]] = self._specs(above)
        # The nearest file that says something decides.
        for cut, spec in known[above[-1]]:
            if (included := spec.check_file(path[cut:]).include) is not None:
                return included
        return False

    def _specs(self, folders: Iterable[str]) -> list[tuple[int, GitIgnoreSpec]]:
        """Return the rules of some folders, the last ones first, each with its folder's length."""
        places = [(len(folder), f"{self._base}{folder}{self._name}") for folder in folders]
        contents = [(cut, content_of(place)) for cut, place in places]
        return [(cut, _spec_in(content)) for cut, content in contents if content][::-1]


class OwnRules:
    """The rules of our own ignore files, which git reads as if they were its own.

    Git takes other names for ignore files only when it lists a whole tree. So it is shown a copy
    of the folders in question in which they have git's name.
    """

    def __init__(
        self, program: GitProgram, root: Path, repository: Repository | None = None
    ) -> None:
        """Apply the files at a root and below it, and those above it in its repository."""
        base = repository.top if repository else root
        self._program = program
        self._base = f"{base}/"
        self._lead = repository.lead_to(root.resolve()) if repository else ""
        self._without_git = SpecRules(base, OWN_IGNORE, self._lead)

    @property
    def are_above(self) -> bool:
        """Whether there are any above the root."""
        above = folders_above(self._lead) if self._lead else ()
        return any(content_of(f"{self._base}{each}{OWN_IGNORE}") for each in above)

    def ignored(self, files: Sequence[str], folders: Sequence[str]) -> set[str]:
        """Return the paths that are ignored."""
        lead = self._lead
        above = {folder for path in (*files, *folders) for folder in folders_above(lead + path)}
        contents = {each: content_of(f"{self._base}{each}{OWN_IGNORE}") for each in above}
        contents = {each: content for each, content in contents.items() if content}
        if not contents:
            return set()
        try:
            with TemporaryDirectory() as place, scratch_repository() as git:
                _copy(Path(place), contents, [lead + path for path in folders])
                words = (f"--git-dir={git}", "--work-tree=.", "-c", "core.excludesFile=/dev/null")
                asked = [lead + path for path in (*files, *folders)]
                found = self._program.ignored(place, words, asked)
        except (OSError, Unanswered):
            return self._without_git.ignored(files, folders)
        return {path[len(lead) :] for path in found}


def _copy(place: Path, contents: dict[str, bytes], folders: Sequence[str]) -> None:
    """Make folders, and ignore files in some, so that git finds them."""
    for folder in (*contents, *folders):
        (place / folder).mkdir(parents=True, exist_ok=True)
    for folder, content in contents.items():
        (place / folder / GIT_IGNORE).write_bytes(content)


@lru_cache(64)
def _spec_in(content: bytes) -> GitIgnoreSpec:
    """Return the rules of an ignore file, without those that are over the limits of a glob."""
    text = os.fsdecode(content.removeprefix(b"\xef\xbb\xbf"))
    found: list[GlobPattern] = []
    for line in text.split("\n"):
        try:
            found.append(compiled(line.removesuffix("\r")))
        except UsageError:
            continue
    return GitIgnoreSpec(found)
