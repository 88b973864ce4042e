"""What only git itself knows: its settings, its index. No repository gets to run anything.

Every question may stay unanswered: git is missing, or does not trust the folder's owner.
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

_PASSED_ON = (
    *("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR"),
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"),
)
_SET = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
_NOTHING: Mapping[str, str] = MappingProxyType({})
_HARMLESS = ("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")


class Question:
    """A git command that runs while others work. Used with `with`: it never stays behind."""

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
        """What it said, ended by NUL each; nothing when it failed."""
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
    """The git command, with an environment of few variables."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = {name: environ[name] for name in environ if name in _PASSED_ON} | _SET

    @property
    def environment(self) -> dict[str, str]:
        """The variables git gets, for whoever runs it in another way."""
        return dict(self._environ)

    def ask(
        self, folder: str, words: Sequence[str], more: Mapping[str, str] = _NOTHING
    ) -> Question:
        """Any question that changes nothing; `more` are further variables."""
        return Question(folder, words, {**self._environ, **more})

    def without_filters(self, folder: str) -> dict[str, str]:
        """Variables that switch off every filter a repository has set: git would run them to
        compare files. As variables, because their names may hold any character."""
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
        """`excludesfile` and `ignorecase` of the section core, as far as they are set."""
        words = ("config", "-z", "--get-regexp", r"^core\.(excludesfile|ignorecase)$")
        found: dict[str, str] = {}
        with Question(folder, words, self._environ) as question:
            for entry in question.answer():
                key, assigned, value = entry.partition("\n")
                found[key.removeprefix("core.")] = value if assigned else "true"
        return found

    def tracked_but_ignored(self, folder: str) -> Question:
        """Files below a folder, relative to it, that are in the index though rules ignore them.

        In a conflict git names a file once for each side.
        """
        words = ("ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
        return Question(folder, words, self._environ)


LAST_COMMITS = 10
_STATUS = (
    *("status", "--porcelain=v1", "-z", "--branch", "--no-renames"),
    *("--untracked-files=normal", "--ignore-submodules=all"),
)
_LOG = ("log", f"-{LAST_COMMITS}", "-z", "--no-show-signature", "--no-patch", "--format=%h %s")


def git_state(folder: Path, environ: Mapping[str, str] | None = None) -> list[str]:
    """Lines about the repository a folder lies in; none where there is no repository."""
    if find_repository(folder) is None:
        return []
    git = GitProgram(os.environ if environ is None else environ)
    place = str(folder)
    switched_off = git.without_filters(place)
    with git.ask(place, _STATUS, switched_off) as status, git.ask(place, _LOG) as log:
        changes, commits = status.answer(), log.answer()
    branch = [f"branch {change[3:]}" for change in changes[:1] if change.startswith("## ")]
    changed = [change for change in changes if not change.startswith("## ")]
    lines = [*branch, "changed files:" if changed else "nothing is changed", *changed]
    lines += ["last commits:", *commits] if commits else ["no commits yet"]
    return [visible(line) for line in lines]
