"""Reads ignore files: those in folders, and those that hold in a whole repository."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ollm_tui.services.files.git_program import GitProgram
from ollm_tui.services.files.ignore_rules import IgnoreRules, RuleSet, patterns_of
from ollm_tui.services.files.repository import Repository, find_repository

GIT_IGNORE, OWN_IGNORE = ".gitignore", ".ollmignore"
LARGEST_BYTES = 16_000_000
"""Bytes of an ignore file that are read."""

_TRUE = frozenset(("true", "yes", "on", "1"))
"""What git takes for true in its settings."""

Stamp = tuple[int, int, int] | None
"""Time (ns), size and inode of a file, which change when it does; None if it does not exist."""

NOTHING_READ: Mapping[str, Stamp] = MappingProxyType({})


def stamp_of(path: str) -> Stamp:
    """Return the stamp of a file, or of what a link leads to."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


class Scope(NamedTuple):
    """The rules that hold in a folder: what one of the three ignores is ignored."""

    git: IgnoreRules
    own: IgnoreRules
    always: IgnoreRules
    """The built-in ones and the exclude globs of the options: no ignore file overrides these."""
    in_repository: bool = False

    def kept(
        self, folder: str, names: list[str], *, folders: bool, tracked: bool = False
    ) -> list[str]:
        """Return the names in a folder that are not ignored; git never ignores `tracked` ones."""
        if not names:
            return names
        ignored = self.always.ignored(folder, names, folders=folders)
        ignored |= self.own.ignored(folder, names, folders=folders)
        if not tracked:
            ignored |= self.git.ignored(folder, names, folders=folders)
        return [name for name in names if name not in ignored] if ignored else names


class IgnoreFiles:
    """Reads the ignore files of one project and remembers the stamps of those outside of it."""

    def __init__(self, root: Path, always: RuleSet, environ: Mapping[str, str]) -> None:
        self._root = root
        self._always = IgnoreRules().with_rules(always)
        self._environ = environ
        self._program = GitProgram(environ)
        self._known: dict[tuple[bytes, bool], RuleSet] = {}
        """Rules by content and case: the same content is parsed only once."""
        self._outer: dict[str, Stamp] = {}
        self.repository: Repository | None = None
        """The repository that the root lies in, unless it ignores the root."""

    def outermost(self) -> Scope:
        """Return the rules that hold at the root from above, without its own ignore files."""
        self._outer.clear()
        self.repository = find_repository(self._root)
        if self.repository:
            scope, lead = self.in_repository(self.repository), ""
            for name in self._root.resolve().relative_to(self.repository.top).parts:
                above = f"{self.repository.top}/{lead}"
                scope, stamps = self.inside(scope, lead, above, (GIT_IGNORE, OWN_IGNORE))
                self._outer.update(stamps)
                if scope.git.ignored(lead, [name], folders=True):
                    break  # nothing of it would be found: it is looked at as no repository
                lead = f"{lead}{name}/"
            else:
                return scope._replace(git=scope.git.below(lead), own=scope.own.below(lead))
        self.repository = None
        return Scope(IgnoreRules(), IgnoreRules(), self._always)

    def have_changed(self) -> bool:
        """Return whether an ignore file outside the root, or of git's settings, has changed."""
        return any(stamp_of(path) != stamp for path, stamp in self._outer.items())

    def in_repository(self, repository: Repository, folder: str = "") -> Scope:
        """Return the rules at the top of a repository: the user's excludes and its own.

        `folder` is where the repository lies, relative to the root.
        """
        settings = self._program.core_settings(str(repository.top))
        fold_case = settings.get("ignorecase", "").lower() in _TRUE
        rules = IgnoreRules(fold_case=fold_case)
        # Later rules are stronger: git lets those of the repository override the user's.
        for path in (
            self._excludes_file(settings, repository),
            str(repository.common / "info/exclude"),
        ):
            self._outer[path] = stamp_of(path)
            rules = rules.with_rules(self._read(path, fold_case), folder=folder)
        return Scope(rules, IgnoreRules(), self._always, in_repository=True)

    def inside(
        self, scope: Scope, folder: str, place: str, names: Collection[str]
    ) -> tuple[Scope, Mapping[str, Stamp]]:
        """Return the scope with the ignore files of a folder, and the stamps of these.

        `place` is the folder on disk, `folder` its path relative to the root.
        """
        stamps: dict[str, Stamp] = {}
        git, own = scope.git, scope.own
        if GIT_IGNORE in names:
            path = place + GIT_IGNORE
            stamps[path] = stamp_of(path)
            rules = self._read(path, git.fold_case, follow=False)
            git = git.with_rules(rules, folder=folder)
        if OWN_IGNORE in names:
            path = place + OWN_IGNORE
            stamps[path] = stamp_of(path)
            own = own.with_rules(self._read(path, False, follow=False), folder=folder)
        return scope._replace(git=git, own=own), stamps

    def _excludes_file(self, settings: Mapping[str, str], repository: Repository) -> str:
        """Return the file with the user's own excludes, found as git finds it."""
        home = self._environ.get("HOME", "")
        if "excludesfile" in settings:
            path = settings["excludesfile"]
            path = home + path[1:] if path.startswith("~/") else path
            return str(repository.top / path) if path else os.devnull
        return f"{self._environ.get('XDG_CONFIG_HOME') or home + '/.config'}/git/ignore"

    def _read(self, path: str, fold_case: bool, *, follow: bool = True) -> RuleSet:
        """Read the rules of a file.

        In work trees git does not follow links to ignore files: then `follow` is false.
        """
        content = _content(path, 0 if follow else os.O_NOFOLLOW)
        key = content, fold_case
        if key not in self._known:
            self._known[key] = RuleSet(patterns_of(content), fold_case=fold_case)
        return self._known[key]


def _content(path: str, flags: int) -> bytes:
    try:
        # Without blocking: opening a FIFO of such a name would wait for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | flags)
    except (OSError, ValueError):
        return b""
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        try:
            return file.read(LARGEST_BYTES)
        except OSError:
            return b""
