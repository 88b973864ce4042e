"""Which sessions exist, from the directories alone: no session is opened."""

from __future__ import annotations

import os
import re
import stat
from datetime import UTC, datetime
from pathlib import Path

from ollm_tui.core import clock
from ollm_tui.storage.files.atomic_file import read_regular
from ollm_tui.storage.files.cache_file import is_json
from ollm_tui.storage.files.cipher import MARK
from ollm_tui.storage.sessions.trash import Trash
from ollm_tui.storage.store_layout import (
    JOURNAL_SUFFIX,
    SESSION_OR_JOURNAL,
    StoreLayout,
    is_valid_name,
)

Fingerprint = tuple[int, int, int, int]
"""Size and time of the session file, size and time of the journal; 0 where there is none, and for
an empty journal beside a session file."""

Mark = tuple[int, int]
"""Size and time of one file."""

_NONE: Mark = (0, 0)
_SESSION_BEGINS = re.compile(rb'\A(?:\{"sessionId":"|%s)' % re.escape(MARK))
_LINE_BEGINS = re.compile(rb"^[0-9a-f]{8} \d+ ", re.MULTILINE)
"""How a session file begins that this program wrote, and a line of a journal."""
_BEGINNING = 1_000_000
"""Bytes that are read to know who wrote a file."""
_LATEST_NS = 2**63 - 1
"""The largest integer of SQLite, in which the indexes keep these times."""


class SessionDirectory:
    """The sessions of a store and those an earlier program left beside them."""

    def __init__(self, layout: StoreLayout) -> None:
        self._layout = layout
        self._trash = Trash(layout)

    def fingerprints(self) -> dict[str, Fingerprint]:
        """Return every session with the size and time of its files."""
        marks = self._marks()
        for name in [name for name, each in marks.items() if _is_unbegun(each)]:
            del marks[name]
        return marks

    def journals_alone(self, before_ns: int) -> list[str]:
        """Return the sessions with a journal but no session file, last written before a time."""
        return [
            name
            for name, marks in self._marks().items()
            if marks[:2] == (0, 0) and 0 < marks[3] < before_ns
        ]

    def fingerprint(self, session_id: str) -> Fingerprint:
        """Return the size and time of the files of one session."""
        marks: list[Mark] = []
        for path in (self._layout.session(session_id), self._layout.journal(session_id)):
            try:
                marks.append(_size_and_time(path.stat()))
            except OSError:
                marks.append(_NONE)
        return _fingerprint(*marks)

    def has(self, session_id: str) -> bool:
        """Whether a session exists and is not in the trash."""
        if not is_valid_name(session_id) or self._trash.has(session_id):
            return False
        layout = self._layout
        paths = (layout.session, layout.journal, layout.older_session)
        return any(os.path.lexists(path(session_id)) for path in paths)

    def looks_own(self, session_id: str) -> bool:
        """Whether this program wrote a session that cannot be read, as its beginning tells."""
        layout = self._layout
        for path, begins in ((layout.session, _SESSION_BEGINS), (layout.journal, _LINE_BEGINS)):
            try:
                data = read_regular(path(session_id), most=_BEGINNING).strip(b"\0")
            except FileNotFoundError:
                continue
            except OSError:
                return False
            # After a power cut a file may be empty, or hold zeros.
            return not data or begins.search(data) is not None
        return False

    def is_other_json(self, session_id: str) -> bool:
        """Whether an undamaged JSON file that is no session has the name of one."""
        try:
            return is_json(read_regular(self._layout.session(session_id)))
        except OSError:
            return False

    def _marks(self) -> dict[str, Fingerprint]:
        files, journals = _scan(self._layout.sessions)
        try:
            older, _ = _scan(self._layout.older_sessions)
        except OSError:
            older = {}  # what another program left does not keep ours from being listed
        marks = {
            name: _fingerprint(mark, journals.pop(name, _NONE)) for name, mark in files.items()
        }
        for name, mark in journals.items():
            marks[name] = _fingerprint(older.pop(name, _NONE), mark)
        for name, mark in older.items():
            marks.setdefault(name, (*mark, *_NONE))
        for name in self._trash.ids():
            marks.pop(name, None)
        return marks


def _fingerprint(file: Mark, journal: Mark) -> Fingerprint:
    """Leave out an empty journal beside a session file: opening the session makes it, and whoever
    saw a change in that would read the whole session again."""
    return (*file, *(_NONE if file != _NONE and not journal[0] else journal))


def _is_unbegun(marks: Fingerprint) -> bool:
    """Whether there is only an empty journal: it is locked before anything is written."""
    return marks[3] != 0 and marks[:3] == (0, 0, 0)


def file_time(nanoseconds: int) -> str:
    """Convert the time of a file to text; the epoch if no calendar has such a time."""
    try:
        return clock.iso(datetime.fromtimestamp(nanoseconds / 1e9, UTC))
    except (ValueError, OverflowError, OSError):
        return clock.EPOCH


def _scan(directory: Path) -> tuple[dict[str, Mark], dict[str, Mark]]:
    """Return the session files and the journals of a directory, by session."""
    files: dict[str, Mark] = {}
    journals: dict[str, Mark] = {}
    try:
        entries = os.scandir(directory)
    except (FileNotFoundError, NotADirectoryError):
        return files, journals
    with entries:
        for entry in entries:
            if match := SESSION_OR_JOURNAL.fullmatch(entry.name):
                try:
                    mark = _size_and_time(entry.stat())
                except OSError:
                    mark = _NONE
                name, suffix = match.groups()
                (journals if suffix == JOURNAL_SUFFIX else files)[name] = mark
    return files, journals


def _size_and_time(status: os.stat_result) -> Mark:
    """Return zeros for a FIFO and the like; a time no index can hold becomes 0."""
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        return _NONE
    time = status.st_mtime_ns
    return status.st_size, time if -_LATEST_NS <= time <= _LATEST_NS else 0
