"""Spans of time as people write them: 2025, 2025-10, 2025-10-14, october, yesterday, 7d."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_DATE = re.compile(r"(\d{4})(?:[-/.](\d{1,2}))?(?:[-/.](\d{1,2}))?")
_AGO = re.compile(r"(\d{1,4})(d|w|m|y)")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
EXAMPLES = "2025, 2025-10, 2025-10-14, october, today, yesterday, 7d"
"""Forms that are understood."""

Period = tuple[datetime, datetime]
"""From a moment until just before another."""


def period(text: str, today: date) -> Period | None:
    """The span a text names, in the user's zone; None if it names none."""
    text = text.strip().lower()
    try:
        days = _calendar(text) or _month(text, today) or _recent(text, today)
        return days and (_begin(days[0]), _begin(days[1]))
    except (ValueError, OverflowError):
        return None  # the 31st of February, the year 0


def _calendar(text: str) -> tuple[date, date] | None:
    match = _DATE.fullmatch(text)
    if not match:
        return None
    year, month, day = (int(part) if part else None for part in match.groups())
    assert year is not None
    if month is None:
        return date(year, 1, 1), date(year + 1, 1, 1)
    if day is None:
        return date(year, month, 1), _next_month(date(year, month, 1))
    first = date(year, month, day)
    return first, first + timedelta(days=1)


def _month(text: str, today: date) -> tuple[date, date] | None:
    """A month by its name or at least three letters of it: the last one that has begun."""
    found = [number for number, name in enumerate(_MONTHS, 1) if name.startswith(text)]
    if len(text) < 3 or not found:
        return None
    first = date(today.year - (found[0] > today.month), found[0], 1)
    return first, _next_month(first)


def _recent(text: str, today: date) -> tuple[date, date] | None:
    tomorrow = today + timedelta(days=1)
    if text == "today":
        return today, tomorrow
    if text == "yesterday":
        return today - timedelta(days=1), today
    if match := _AGO.fullmatch(text):
        return today - timedelta(days=int(match[1]) * _DAYS[match[2]]), tomorrow
    return None


def _next_month(first: date) -> date:
    return (first + timedelta(days=32)).replace(day=1)


def _begin(day: date) -> datetime:
    return datetime.combine(day, time()).astimezone()
