"""Asks the git program for its settings, index and state, so that no repository can run code.

Every question may stay without an answer: git is missing, or does not trust the folder's owner.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
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


class Unanswered(Exception):
    """Raised where git gave no answer: it is missing, refuses, fails or takes too long."""


class Question:
    """A running git command, used with `with`: it has ended when the block is left."""

    def __init__(
        self, folder: str, question: Sequence[str], environ: Mapping[str, str], given: bytes = b""
    ) -> None:
        """Start git in a folder; `given` is what it reads. An OSError counts as no answer."""
        self._given = given or None
        try:
            self._process = subprocess.Popen(
                ("git", *_HARMLESS, *question),
                cwd=folder,
                env=environ,
                stdin=subprocess.PIPE if given else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            self._process.communicate()

    def entries(self, *, accepted: Collection[int] = (0,)) -> list[str]:
        """Wait for the command and return its NUL-terminated entries. Unanswered.

        `accepted` are the exit codes that stand for success.
        """
        if self._process is None:
            raise Unanswered
        try:
            said, _ = self._process.communicate(self._given, timeout=ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            raise Unanswered from None
        if self._process.returncode not in accepted:
            raise Unanswered
        return os.fsdecode(said).split("\0")[:-1]

    def answer(self) -> list[str]:
        """Wait for the command and return its NUL-terminated entries; none if it failed."""
        try:
            return self.entries()
        except Unanswered:
            return []


@contextmanager
def scratch_repository() -> Generator[str]:
    """Make a repository without content or settings for the time of the block."""
    with TemporaryDirectory(prefix="ollm-git-") as place:
        for name in ("objects", "refs"):
            Path(place, name).mkdir()
        Path(place, "HEAD").write_text("ref: refs/heads/main\n")
        yield place


class GitProgram:
    """Runs git with an environment of few variables."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = {name: environ[name] for name in environ if name in _PASSED_ON} | _SET

    @property
    def is_installed(self) -> bool:
        """Whether there is a git to run."""
        return which("git", path=self._environ.get("PATH")) is not None

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

    def ignored(self, folder: str, words: Sequence[str], paths: Sequence[str]) -> set[str]:
        """Return the paths below a folder that rules ignore, in the index or not. Unanswered.

        `words` are options that come before the command.
        """
        if not paths:
            return set()
        # With "./" no path is taken for a pattern with a meaning of its own (":x").
        given = "".join(f"./{path}\0" for path in paths)
        words = (*words, "check-ignore", "--no-index", "--stdin", "-z")
        with Question(folder, words, self._environ, os.fsencode(given)) as question:
            return {path[2:] for path in question.entries(accepted=(0, 1))}


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
