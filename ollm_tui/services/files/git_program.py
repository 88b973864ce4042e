"""Asks the git program for its settings, index and state, so that no repository can run code.

Every question may stay without an answer: git is missing, or does not trust the folder's owner.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Self

from ollm_tui.core.intake import visible
from ollm_tui.services.files.repository import find_repository

ANSWER_SECONDS = 30
"""Seconds after which a question stays without an answer."""

_PASSED_ON = (
    *("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR"),
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"),
)
"""Variables that git gets from the environment."""
# Questions take no locks, ask for no password, and fetch nothing.
_SET = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
_NOTHING: Mapping[str, str] = MappingProxyType({})
# A repository may set programs that even reading commands run: the monitor for `status`, hooks.
_HARMLESS = ("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")


LAST_COMMITS = 10
_STATUS = (
    *("status", "--porcelain=v1", "-z", "--branch", "--no-renames"),
    *("--untracked-files=normal", "--ignore-submodules=all"),
)
_LOG = ("log", f"-{LAST_COMMITS}", "-z", "--no-show-signature", "--no-patch", "--format=%h %s")


class Question:
    """A running git command, used with `with`: it has ended when the block is left."""

    def __init__(self, folder: str, question: Sequence[str], environ: Mapping[str, str]) -> None:
        try:
            self._process = subprocess.Popen(
                ("git", *_HARMLESS, *question),
                cwd=folder,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    def answer(self) -> list[str]:
        """Wait for the command and return its NUL-terminated entries; none if it failed."""
        if self._process is None:
            return []
        try:
            said, _ = self._process.communicate(timeout=ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            return []
        if self._process.returncode:
            return []
        return said.decode("utf-8", "surrogateescape").split("\0")[:-1]


class GitProgram:
    """Runs git with an environment of few variables."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = {name: environ[name] for name in environ if name in _PASSED_ON} | _SET

    @property
    def environment(self) -> dict[str, str]:
        """The variables that git gets, for callers that run it themselves."""
        return dict(self._environ)

    def ask(
        self, folder: str, words: Sequence[str], more: Mapping[str, str] = _NOTHING
    ) -> Question:
        """Start a git command that changes nothing; `more` are further variables."""
        return Question(folder, words, {**self._environ, **more})

    def without_filters(self, folder: str) -> dict[str, str]:
        """Return variables that switch off all filters of a repository.

        Git would run these programs to compare files. They are given as variables, because the
        names of filters may hold any character.
        """
        words = ("config", "-z", "--name-only", "--get-regexp", r"^filter\.")
        with Question(folder, words, self._environ) as question:
            names = {key.rpartition(".")[0] for key in question.answer()}
        off = {"clean": "", "smudge": "", "process": "", "required": "false"}
        settings = [
            (f"{name}.{key}", value) for name in sorted(names) for key, value in off.items()
        ]
        found = {"GIT_CONFIG_COUNT": str(len(settings))}
        for number, (key, value) in enumerate(settings):
            found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return found

    def core_settings(self, folder: str) -> dict[str, str]:
        """Return `core.excludesfile` and `core.ignorecase`, without "core.", if they are set."""
        words = ("config", "-z", "--get-regexp", r"^core\.(excludesfile|ignorecase)$")
        found: dict[str, str] = {}
        with Question(folder, words, self._environ) as question:
            for entry in question.answer():
                key, assigned, value = entry.partition("\n")
                # A key without "=" is a boolean that is true.
                found[key.removeprefix("core.")] = value if assigned else "true"
        return found

    def tracked_but_ignored(self, folder: str) -> Question:
        """Ask for the files below a folder that are in the index although rules ignore them.

        The paths are relative to the folder; a file with a conflict comes once for each side.
        """
        words = ("ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
        return Question(folder, words, self._environ)


def git_state(folder: Path, environ: Mapping[str, str] | None = None) -> list[str]:
    """Return lines about branch, changes and commits; none if the folder is in no repository."""
    if find_repository(folder) is None:
        return []
    git = GitProgram(os.environ if environ is None else environ)
    path = str(folder)
    switched_off = git.without_filters(path)
    with git.ask(path, _STATUS, switched_off) as status, git.ask(path, _LOG) as log:
        changes, commits = status.answer(), log.answer()
    branch = [f"branch {change[3:]}" for change in changes[:1] if change.startswith("## ")]
    changed = [change for change in changes if not change.startswith("## ")]
    lines = [*branch, "changed files:" if changed else "nothing is changed", *changed]
    lines += ["last commits:", *commits] if commits else ["no commits yet"]
    return [visible(line) for line in lines]
