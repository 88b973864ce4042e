"""The user's lasting answers: exactly this code, by this tool, in this place, always or never.

Answers for the session are in memory, those for the project in one small file of the user;
if it is lost or damaged, the user is asked again.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Literal

import msgspec

from ollm_tui.core import clock
from ollm_tui.storage.files.json_file import JsonFile

FILE = "grants.json"
VERSION = 1
MOST_GRANTS = 1_000
"""Above this the oldest answers are forgotten, over all projects."""
LONGEST_CODE = 20_000
"""Characters of code; an answer about longer code is only remembered for the session."""

GrantScope = Literal["session", "project"]

log = logging.getLogger(__name__)


class Subject(msgspec.Struct, frozen=True):
    """What an answer is about; other code, another place or another tool is another subject."""

    tool: str
    code: str
    """The whole command, or the path."""
    place: str
    """The directory it happens in."""
    language: str = ""


class Grant(msgspec.Struct, frozen=True):
    """A lasting answer."""

    subject: Subject
    answer: Literal["always", "never"]
    scope: GrantScope
    at: str


class _Kept(msgspec.Struct, frozen=True):
    project: str
    grant: Grant


class _File(msgspec.Struct, frozen=True):
    version: int
    grants: list[_Kept]


class Grants:
    """The answers of one session in one project; without a directory none outlives the session."""

    def __init__(self, directory: Path | None, project: Path, *, writes: bool = True) -> None:
        path = directory and directory / FILE
        self._file = JsonFile(path, _File, VERSION, log, "what is allowed for good")
        self._project = str(project.resolve())
        self._writes = writes
        self._session: dict[Subject, Grant] = {}

    def answer(self, subject: Subject) -> Literal["always", "never"] | None:
        """The answer for a subject, "never" before "always"; None if the user must be asked."""
        found = {each.answer for each in self.list() if each.subject == subject}
        return "never" if "never" in found else "always" if found else None

    def keep(self, subject: Subject, answer: Literal["always", "never"], scope: GrantScope) -> None:
        """Remember an answer; an earlier one about the same subject is forgotten.

        One for the project that cannot be written holds for the session.
        """
        self._forget(subject)
        grant = Grant(subject, answer, scope, clock.now())
        lasts = scope == "project" and self._writes and len(subject.code) <= LONGEST_CODE
        if not lasts or not self._write([*self._read(), _Kept(self._project, grant)]):
            self._session[subject] = msgspec.structs.replace(grant, scope="session")

    def list(self) -> list[Grant]:
        """The answers that hold in this project, the newest first."""
        kept = [each.grant for each in self._read() if each.project == self._project]
        return sorted((*kept, *self._session.values()), key=lambda grant: grant.at, reverse=True)

    def clear(self) -> int:
        """Forget the answers that hold in this project; returns how many there were."""
        count = len(self.list())
        self._session.clear()
        kept = self._read()
        others = [each for each in kept if each.project != self._project]
        if len(others) != len(kept):
            self._write(others)
        return count

    def _forget(self, subject: Subject) -> None:
        self._session.pop(subject, None)
        kept = self._read()
        others = [
            each for each in kept if each.project != self._project or each.grant.subject != subject
        ]
        if len(others) != len(kept):
            self._write(others)

    def _write(self, kept: list[_Kept]) -> bool:
        return self._writes and self._file.write(_File(VERSION, kept[-MOST_GRANTS:]))

    def _read(self) -> list[_Kept]:
        file = self._file.read()
        return file.grants if file else []
