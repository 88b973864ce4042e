"""Retention: moves sessions that are too many, too old or too long to the trash.

Pinned and open sessions always stay.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from ollm_tui.core import clock
from ollm_tui.core.counts import counted
from ollm_tui.core.errors import StoreError
from ollm_tui.core.session.session import SessionSummary
from ollm_tui.services.sessions.session_library import SessionLibrary


class Surplus(NamedTuple):
    """A session that is over a limit, and that limit in words."""

    summary: SessionSummary
    reason: str


def enforce_retention(
    library: SessionLibrary,
    *,
    keep: int = 0,
    max_age: timedelta | None = None,
    max_items: int = 0,
    spare: frozenset[str] = frozenset(),
) -> list[SessionSummary]:
    """Move the sessions over the limits to the trash and return them; 0 means no limit.

    Sessions in `spare` stay. Sessions are always moved whole: cut short, they would lose the
    beginning of their branches and snapshots. Sessions that cannot be read, and those of earlier
    programs, are neither moved nor counted: what is not understood is not thrown away.
    """
    moved: list[SessionSummary] = []
    for summary, reason in surplus(library, keep=keep, max_age=max_age, max_items=max_items):
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
    max_items: int = 0,
) -> list[Surplus]:
    """Return the sessions over the limits, the oldest first.

    Pinned sessions count towards `keep` but always stay.
    """
    summaries = [
        summary
        for summary in library.catalogue.summaries()
        if not summary.damage and library.store.directory.is_own(summary.session_id)
    ]
    free = [summary for summary in summaries if not summary.pinned]
    room = max(keep - (len(summaries) - len(free)), 0) if keep else len(free)
    too_many = f"only the newest {keep} are kept"
    over = [Surplus(summary, too_many) for summary in free[room:]]
    # The catalogue lists the newest first: these are newer than those over the number.
    over[:0] = [
        Surplus(summary, reason)
        for summary in free[:room]
        if (reason := _too_old(summary, max_age) or _too_long(summary, max_items))
    ]
    return over[::-1]


def _too_old(summary: SessionSummary, max_age: timedelta | None) -> str:
    if max_age is None or summary.last_activity >= clock.iso(datetime.now(UTC) - max_age):
        return ""
    return f"older than {_words(max_age)}"


def _too_long(summary: SessionSummary, max_items: int) -> str:
    if not 0 < max_items < summary.message_count:
        return ""
    return f"more than {counted(max_items, 'message')}"


def _words(age: timedelta) -> str:
    """Return an age in words, in the largest unit that fits."""
    minutes = int(age.total_seconds()) // 60
    for unit, size in (("day", 24 * 60), ("hour", 60)):
        if minutes >= size:
            return counted(minutes // size, unit)
    return counted(minutes, "minute")
