"""The user's answers about a project's instructions, settings and hooks, each for one content.

They are in one small file; if it is lost or damaged, the user is asked again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec

from ollm_tui.core import clock
from ollm_tui.storage.files.json_file import JsonFile, with_newest

FILE = "trust.json"
VERSION = 1
MOST_ANSWERS = 1_000
"""Above this the oldest answers are forgotten."""

Verdict = Literal["always", "never"]

log = logging.getLogger(__name__)


class _Answer(msgspec.Struct, frozen=True):
    digest: str
    verdict: Verdict
    at: str


class _File(msgspec.Struct, frozen=True):
    version: int
    answers: dict[str, _Answer]
    """By subject, the latest last."""


class Trust:
    """Remembers answers in a directory; without one or with `writes` False only in memory."""

    def __init__(self, directory: Path | None, *, writes: bool = True) -> None:
        path = directory and directory / FILE
        self._file = JsonFile(path, _File, VERSION, log, "what is trusted")
        self._writes = writes
        self._answers: dict[str, _Answer] = {}

    def verdict(self, subject: str, digest: str) -> Verdict | None:
        """The answer about a subject with this content; None if the user must be asked."""
        known = self._answers.get(subject) or self._read().get(subject)
        return known.verdict if known and known.digest == digest else None

    def keep(self, subject: str, digest: str, verdict: Verdict) -> None:
        """Remember an answer; an earlier one about the subject is forgotten."""
        answer = self._answers[subject] = _Answer(digest, verdict, clock.now())
        if self._writes:
            newest = with_newest(self._read(), subject, answer, MOST_ANSWERS)
            self._file.write(_File(VERSION, newest))

    def accepts_settings(self, project: Path, digest: str) -> bool | None:
        """Whether a project's settings with this content count; None if the user must be asked."""
        verdict = self.verdict(_settings_of(project), digest)
        return None if verdict is None else verdict == "always"

    def keep_settings(self, project: Path, digest: str, verdict: Verdict) -> None:
        """Remember an answer about a project's settings."""
        self.keep(_settings_of(project), digest, verdict)

    def _read(self) -> dict[str, _Answer]:
        file = self._file.read()
        return file.answers if file else {}


def _settings_of(project: Path) -> str:
    return f"settings:{project}"


def digest_of(contents: Iterable[bytes]) -> str:
    """One digest of several contents, with their lengths, so that ab, c and a, bc differ."""
    whole = sha256()
    for content in contents:
        whole.update(len(content).to_bytes(8, "big") + content)
    return whole.hexdigest()
