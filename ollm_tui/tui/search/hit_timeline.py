"""The timeline of a search: how many hits each day, week, month or year has, to narrow to one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Literal, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from ollm_tui.core.counts import counted

Unit = Literal["day", "week", "month", "year"]
UNITS: tuple[Unit, ...] = ("day", "week", "month", "year")
LEVELS = "▁▂▃▄▅▆▇█"
WIDEST = 3
"""Cells of one span at most."""
LABEL_CELLS = 30
"""Cells kept free at the right, for words about the span of the cursor."""
WORTH_IT = 100
"""Cells from which words stand beside the bars; below that they stand beside the dates."""


class DateSpan(NamedTuple):
    """A day, week, month or year, and how many hits it has."""

    unit: Unit
    first: date
    hits: int

    @property
    def last(self) -> date:
        """The last day of the span."""
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
        """The name of the span for the user."""
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
        """Whether a day lies within the span."""
        return self.first <= day <= self.last


class HitTimeline(Widget, can_focus=True):
    """Shows the spans in two lines: bars, and the dates below them."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES = {
        "hit-timeline--bar",
        "hit-timeline--none",
        "hit-timeline--at",
        "hit-timeline--words",
    }
    DEFAULT_CSS = """
    HitTimeline {
        height: 2; padding: 0 1;
        & > .hit-timeline--bar { color: $primary; }
        & > .hit-timeline--none { color: $panel; }
        & > .hit-timeline--at { color: $accent; background: $primary 30%; }
        & > .hit-timeline--words { color: $text-muted; }
        &:nocolor > .hit-timeline--at { text-style: reverse; }
    }
    """
    BINDINGS = [
        Binding("left,h", "step(-1)", "Earlier", id="hits.earlier", tooltip="Earlier"),
        Binding("right,l", "step(1)", "Later", id="hits.later", tooltip="Later"),
        Binding("home", "end(0)", "First", id="hits.first_day", tooltip="First", show=False),
        Binding("end", "end(-1)", "Last", id="hits.last_day", tooltip="Last", show=False),
        Binding("enter", "narrow", "Narrow", id="hits.narrow", tooltip="Only this time range"),
        Binding("backspace,delete", "widen", "All", id="hits.widen", tooltip="All times"),
    ]

    @dataclass
    class Moved(Message):
        """The cursor is on another span."""

        span: DateSpan

    @dataclass
    class Narrowed(Message):
        """The user wants only hits within a span; None: hits of all times."""

        span: DateSpan | None

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._days: Sequence[tuple[date, int]] = ()
        self._spans: tuple[DateSpan, ...] = ()
        self._at: int | None = None

    def show(self, days: Sequence[tuple[date, int]]) -> None:
        """Show how many hits each day has; the cursor stays on its span if that is still there."""
        before = self.span
        self._days = days
        self._divide()
        if before:
            self._at = next(
                (at for at, span in enumerate(self._spans) if span[:2] == before[:2]), None
            )
        self.refresh()

    @property
    def span(self) -> DateSpan | None:
        """The span of the cursor; None if it is on none."""
        if self._at is None or self._at >= len(self._spans):
            return None
        return self._spans[self._at]

    def on_resize(self) -> None:
        """Divide the time anew: another width has room for other spans."""
        self._divide()
        self.refresh()

    def on_focus(self, _event: events.Focus) -> None:
        """Put the cursor on the last span if it is on none."""
        if self.span is None:
            self.action_end(-1)
        self.refresh()

    def on_blur(self, _event: events.Blur) -> None:
        """Take the cursor away."""
        self._at = None
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Move to the clicked span; if the cursor is on it already, narrow to it."""
        at = event.get_content_offset_capture(self).x // max(self._cells, 1)
        if at < len(self._spans):
            if at == self._at:
                self.action_narrow()
            else:
                self._go(at)

    def action_step(self, step: int) -> None:
        """Move to the next span with hits."""
        at = (len(self._spans) if self._at is None else self._at) + step
        while 0 <= at < len(self._spans) and not self._spans[at].hits:
            at += step
        if 0 <= at < len(self._spans):
            self._go(at)

    def action_end(self, at: int) -> None:
        """Move to the first (0) or the last span (-1)."""
        if self._spans:
            self._go(at % len(self._spans))

    def action_narrow(self) -> None:
        """Ask for only the hits of this span."""
        if self.span:
            self.post_message(self.Narrowed(self.span))

    def action_widen(self) -> None:
        """Ask for the hits of all times."""
        self.post_message(self.Narrowed(None))

    # Drawing

    def render_line(self, y: int) -> Strip:
        """Draw the bars, or the dates below them."""
        width = self.size.width
        segments = self._bars() if y == 0 else [Segment(self._dates(), self._style("words"))]
        strip = Strip(segments)
        note = self._note() if y == (0 if width >= WORTH_IT else 1) else ""
        if note:
            room = max(width - len(note) - 2, 0)
            strip = strip.adjust_cell_length(room)
            strip = Strip([*strip, Segment(f"  {note}", self._style("words"))])
        return strip.adjust_cell_length(width, self.rich_style).apply_style(self.rich_style)

    def _bars(self) -> list[Segment]:
        highest = max((span.hits for span in self._spans), default=0)
        segments: list[Segment] = []
        for at, span in enumerate(self._spans):
            part = "at" if at == self._at else "bar" if span.hits else "none"
            level = -(-span.hits * (len(LEVELS) - 1) // highest) if span.hits else 0
            segments.append(Segment(LEVELS[level] * self._cells, self._style(part)))
        return segments

    def _dates(self) -> str:
        """Return the names of months or years where they begin, as far as there is room."""
        text, before = "", ""
        for at, span in enumerate(self._spans):
            label, place = _label(span, is_first=not at), at * self._cells
            if label != before and place >= len(text) + bool(text):
                text = text.ljust(place) + label
            before = label
        return text[: self.size.width]

    def _note(self) -> str:
        if self.span:
            return f"{self.span.title} · {counted(self.span.hits, 'match', 'matches')}"
        is_roomy = self._spans and self.size.width >= WORTH_IT
        return f"by {self._spans[0].unit}" if is_roomy else ""

    @property
    def _cells(self) -> int:
        """The cells of one span."""
        count = len(self._spans)
        return max(min(WIDEST, self._room // count), 1) if count else 1

    @property
    def _room(self) -> int:
        width = self.size.width
        return max(width - LABEL_CELLS if width >= WORTH_IT else width, 1)

    def _divide(self) -> None:
        self._spans = date_spans(self._days, self._room)
        if self._at is not None and self._at >= len(self._spans):
            self._at = None

    def _go(self, at: int) -> None:
        self._at = at
        self.refresh()
        self.post_message(self.Moved(self._spans[at]))

    def _style(self, part: str) -> Style:
        return self.get_component_rich_style(f"hit-timeline--{part}")


def date_spans(days: Sequence[tuple[date, int]], room: int) -> tuple[DateSpan, ...]:
    """Return all spans from the first day to the last in the shortest unit that fits the room.

    Even with years only the last ones are given where there is not enough room.
    """
    if not days or room < 1:
        return ()
    for unit in UNITS:
        begin = _BEGIN[unit]
        first, last = begin(days[0][0]), begin(days[-1][0])
        if unit != "year" and (last - first).days > room * _LENGTHS[unit]:
            continue  # cannot fit, so its spans are not even made
        counts = Counter[date]()
        for day, hits in days:
            counts[begin(day)] += hits
        spans = _between(unit, first, last, counts)
        if len(spans) <= room or unit == "year":
            return tuple(spans[-room:])
    return ()


def monday_of(day: date) -> date:
    """Return the first day of the week of a day."""
    return date.fromordinal(max(day.toordinal() - day.weekday(), 1))


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


_LENGTHS: dict[Unit, int] = {"day": 1, "week": 7, "month": 32, "year": 366}
"""Days of a unit, no fewer than any has."""
_BEGIN: dict[Unit, Callable[[date], date]] = {
    "day": lambda day: day,
    "week": monday_of,
    "month": lambda day: day.replace(day=1),
    "year": lambda day: date(day.year, 1, 1),
}


def _label(span: DateSpan, *, is_first: bool) -> str:
    units: tuple[Unit, ...] = ("day", "week")
    if span.unit in units:
        is_new_year = is_first or span.first.month == 1
        return f"{span.first:%b %Y}" if is_new_year else f"{span.first:%b}"
    return f"{span.first:%Y}"
