"""The parts of a tree in which one set of ignore rules holds."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ollm_tui.services.files.git_program import GitProgram, Question, Unanswered
from ollm_tui.services.files.git_rules import GitRules
from ollm_tui.services.files.ignore_files import (
    GIT_IGNORE,
    OWN_IGNORE,
    Stamp,
    folders_above,
    stamp_of,
)
from ollm_tui.services.files.ignore_rules import SpecRules
from ollm_tui.services.files.repository import Repository, find_repository


@dataclass(eq=False)
class Ground:
    """The root of a tree, a repository below it, or a folder behind a link, with all below."""

    prefix: str
    """Its path in the tree: "" or ending with a slash."""
    rules: GitRules | SpecRules
    repository: Repository | None
    stamps: Mapping[str, Stamp]
    """The files outside of it that its rules depend on, as they were."""
    _listing: Question | None = None

    @property
    def is_asked_of_git(self) -> bool:
        """Whether git tells what is ignored."""
        return isinstance(self.rules, GitRules)

    @contextmanager
    def listing(self, excluded: Sequence[str]) -> Generator[None]:
        """Have git list all files meanwhile, without some patterns; see `listed`."""
        if not isinstance(self.rules, GitRules):
            yield
            return
        with self.rules.listing(excluded) as self._listing:
            try:
                yield
            finally:
                self._listing = None

    def listed(self) -> set[str] | None:
        """Wait for all files that git lists; None if it was not asked. Unanswered."""
        if self._listing is None:
            return None
        return {self.prefix + path for path in self._listing.entries()}

    def ignored(self, files: Sequence[str], folders: Sequence[str]) -> set[str]:
        """Return those of the paths, all of the tree and in this part, that are ignored."""
        cut = len(self.prefix)
        found = self.rules.ignored([path[cut:] for path in files], [path[cut:] for path in folders])
        return {self.prefix + path for path in found}

    def has_changed(self) -> bool:
        """Return whether a file outside of it that its rules depend on has changed."""
        return any(stamp_of(path) != stamp for path, stamp in self.stamps.items())


def possible_grounds(program: GitProgram, place: Path, prefix: str) -> Iterator[Ground]:
    """Yield the ways to judge a folder, the most exact first; the last one never fails.

    Git is asked in the folder's repository, else as if it were in a new one: if there is none, if
    it ignores the folder, or if git refuses because it belongs to another user.
    """
    place = place.resolve()
    found = find_repository(place)
    for repository in (found, None) if found else (None,):
        top = repository.top if repository else place
        lead = repository.lead_to(place) if repository else ""
        try:
            if program.is_installed and not (
                lead and GitRules(program, top, repository).ignored((), (lead[:-1],))
            ):
                rules = GitRules(program, place, repository)
                outside = (*_outside(repository, lead), rules.excludes_file())
                yield Ground(prefix, rules, repository, {each: stamp_of(each) for each in outside})
        except Unanswered:
            continue
    stamps = {each: stamp_of(each) for each in _outside(found, "")}
    yield Ground(prefix, SpecRules(place, GIT_IGNORE), found, stamps)


def _outside(repository: Repository | None, lead: str) -> list[str]:
    """Return the files outside of a folder that what is listed in it depends on."""
    if repository is None:
        return []
    above = [f"{repository.top}/{each}" for each in folders_above(lead)] if lead else ()
    ignoring = [each + name for each in above for name in (GIT_IGNORE, OWN_IGNORE)]
    return [f"{repository.git}/index", f"{repository.common}/info/exclude", *ignoring]
