"""The timeline of a search: how many hits there are when, to be moved through and narrowed to."""

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
"""Cells that one span takes at most."""
LABEL_CELLS = 30
"""Kept free at the right, for words about the span one is at."""
WORTH_IT = 100
"""A narrower timeline has its words in the line below, beside the dates."""


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


class HitTimeline(Widget, can_focus=True):
    """Two lines: bars, and the dates below them."""

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
        Binding("left,h", "step(-1)", "Earlier", id="hits.earlier", tooltip="Hits before that"),
        Binding("right,l", "step(1)", "Later", id="hits.later", tooltip="Hits after that"),
        Binding("home", "end(0)", "First", id="hits.first_day", tooltip="The first", show=False),
        Binding("end", "end(-1)", "Last", id="hits.last_day", tooltip="The last", show=False),
        Binding("enter", "narrow", "Narrow", id="hits.narrow", tooltip="Only hits of that time"),
        Binding("backspace,delete", "widen", "All", id="hits.widen", tooltip="Hits of all times"),
    ]

    @dataclass
    class Moved(Message):
        """Another span is the one to narrow to."""

        span: DateSpan

    @dataclass
    class Narrowed(Message):
        """Only hits within a span are wanted; without one, those of all times."""

        span: DateSpan | None

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._days: Sequence[tuple[date, int]] = ()
        self._spans: tuple[DateSpan, ...] = ()
        self._at: int | None = None

    def show(self, days: Sequence[tuple[date, int]]) -> None:
        """Show on which days there are hits."""
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
        """The span one is at."""
        if self._at is None or self._at >= len(self._spans):
            return None
        return self._spans[self._at]

    def on_resize(self) -> None:
        """Another width has room for other spans."""
        self._divide()
        self.refresh()

    def on_focus(self, _event: events.Focus) -> None:
        """One is at the latest hits."""
        if self.span is None:
            self.action_end(-1)
        self.refresh()

    def on_blur(self, _event: events.Blur) -> None:
        """Nowhere any more."""
        self._at = None
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """To the span under the mouse; again, narrow to it."""
        at = event.get_content_offset_capture(self).x // max(self._cells, 1)
        if at < len(self._spans):
            if at == self._at:
                self.action_narrow()
            else:
                self._go(at)

    def action_step(self, step: int) -> None:
        """To the next span with hits."""
        at = (len(self._spans) if self._at is None else self._at) + step
        while 0 <= at < len(self._spans) and not self._spans[at].hits:
            at += step
        if 0 <= at < len(self._spans):
            self._go(at)

    def action_end(self, at: int) -> None:
        """To the first or the last span."""
        if self._spans:
            self._go(at % len(self._spans))

    def action_narrow(self) -> None:
        """Have only the hits of this span shown."""
        if self.span:
            self.post_message(self.Narrowed(self.span))

    def action_widen(self) -> None:
        """Have the hits of all times shown."""
        self.post_message(self.Narrowed(None))

    # Drawing

    def render_line(self, y: int) -> Strip:
        """The bars, or the dates below them."""
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
        """The names of months or years where they begin, as far as there is room."""
        text, before = "", ""
        for at, span in enumerate(self._spans):
            label, place = _label(span, is_first=not at), at * self._cells
            if label != before and place >= len(text) + bool(text):
                text = text.ljust(place) + label
            before = label
        return text[: self.size.width]

    def _note(self) -> str:
        if self.span:
            return f"{self.span.title} · {counted(self.span.hits, 'hit')}"
        is_roomy = self._spans and self.size.width >= WORTH_IT
        return f"by {self._spans[0].unit}" if is_roomy else ""

    @property
    def _cells(self) -> int:
        """How wide one span is."""
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


def monday_of(day: date) -> date:
    """Return the first day of the week; the first day of the calendar where there is none."""
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
