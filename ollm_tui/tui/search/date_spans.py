"""Days with hits put into spans of equal length: days, weeks, months or years, as room allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Literal, NamedTuple

Unit = Literal["day", "week", "month", "year"]
UNITS: tuple[Unit, ...] = ("day", "week", "month", "year")


class DateSpan(NamedTuple):
    """Some days that follow each other, and how many hits there are on them."""

    unit: Unit
    first: date
    hits: int

    @property
    def last(self) -> date:
        """Its last day."""
        return _next(self.unit, self.first) - timedelta(days=1)

    @property
    def words(self) -> tuple[str, ...]:
        """The filter words of a search that narrow it to these days."""
        match self.unit:
            case "day":
                return (f"in:{self.first:%Y-%m-%d}",)
            case "week":
                end = _next("week", self.first)
                return f"after:{self.first:%Y-%m-%d}", f"before:{end:%Y-%m-%d}"
            case "month":
                return (f"in:{self.first:%Y-%m}",)
            case "year":
                return (f"in:{self.first:%Y}",)

    @property
    def title(self) -> str:
        """What people call it."""
        match self.unit:
            case "day":
                return f"{self.first:%a} {self.first.day} {self.first:%b %Y}"
            case "week":
                return f"week of {self.first.day} {self.first:%b %Y}"
            case "month":
                return f"{self.first:%B %Y}"
            case "year":
                return f"{self.first:%Y}"

    def holds(self, day: date) -> bool:
        """Whether it is one of these days."""
        return self.first <= day <= self.last


def date_spans(days: Sequence[tuple[date, int]], room: int) -> tuple[DateSpan, ...]:
    """All spans from the first day to the last, at most so many: the shortest that fit."""
    if not days or room < 1:
        return ()
    for unit in UNITS:
        begin = _BEGIN[unit]
        first, last = begin(days[0][0]), begin(days[-1][0])
        if unit != "year" and (last - first).days > room * _LENGTHS[unit]:
            continue
        counts = Counter[date]()
        for day, hits in days:
            counts[begin(day)] += hits
        spans = _between(unit, first, last, counts)
        if len(spans) <= room or unit == "year":
            return tuple(spans[-room:])
    return ()


def _between(unit: Unit, first: date, last: date, counts: Counter[date]) -> list[DateSpan]:
    spans: list[DateSpan] = []
    before = date.min
    while first <= last and (first > before or not spans):  # no day comes after the last of all
        spans.append(DateSpan(unit, first, counts[first]))
        before, first = first, _next(unit, first)
    return spans


def _next(unit: Unit, first: date) -> date:
    try:
        match unit:
            case "day" | "week":
                return first + timedelta(days=_LENGTHS[unit])
            case "month":
                return (first + timedelta(days=32)).replace(day=1)
            case "year":
                return date(first.year + 1, 1, 1)
    except (OverflowError, ValueError):
        return date.max


def _monday(day: date) -> date:
    return date.fromordinal(max(day.toordinal() - day.weekday(), 1))


_LENGTHS: dict[Unit, int] = {"day": 1, "week": 7, "month": 32, "year": 366}
_BEGIN: dict[Unit, Callable[[date], date]] = {
    "day": lambda day: day,
    "week": _monday,
    "month": lambda day: day.replace(day=1),
    "year": lambda day: date(day.year, 1, 1),
}
