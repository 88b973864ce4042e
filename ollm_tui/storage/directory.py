"""Which sessions there are, from the directories alone: no session is opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from ollm_tui.core import clock
from ollm_tui.storage.layout import JOURNAL_SUFFIX, StoreLayout, is_valid_name, session_name
from ollm_tui.storage.trash import Trash

Fingerprint = tuple[int, int, int, int]
"""Size and time of the session file, size and time of the journal; 0 where there is none."""

_LATEST_NS = 2**63 - 1
_Seen = tuple[str, int, int, int]
"""The name of a session, where the marks of this file go, its size and time."""


class SessionDirectory:
    """The sessions of a store and those an earlier program left beside them."""

    def __init__(self, layout: StoreLayout) -> None:
        self._layout = layout
        self._trash = Trash(layout)

    def fingerprints(self) -> dict[str, Fingerprint]:
        """Every session there is, with size and time of its files, from the directories alone."""
        return {name: marks for name, marks in self._marks() if not _is_unbegun(marks)}

    def journals_alone(self, before_ns: int) -> list[str]:
        """Names with a journal and no session file, last written before a time."""
        return [
            name
            for name, marks in self._marks()
            if marks[:2] == (0, 0) and 0 < marks[3] < before_ns
        ]

    def fingerprint(self, session_id: str) -> Fingerprint:
        """The same for one session."""
        marks: list[int] = []
        for path in (self._layout.session(session_id), self._layout.journal(session_id)):
            try:
                marks += _size_and_time(path.stat())
            except OSError:
                marks += (0, 0)
        return (marks[0], marks[1], marks[2], marks[3])

    def has(self, session_id: str) -> bool:
        """Whether there is such a session."""
        if not is_valid_name(session_id) or self._trash.has(session_id):
            return False
        layout = self._layout
        places = (layout.session, layout.journal, layout.older_session)
        return any(os.path.lexists(place(session_id)) for place in places)

    def is_own(self, session_id: str) -> bool:
        """Whether a session lies in this store itself, not among an earlier program's data."""
        here = (self._layout.session(session_id), self._layout.journal(session_id))
        return any(path.exists() for path in here)

    def _marks(self) -> Iterator[tuple[str, Fingerprint]]:
        gone = self._trash.ids()
        found: dict[str, list[int]] = {}
        for name, at, size, time in (*self._older(), *_scan(self._layout.sessions)):
            if name not in gone:
                marks = found.setdefault(name, [0, 0, 0, 0])
                marks[at : at + 2] = size, time
        for name, (a, b, c, d) in found.items():
            yield name, (a, b, c, d)

    def _older(self) -> list[_Seen]:
        try:
            return list(_scan(self._layout.older_sessions))
        except OSError:
            return []  # what another program left does not keep ours from being listed


def _is_unbegun(marks: Fingerprint) -> bool:
    """No file, and a journal that is empty: its lock is held before anything is written."""
    return marks[:3] == (0, 0, 0) and marks[3] != 0


def file_time(nanoseconds: int) -> str:
    """The time of a file as text; file systems can hold times that no calendar has."""
    try:
        return clock.iso(datetime.fromtimestamp(nanoseconds / 1e9, UTC))
    except (ValueError, OverflowError, OSError):
        return clock.EPOCH


def _scan(directory: Path) -> Iterator[_Seen]:
    try:
        entries = os.scandir(directory)
    except (FileNotFoundError, NotADirectoryError):
        return
    with entries:
        for entry in entries:
            if name := session_name(entry.name):
                at = 2 if entry.name.endswith(JOURNAL_SUFFIX) else 0
                try:
                    size, time = _size_and_time(entry.stat())
                except OSError:
                    size, time = 0, 0
                yield name, at, size, time


def _size_and_time(status: os.stat_result) -> tuple[int, int]:
    """Zeros for a FIFO and the like; times no index can hold are cut."""
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        return 0, 0
    return status.st_size, max(-_LATEST_NS, min(status.st_mtime_ns, _LATEST_NS))
