"""A calendar of days, each the darker the more was said on it, and the tokens of its weeks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from ollm_tui.tui.search.activity_days import WEEK, ActivityDays, level, monday_of, weeks_until

SHADES = ("· ", "░░", "▒▒", "▓▓", "██")
HERE = "[]"
BARS = "▁▂▃▄▅▆▇█"
LABEL, CELL = 8, 2
MOST_WEEKS = 106
"""Two years; more would say less."""
_DAYS = ("Mon", "", "Wed", "", "Fri", "", "Sun")


class DayMap(Widget, can_focus=True):
    """One column a week, one line a weekday; the line above has months, the one below tokens."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES = {"day-map--some", "day-map--none", "day-map--at", "day-map--words"}
    DEFAULT_CSS = """
    DayMap {
        height: 9; padding: 0 1;
        & > .day-map--some { color: $primary; }
        & > .day-map--none { color: $foreground 30%; }
        & > .day-map--at { color: $background; background: $accent; text-style: bold; }
        & > .day-map--words { color: $text-muted; }
        &:nocolor > .day-map--at { text-style: reverse; }
    }
    """
    BINDINGS = [
        Binding("left,h", "step(-7)", "Left", id="activity.week_before", tooltip="A week before"),
        Binding("right,l", "step(7)", "Right", id="activity.week_after", tooltip="A week after"),
        Binding("up,k", "step(-1)", "Up", id="activity.day_before", tooltip="The day before"),
        Binding("down,j", "step(1)", "Down", id="activity.day_after", tooltip="The day after"),
        Binding("pageup", "step(-28)", "Page", id="activity.back", tooltip="Four weeks before"),
        Binding("pagedown", "step(28)", "Page", id="activity.on", tooltip="Four weeks after"),
        Binding("home", "first", "First", id="activity.first", tooltip="The first day of all"),
        Binding("end", "last", "Today", id="activity.today", tooltip="Today"),
        Binding("enter", "open", "Open", id="activity.open", tooltip="What was said on that day"),
    ]

    @dataclass
    class Moved(Message):
        """Another day is looked at."""

        day: date

    @dataclass
    class Opened(Message):
        """What was said on a day is wanted."""

        day: date

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._days = ActivityDays((), date.today())
        self.day = self._days.last
        self._end = monday_of(self.day)
        """The last week that is seen."""

    def show(self, days: ActivityDays) -> None:
        """Show other days, at the last one on which something was said."""
        self._days = days
        said = [day for day in days.messages if day <= days.last]
        self._end = monday_of(days.last)
        self._go(max(said, default=days.last))

    def action_step(self, days: int) -> None:
        """So many days further, or back."""
        self._go(self.day + timedelta(days=days))

    def action_first(self) -> None:
        """To the first day on which something was said."""
        self._go(self._days.first)

    def action_last(self) -> None:
        """To today."""
        self._go(self._days.last)

    def action_open(self) -> None:
        """Say which day is wanted."""
        self.post_message(self.Opened(self.day))

    def on_click(self, event: events.Click) -> None:
        """To the day under the mouse; again, open it."""
        at = event.get_content_offset_capture(self)
        week, line = (at.x - LABEL) // CELL, at.y - 1
        mondays = self._mondays()
        if 0 <= week < len(mondays) and 0 <= line < WEEK:
            day = mondays[week] + timedelta(days=line)
            if day == self.day:
                self.action_open()
            else:
                self._go(day)

    def on_resize(self) -> None:
        """The day stays in view."""
        self._go(self.day)

    def render_line(self, y: int) -> Strip:
        """Months, seven lines of days, tokens."""
        width, words = self.size.width, self._style("words")
        if y == 0:
            segments = [Segment(self._months(), words)]
        elif y <= WEEK:
            segments = [Segment(f"{_DAYS[y - 1]:<{LABEL}}", words), *self._line(y - 1)]
        else:
            bars = Segment(self._tokens(), self._style("some"))
            segments = [Segment(f"{'tokens':<{LABEL}}", words), bars]
        strip = Strip(segments).adjust_cell_length(width, self.rich_style)
        return strip.apply_style(self.rich_style)

    def _line(self, weekday: int) -> list[Segment]:
        segments: list[Segment] = []
        for monday in self._mondays():
            day = monday + timedelta(days=weekday)
            if day > self._days.last:
                segments.append(Segment(" " * CELL))
                continue
            shade = level(self._days.messages[day], self._days.busiest, len(SHADES))
            if day == self.day:
                segments.append(Segment(HERE, self._style("at")))
            else:
                part = "some" if shade else "none"
                segments.append(Segment(SHADES[shade], self._style(part)))
        return segments

    def _months(self) -> str:
        """The year stands before the first month: beside it, it would hide the second one."""
        mondays = self._mondays()
        text, before = f"{mondays[0].year:<{LABEL - 1}}", 0
        for at, monday in enumerate(mondays):
            place = LABEL + at * CELL
            if monday.month != before and place > len(text):
                begins_year = monday.month == 1 and at > 0
                text = text.ljust(place) + (f"{monday:%b %Y}" if begins_year else f"{monday:%b}")
            before = monday.month
        return text[: self.size.width]

    def _tokens(self) -> str:
        totals = [self._days.week_tokens(monday) for monday in self._mondays()]
        highest = max(totals, default=0)
        return "".join(
            (BARS[level(total, highest, len(BARS))] if total else " ") * CELL for total in totals
        )

    def _mondays(self) -> list[date]:
        count = min(max((self.size.width - LABEL) // CELL, 1), MOST_WEEKS)
        return list(weeks_until(self._end, count))

    def _go(self, day: date) -> None:
        """To a day that was; the view goes along."""
        first = monday_of(self._days.first)
        self.day = min(max(day, first), self._days.last)
        monday, seen = monday_of(self.day), self._mondays()
        if monday < seen[0]:
            self._end -= seen[0] - monday
        elif monday > self._end:
            self._end = monday
        self.refresh()
        self.post_message(self.Moved(self.day))

    def _style(self, part: str) -> Style:
        return self.get_component_rich_style(f"day-map--{part}")
