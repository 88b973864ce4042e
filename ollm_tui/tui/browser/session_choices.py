"""Sessions as lines of a list: pinned ones first, then by day or month, archived ones last.

Times in the record order as text, so each row is placed by comparing texts, not by dates.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cache, partial

from ollm_tui.core import clock
from ollm_tui.core.intake import clean
from ollm_tui.core.session.session import SessionSummary
from ollm_tui.core.session.titles import UNTITLED
from ollm_tui.tui.kit.choice_list import Choice

PINNED, OPEN, DAMAGED = "★", "▸", "!"
SHORT_ID = 8
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


def session_choices(
    summaries: Sequence[SessionSummary], current: str | None = None, now: datetime | None = None
) -> list[Choice]:
    """Lines for sessions, given the latest first; `current` is the one that is open."""
    moment = (now or datetime.now()).astimezone()
    age, section = age_labels(moment), _section_labels(moment)
    pinned = [each for each in summaries if each.pinned and not each.archived]
    archived = [each for each in summaries if each.archived]
    lines = [_heading("Pinned")] if pinned else []
    lines += [_line(summary, current, age) for summary in pinned]
    before = ""
    for summary in summaries:
        if summary.pinned or summary.archived:
            continue
        if (name := section(summary.last_activity)) != before:
            lines.append(_heading(name))
            before = name
        lines.append(_line(summary, current, age))
    lines += [_heading("Archived")] if archived else []
    return lines + [_line(summary, current, age) for summary in archived]


def age_labels(now: datetime) -> Callable[[str], str]:
    """Names the age of a time of the record in few characters: now, 12m, 3h, 2d, 14 Oct."""
    steps = [("now", timedelta(minutes=1))]
    steps += [(f"{count}m", timedelta(minutes=count + 1)) for count in range(1, 60)]
    steps += [(f"{count}h", timedelta(hours=count + 1)) for count in range(1, 24)]
    steps += [(f"{count}d", timedelta(days=count + 1)) for count in range(1, 7)]
    steps.reverse()
    limits = [clock.iso(now - length) for _, length in steps]
    labels = [label for label, _ in steps]
    date = cache(partial(_date, year=f"{now:%Y}"))

    def label(time: str) -> str:
        place = bisect_left(limits, time)
        return labels[place - 1] if place else date(time[:10])

    return label


def _section_labels(now: datetime) -> Callable[[str], str]:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    limits = [clock.iso(today - timedelta(days=days)) for days in (6, 1, 0)]
    labels = ("This week", "Yesterday", "Today")
    month = cache(partial(_month, year=f"{now:%Y}"))

    def label(time: str) -> str:
        place = bisect_right(limits, time)
        return labels[place - 1] if place else month(time[:7])

    return label


def _date(day: str, year: str) -> str:
    month = _month_name(day)[:3]
    if not month:
        return ""
    return f"{day[8:].lstrip('0')} {month}" if day[:4] == year else f"{month} {day[:4]}"


def _month(month: str, year: str) -> str:
    name = _month_name(month)
    if not name:
        return "Earlier"
    return name if month[:4] == year else f"{name} {month[:4]}"


def _month_name(day: str) -> str:
    """Empty for what is no date: older data may have anything there."""
    number = day[5:7]
    return _MONTHS[int(number) - 1] if number.isdecimal() and 1 <= int(number) <= 12 else ""


def _heading(name: str) -> Choice:
    return Choice("", name, heading=True)


def _line(summary: SessionSummary, current: str | None, age: Callable[[str], str]) -> Choice:
    mark = ""
    if summary.session_id == current:
        mark = OPEN
    elif summary.damage:
        mark = DAMAGED
    elif summary.pinned:
        mark = PINNED
    project = (summary.project or "").rpartition("/")[2]
    return Choice(
        summary.session_id,
        clean(summary.title) or UNTITLED,
        age(summary.last_activity),
        mark,
        words=" ".join((summary.session_id[:SHORT_ID], summary.model, project, *summary.tags)),
    )
