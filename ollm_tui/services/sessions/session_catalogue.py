"""The catalogue of sessions: lists and finds them by the index, without reading their files.

It is apart from the library so that a listing imports nothing that reads sessions, unless one has
changed since the last listing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ollm_tui.core.errors import AmbiguousId, SessionDamaged, SessionNotFound, SessionTooLarge
from ollm_tui.core.session.session import SessionSummary
from ollm_tui.storage.sessions.directory import Fingerprint, SessionDirectory, file_time
from ollm_tui.storage.sessions.session_index import IndexRow, SessionIndex, showable
from ollm_tui.storage.sessions.trash import Trash
from ollm_tui.storage.store_layout import StoreLayout

READ_AT_ONCE = 100
"""Sessions that are read and written to the index together: what waits for the store goes on."""

Progress = Callable[[int, int], None]
"""Called with how many of how many sessions have been read."""


class SessionCatalogue:
    """Lists the sessions of a store; `read` makes the summary of one that the index lacks."""

    def __init__(
        self, layout: StoreLayout, index: SessionIndex, read: Callable[[str], SessionSummary]
    ) -> None:
        self._directory = SessionDirectory(layout)
        self._trash = Trash(layout)
        self._index = index
        self._read = read

    def summaries(self, progress: Progress | None = None) -> list[SessionSummary]:
        """Return all sessions, the latest first; those the index does not know yet are read."""
        *_, listed = self.reading(progress)
        return listed

    def reading(self, progress: Progress | None = None) -> Iterator[list[SessionSummary]]:
        """Yield the sessions, the latest first: again and again while some have to be read, the
        newest files first, until all are there."""
        self._trash.recover()
        found = self._directory.fingerprints()
        rows = self._index.rows()
        known = {summary.session_id: marks for summary, marks in rows}
        listed = [summary for summary, _ in rows]
        stale = [name for name, marks in found.items() if known.get(name) != marks]
        # The usual case: nothing has changed, and the rows are in order already.
        if not stale and len(known) == len(found):
            yield listed
            return
        stale.sort(key=lambda name: max(found[name][1], found[name][3]), reverse=True)
        gone = known.keys() - found.keys()
        listed = [each for each in listed if each.session_id not in gone.union(stale)]
        for at in range(0, max(len(stale), 1), READ_AT_ONCE):
            fresh: list[IndexRow] = []
            for number, name in enumerate(stale[at : at + READ_AT_ONCE], at + 1):
                fresh += self._read_row(name, found[name])
                if progress:
                    progress(number, len(stale))
            self._index.update(fresh, () if at else gone)
            listed += [summary for summary, _ in fresh]
            listed.sort(key=lambda summary: summary.last_activity, reverse=True)
            yield listed

    def known(self, most: int) -> list[SessionSummary]:
        """Return the latest sessions as they were last listed, without looking at any file.

        Only where none was listed yet, the files that were written last are read.
        """
        listed = [summary for summary, _ in self._index.rows(most)]
        return listed or next(self.reading())[:most]

    def resolve(self, prefix: str) -> str:
        """Return the one session whose id begins with `prefix`. SessionNotFound or AmbiguousId."""
        self._trash.recover()
        if prefix and self._directory.has(prefix):
            return prefix
        beginning = prefix.lower()
        names = self._directory.fingerprints()
        matches = [name for name in names if name.lower().startswith(beginning)]
        return only_one(matches if prefix else [], prefix, "session", "ollm sessions list")

    def latest(self) -> str | None:
        """Return the session that was active last; None if none can be read."""
        return next((s.session_id for s in self.summaries() if not s.damage), None)

    def _read_row(self, name: str, marks: Fingerprint) -> list[IndexRow]:
        """Return the row of one session; no row if it is gone by now, or has no record yet."""
        try:
            summary = self._read(name)
        except SessionNotFound:
            return []
        except SessionDamaged as error:
            moment = file_time(max(marks[1], marks[3]))
            title = "(too large)" if isinstance(error, SessionTooLarge) else "(damaged)"
            summary = SessionSummary(
                name, title, moment, moment, "", "", 0, 0, damage=error.message
            )
        return [(showable(summary), marks)]


def only_one(matches: list[str], prefix: str, what: str, hint: str) -> str:
    """Return the only match. SessionNotFound if there is none, AmbiguousId if there are more."""
    if len(matches) == 1:
        return matches[0]
    if not matches:
        raise SessionNotFound(f"no {what} {prefix!r}", hint)
    examples = ", ".join(sorted(matches)[:3])
    raise AmbiguousId(f"{prefix!r} matches {len(matches)} sessions: {examples}", "use a longer id")
