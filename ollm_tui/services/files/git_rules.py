"""What git lists and ignores below one folder."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from ollm_tui.services.files.git_program import GitProgram, Question, scratch_repository
from ollm_tui.services.files.ignore_files import folders_above
from ollm_tui.services.files.repository import Repository

_LISTED = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
_TRACKED = ("ls-files", "-z", "--cached", "--ignored", "--exclude-standard")


class GitRules:
    """Git's own rules in a folder: those of its repository, or as if it were in a new one."""

    def __init__(self, program: GitProgram, place: Path, repository: Repository | None) -> None:
        self._program = program
        self._place = str(place)
        self._repository = repository

    @contextmanager
    def listing(self, excluded: Sequence[str]) -> Generator[Question]:
        """Ask for all files that are in the index or not ignored, without excluded patterns."""
        words = (*_LISTED, *(f"--exclude={pattern}" for pattern in excluded))
        with self._where() as where, self._program.ask(self._place, (*where, *words)) as question:
            yield question

    def ignored(self, files: Sequence[str], folders: Sequence[str]) -> set[str]:
        """Return the paths that are ignored; not those in the index or above them. Unanswered."""
        with self._where() as where:
            found = self._program.ignored(self._place, where, (*files, *folders))
        return found - self._tracked if found else found

    def excludes_file(self) -> str:
        """Return the path of the user's own ignore file, which need not exist."""
        words = ("config", "-z", "--type=path", "core.excludesFile")
        with self._program.ask(self._place, words) as question:
            if path := question.answer():
                return str(Path(self._place, path[0]))
        environ = self._program.environment
        config = environ.get("XDG_CONFIG_HOME") or environ.get("HOME", "") + "/.config"
        return f"{config}/git/ignore"

    @cached_property
    def _tracked(self) -> frozenset[str]:
        """What is in the index although rules ignore it, and the folders that it lies in."""
        if self._repository is None:
            return frozenset()
        with self._where() as where, self._program.ask(self._place, (*where, *_TRACKED)) as asked:
            paths = asked.entries()
        above = frozenset(folder[:-1] for path in paths for folder in folders_above(path))
        return above.union(paths)

    @contextmanager
    def _where(self) -> Generator[Sequence[str]]:
        """Return the options that name the repository, which may be one for this question."""
        if self._repository:
            # Named, because the settings of a repository may claim another place.
            yield (f"--work-tree={self._repository.top}",)
        else:
            with scratch_repository() as git:
                yield f"--git-dir={git}", f"--work-tree={self._place}"
