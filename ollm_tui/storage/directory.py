"""Which sessions there are, from the directories alone: no session is opened."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ollm_tui.storage.layout import JOURNAL_SUFFIX, StoreLayout, is_valid_name, session_name
from ollm_tui.storage.trash import Trash

Fingerprint = tuple[int, int, int, int]
"""Size and time of the session file, size and time of the journal; 0 where there is none."""


class SessionDirectory:
    """The sessions of a store and those an earlier program left beside them."""

    def __init__(self, layout: StoreLayout) -> None:
        self._layout = layout
        self._trash = Trash(layout)

    def fingerprints(self) -> dict[str, Fingerprint]:
        """Every session there is, with size and time of its files, from the directories alone."""
        gone = self._trash.ids()
        found: dict[str, list[int]] = {}
        for directory in (self._layout.older_sessions, self._layout.sessions):
            for name, at, size, time in _scan(directory):
                if name not in gone:
                    marks = found.setdefault(name, [0, 0, 0, 0])
                    marks[at : at + 2] = size, time
        return {name: (a, b, c, d) for name, (a, b, c, d) in found.items()}

    def fingerprint(self, session_id: str) -> Fingerprint:
        """The same for one session."""
        marks: list[int] = []
        for path in (self._layout.session(session_id), self._layout.journal(session_id)):
            try:
                status = path.stat()
                marks += (status.st_size, status.st_mtime_ns)
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


def _scan(directory: Path) -> Iterator[tuple[str, int, int, int]]:
    """Names of sessions, where their marks go, size and time."""
    try:
        entries = os.scandir(directory)
    except (FileNotFoundError, NotADirectoryError):
        return
    with entries:
        for entry in entries:
            if name := session_name(entry.name):
                try:
                    status = entry.stat()
                except OSError:
                    yield name, 0, 0, 0
                    continue
                at = 2 if entry.name.endswith(JOURNAL_SUFFIX) else 0
                yield name, at, status.st_size, status.st_mtime_ns
