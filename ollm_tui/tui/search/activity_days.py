"""What was said day by day, added up: for a day, for a week, and by models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from ollm_tui.core.search import Activity

WEEK = 7


class ModelTotal(NamedTuple):
    """What one model did in all."""

    model: str
    answers: int
    tokens: int


class ActivityDays:
    """All days there were, each with what was said on it."""

    def __init__(self, activity: Sequence[Activity], today: date) -> None:
        self._activity = activity
        self.messages: Counter[date] = Counter()
        self.tokens: Counter[date] = Counter()
        for each in activity:
            self.messages[each.day] += each.messages
            self.tokens[each.day] += each.tokens
        # A clock that was wrong once has days that never were.
        real = [day for day in self.messages if day <= today]
        self.first = min(real, default=today)
        self.last = today

    @property
    def busiest(self) -> int:
        """The most that was said on one day."""
        return max(self.messages.values(), default=0)

    def week_tokens(self, monday: date) -> int:
        """The tokens of a week."""
        return sum(self.tokens[monday + timedelta(days=day)] for day in range(WEEK))

    def models(self) -> list[ModelTotal]:
        """Who answered how much, those who answered most first."""
        answers, tokens = Counter[str](), Counter[str]()
        for each in self._activity:
            answers[each.model] += each.answers
            tokens[each.model] += each.tokens
        ranked = sorted(answers, key=lambda name: (-answers[name], name))
        return [ModelTotal(name, answers[name], tokens[name]) for name in ranked]


def monday_of(day: date) -> date:
    """The first day of a week."""
    return date.fromordinal(max(day.toordinal() - day.weekday(), 1))


def level(number: int, highest: int, levels: int) -> int:
    """How high a number is among so many levels; only nothing at all is at level 0."""
    return min(-(-number * (levels - 1) // highest), levels - 1) if number and highest else 0


def weeks_until(monday: date, count: int) -> Iterable[date]:
    """The Mondays of so many weeks, this one the last."""
    return (monday - timedelta(days=WEEK * back) for back in range(count - 1, -1, -1))
