"""The catalogue of sessions: listing and finding them without opening any.

Kept apart from the rest of the library so that a list loads nothing that reads sessions,
unless one has changed since it was last listed.
"""

from __future__ import annotations

from collections.abc import Callable

from ollm_tui.core.errors import AmbiguousId, SessionDamaged, SessionNotFound
from ollm_tui.core.session.session import SessionSummary
from ollm_tui.storage.sessions.directory import Fingerprint, SessionDirectory, file_time
from ollm_tui.storage.sessions.session_index import IndexRow, SessionIndex, showable
from ollm_tui.storage.sessions.trash import Trash
from ollm_tui.storage.store_layout import StoreLayout

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
        self._trash.recover()
        found = self._directory.fingerprints()
        rows = self._index.rows()
        known = {summary.session_id: marks for summary, marks in rows}
        stale = [name for name, marks in found.items() if known.get(name) != marks]
        listed = [summary for summary, _ in rows]
        if not stale and len(known) == len(found):
            return listed
        gone = known.keys() - found.keys()
        fresh: list[IndexRow] = []
        for number, name in enumerate(stale, 1):
            fresh += self._read_row(name, found[name])
            if progress:
                progress(number, len(stale))
        self._index.update(fresh, gone)
        unchanged = [each for each in listed if each.session_id not in gone.union(stale)]
        newest_first = [summary for summary, _ in fresh] + unchanged
        return sorted(newest_first, key=lambda summary: summary.last_activity, reverse=True)

    def known(self, most: int) -> list[SessionSummary]:
        """The latest sessions as they were when they were listed last; looks at no file."""
        return [summary for summary, _ in self._index.rows(most)]

    def resolve(self, prefix: str) -> str:
        """The one session whose id starts like this. SessionNotFound or AmbiguousId."""
        self._trash.recover()
        if prefix and self._directory.has(prefix):
            return prefix
        wanted = prefix.lower()
        names = self._directory.fingerprints()
        matches = [name for name in names if name.lower().startswith(wanted)]
        return only_one(matches if prefix else [], prefix, "session", "ollm sessions list")

    def latest(self) -> str | None:
        """The session that was active last, if there is a readable one."""
        return next((s.session_id for s in self.summaries() if not s.damage), None)

    def _read_row(self, name: str, marks: Fingerprint) -> list[IndexRow]:
        """The row of one session; none if it is gone by now, or never began."""
        try:
            summary = self._read(name)
        except SessionNotFound:
            return []
        except SessionDamaged as error:
            moment = file_time(max(marks[1], marks[3]))
            summary = SessionSummary(
                name, "(damaged)", moment, moment, "", "", 0, 0, damage=error.message
            )
        return [(showable(summary), marks)]


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
