"""Retention: moves sessions that are too many or too old to the trash.

Pinned and open sessions always stay, and none is moved for its length alone.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from ollm_tui.core import clock
from ollm_tui.core.counts import counted
from ollm_tui.core.errors import StoreError
from ollm_tui.core.session.session import SessionSummary
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.importers.programs.foreign_talk import IMPORTED


class Surplus(NamedTuple):
    """A session that is over a limit, and that limit in words."""

    summary: SessionSummary
    reason: str


def enforce_retention(
    library: SessionLibrary,
    *,
    keep: int = 0,
    max_age: timedelta | None = None,
    spare: frozenset[str] = frozenset(),
) -> list[SessionSummary]:
    """Move the sessions over the limits to the trash and return them; 0 means no limit.

    Sessions in `spare` stay. Sessions are always moved whole: cut short, they would lose the
    beginning of their branches and snapshots. Sessions that cannot be read, and those of other
    programs, are neither moved nor counted: what is not understood is not thrown away, and a
    history that was taken in pushes no own session out.
    """
    moved: list[SessionSummary] = []
    for summary, reason in surplus(library, keep=keep, max_age=max_age):
        if summary.session_id in spare:
            continue
        try:
            library.discard(summary.session_id, reason)
        except (StoreError, OSError):
            continue  # it is open elsewhere, or read-only: the next run tries again
        moved.append(summary)
    library.empty_old_trash()
    library.remove_abandoned()
    return moved


def surplus(
    library: SessionLibrary,
    *,
    keep: int = 0,
    max_age: timedelta | None = None,
) -> list[Surplus]:
    """Return the sessions over the limits, the oldest first.

    Pinned sessions count towards `keep` but always stay.
    """
    summaries = [
        summary
        for summary in library.catalogue.summaries()
        if not (summary.damage or summary.older or IMPORTED in summary.tags)
    ]
    free = [summary for summary in summaries if not summary.pinned]
    room = max(keep - (len(summaries) - len(free)), 0) if keep else len(free)
    too_many = f"only the newest {keep} are kept"
    over = [Surplus(summary, too_many) for summary in free[room:]]
    # The catalogue lists the newest first: these are newer than those over the number.
    over[:0] = [
        Surplus(summary, reason)
        for summary in free[:room]
        if (reason := _too_old(summary, max_age))
    ]
    return over[::-1]


def _too_old(summary: SessionSummary, max_age: timedelta | None) -> str:
    if max_age is None or summary.last_activity >= clock.iso(datetime.now(UTC) - max_age):
        return ""
    return f"older than {_words(max_age)}"


def _words(age: timedelta) -> str:
    """Return an age in words, in the largest unit that fits."""
    minutes = int(age.total_seconds()) // 60
    for unit, size in (("day", 24 * 60), ("hour", 60)):
        if minutes >= size:
            return counted(minutes // size, unit)
    return counted(minutes, "minute")
