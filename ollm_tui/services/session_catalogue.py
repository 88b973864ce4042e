"""The catalogue of sessions: listing and finding them without opening any.

Kept apart from the rest of the library so that a list loads nothing that reads sessions,
unless one has changed since it was last listed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime

from ollm_tui.core import clock
from ollm_tui.core.errors import AmbiguousId, SessionDamaged, SessionNotFound
from ollm_tui.core.session import SessionSummary
from ollm_tui.storage.directory import Fingerprint, SessionDirectory
from ollm_tui.storage.index import SessionIndex
from ollm_tui.storage.layout import StoreLayout
from ollm_tui.storage.trash import Trash

Progress = Callable[[int, int], None]
"""Called with how many of how many sessions have been read."""


class SessionCatalogue:
    """All sessions of one store; `read` makes the summary of one the index does not know."""

    def __init__(
        self, layout: StoreLayout, index: SessionIndex, read: Callable[[str], SessionSummary]
    ) -> None:
        self._directory = SessionDirectory(layout)
        self._trash = Trash(layout)
        self._index = index
        self._read = read

    def summaries(self, progress: Progress | None = None) -> list[SessionSummary]:
        """Every session, the latest first; what the index does not know yet is read."""
        try:
            self._trash.recover()
        except OSError:
            pass  # nothing can be moved here; what is in the trash is not listed in any case
        found = self._directory.fingerprints()
        known = self._index.fingerprints()
        stale = [name for name, marks in found.items() if known.get(name) != marks]
        gone = [name for name in known if name not in found]
        if stale or gone:
            rows = [
                self._row(name, found[name], number, len(stale), progress)
                for number, name in enumerate(stale, 1)
            ]
            try:
                self._index.update(rows, gone)
            except sqlite3.Error:
                return self._without_index(rows, gone)
        return self._index.summaries()

    def resolve(self, prefix: str) -> str:
        """The one session whose id starts like this. SessionNotFound or AmbiguousId."""
        if prefix and self._directory.has(prefix):
            return prefix
        wanted = prefix.lower()
        names = self._directory.fingerprints()
        matches = [name for name in names if name.lower().startswith(wanted)]
        return only_one(matches if prefix else [], prefix, "session", "ollm sessions list")

    def latest(self) -> str | None:
        """The session that was active last, if there is a readable one."""
        return next((s.session_id for s in self.summaries() if not s.damage), None)

    def _row(
        self, name: str, marks: Fingerprint, number: int, total: int, progress: Progress | None
    ) -> tuple[SessionSummary, Fingerprint]:
        try:
            summary = self._read(name)
        except (SessionDamaged, SessionNotFound) as error:
            moment = clock.iso(datetime.fromtimestamp(max(marks[1], marks[3]) / 1e9, UTC))
            summary = SessionSummary(
                name, "(damaged)", moment, moment, "", "", 0, 0, damage=error.message
            )
        if progress:
            progress(number, total)
        return summary, marks

    def _without_index(
        self, rows: list[tuple[SessionSummary, Fingerprint]], gone: list[str]
    ) -> list[SessionSummary]:
        """The list all the same, when the index is locked or cannot be written."""
        fresh = {summary.session_id: summary for summary, _ in rows}
        known = {s.session_id: s for s in self._index.summaries() if s.session_id not in gone}
        merged = (known | fresh).values()
        return sorted(merged, key=lambda summary: summary.last_activity, reverse=True)


def only_one(matches: list[str], prefix: str, what: str, hint: str) -> str:
    """The one that matches. SessionNotFound if there is none, AmbiguousId if there are more."""
    if len(matches) == 1:
        return matches[0]
    if not matches:
        raise SessionNotFound(f"there is no {what} {prefix!r}", hint)
    examples = ", ".join(sorted(matches)[:3])
    raise AmbiguousId(
        f"{prefix!r} could be {len(matches)} sessions: {examples}", "give a few more characters"
    )
