"""The activity screen: a calendar of how much was said on which day, and totals and costs by
model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from ollm_tui.core.costs import Bill, added
from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import visible
from ollm_tui.core.search import Activity, IndexProgress
from ollm_tui.core.session.vote import Wins
from ollm_tui.engine.project.history_search import History
from ollm_tui.tui.kit.live_keys import LiveKeys
from ollm_tui.tui.search.hit_timeline import monday_of
from ollm_tui.tui.search.words import ACTIVITY_KEYS, CACHES, NO_ACTIVITY, WEEKDAYS, WINS

if TYPE_CHECKING:
    from ollm_tui.tui.frame import Frame

WEEK = 7
SHADES = ("· ", "░░", "▒▒", "▓▓", "██")
HERE = "[]"
"""The characters of the day the cursor is on."""
BARS = "▁▂▃▄▅▆▇█"
LABEL, CELL = 8, 2
"""Cells for the words at the left, and for one day."""
MOST_WEEKS = 106
"""Two years: more would not be easier to read."""
MOST_BAR_CELLS = 30
NAME_CELLS = 24
BESIDE_BAR = NAME_CELLS + 31
"""Cells of a model's line that its bar cannot have: the name, the numbers, the edges."""


class ModelTotal(NamedTuple):
    """How much one model answered in all."""

    model: str
    answers: int
    tokens: int
    bill: Bill = Bill()


class ActivityDays:
    """The messages and tokens of each day, from the first one until today."""

    def __init__(self, activity: Sequence[Activity], today: date) -> None:
        self._activity = activity
        self.messages: Counter[date] = Counter()
        self.tokens: Counter[date] = Counter()
        for each in activity:
            self.messages[each.day] += each.messages
            self.tokens[each.day] += each.tokens
        self.bill = added(each.bill for each in activity)
        """What was paid in all."""
        # A clock that was wrong once has left days that lie in the future.
        real = [day for day in self.messages if day <= today]
        self.first = min(real, default=today)
        self.last = today

    @property
    def busiest(self) -> int:
        """The most messages of one day."""
        return max(self.messages.values(), default=0)

    def week_tokens(self, monday: date) -> int:
        """Return the tokens of the week that begins on a Monday."""
        return sum(self.tokens[monday + timedelta(days=day)] for day in range(WEEK))

    def models(self) -> list[ModelTotal]:
        """Return the totals of the models, those with the most answers first."""
        answers, tokens = Counter[str](), Counter[str]()
        bills: dict[str, list[Bill]] = {}
        for each in self._activity:
            answers[each.model] += each.answers
            tokens[each.model] += each.tokens
            bills.setdefault(each.model, []).append(each.bill)
        ranked = sorted(answers, key=lambda name: (-answers[name], name))
        return [
            ModelTotal(name, answers[name], tokens[name], added(bills[name])) for name in ranked
        ]

    def bill_of(self, day: date) -> Bill:
        """Return what was paid on a day."""
        return added(each.bill for each in self._activity if each.day == day)


class DayMap(Widget, can_focus=True):
    """The calendar: a column per week, a line per weekday, months above and tokens below."""

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
        Binding("left,h", "step(-7)", "Left", id="activity.week_before", tooltip="Previous week"),
        Binding("right,l", "step(7)", "Right", id="activity.week_after", tooltip="Next week"),
        Binding("up,k", "step(-1)", "Up", id="activity.day_before", tooltip="Previous day"),
        Binding("down,j", "step(1)", "Down", id="activity.day_after", tooltip="Next day"),
        Binding("pageup", "step(-28)", "Page up", id="activity.back", tooltip="Four weeks back"),
        Binding("pagedown", "step(28)", "Page down", id="activity.on", tooltip="Four weeks ahead"),
        Binding("home", "first", "First", id="activity.first", tooltip="First day"),
        Binding("end", "last", "Today", id="activity.today", tooltip="Today"),
        Binding("enter", "open", "Open", id="activity.open", tooltip="Show that day's messages"),
    ]

    @dataclass
    class Moved(Message):
        """The cursor is on another day."""

        day: date

    @dataclass
    class Opened(Message):
        """The user wants to see what was said on a day."""

        day: date

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._days = ActivityDays((), date.today())
        self.day = self._days.last
        self._end = monday_of(self.day)
        """The Monday of the last week in view."""

    def show(self, days: ActivityDays) -> None:
        """Show other days, with the cursor on the last one on which something was said."""
        self._days = days
        said = [day for day in days.messages if day <= days.last]
        self._end = monday_of(days.last)
        self._go(max(said, default=days.last))

    def action_step(self, days: int) -> None:
        """Move by this many days."""
        self._go(self.day + timedelta(days=days))

    def action_first(self) -> None:
        """Move to the first day on which something was said."""
        self._go(self._days.first)

    def action_last(self) -> None:
        """Move to today."""
        self._go(self._days.last)

    def action_open(self) -> None:
        """Ask for what was said on the day of the cursor."""
        self.post_message(self.Opened(self.day))

    def on_click(self, event: events.Click) -> None:
        """Move to the clicked day; if the cursor is on it already, open it."""
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
        """Keep the day of the cursor in view."""
        self._go(self.day)

    def render_line(self, y: int) -> Strip:
        """Draw the months, one of the seven weekdays, or the tokens."""
        width, words = self.size.width, self._style("words")
        if y == 0:
            segments = [Segment(self._months(), words)]
        elif y <= WEEK:
            segments = [Segment(f"{WEEKDAYS[y - 1]:<{LABEL}}", words), *self._line(y - 1)]
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
        """Return the line of months. The year stands at the left, where it hides no month."""
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
        """Move the cursor to a day between the first week and today, and the view with it."""
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


class ActivityScreen(Screen[date | None]):
    """Shows the calendar and the totals; dismisses with the day the user wants to see."""

    AUTO_FOCUS = "DayMap"
    CSS_PATH = "activity.tcss"
    BINDINGS = [
        Binding("escape,q", "close", "Close", id="activity.close", tooltip="Back to the chat"),
    ]

    app: Frame

    def __init__(self, history: History, wins: Callable[[], Awaitable[Mapping[str, Wins]]]) -> None:
        """`wins` tells how often each model won a vote."""
        super().__init__()
        self._history = history
        self._ask_wins = wins
        self._wins: Mapping[str, Wins] = {}
        self._days = ActivityDays((), date.today())

    def compose(self) -> ComposeResult:
        """Lay out the totals, the calendar, the day of the cursor, the models and the keys."""
        yield Static(id="heading", markup=False)
        yield DayMap()
        yield Static(id="day", markup=False)
        yield Static(id="models", markup=False)
        yield LiveKeys()

    def on_mount(self) -> None:
        """Show the empty screen at once, the numbers when they are read."""
        self._head("reading …")
        self._read()

    def action_close(self) -> None:
        """Close without a day."""
        self.dismiss(None)

    @on(DayMap.Opened)
    def _open(self, event: DayMap.Opened) -> None:
        self.dismiss(event.day)

    @on(DayMap.Moved)
    def _show_day(self, event: DayMap.Moved) -> None:
        day, days = event.day, self._days
        facts = [f"{day:%A} {day.day} {day:%B %Y}", counted(days.messages[day], "message")]
        if days.tokens[day]:
            facts.append(f"{short_count(days.tokens[day])} tokens")
        facts += _paid(days.bill_of(day))
        text = " · ".join(facts) if days.messages else NO_ACTIVITY
        self.query_one("#day", Static).update(Content(text))
        self.query_one(LiveKeys).show(*ACTIVITY_KEYS)

    @work(group="activity")
    async def _read(self) -> None:
        stop = self._history.progress.subscribe(self._tell_progress)
        try:
            await self._history.refresh()
            self._wins = await self._ask_wins()
            self._show(ActivityDays(await self._history.activity(), date.today()))
        except OllmError as error:
            self._head(error.line)
        finally:
            stop()

    def _tell_progress(self, progress: IndexProgress) -> None:
        self._head(f"Reading {progress.done:,} of {counted(progress.total, 'session')}")

    def _show(self, days: ActivityDays) -> None:
        self._days = days
        said, when = counted(days.messages.total(), "message"), counted(len(days.messages), "day")
        facts = [f"{said} on {when}", f"{short_count(days.tokens.total())} tokens"]
        facts += _paid(days.bill)
        self._head(" · ".join(facts))
        self._show_models()
        self.query_one(DayMap).show(days)

    @on(events.Resize)
    def _show_models(self) -> None:
        """Show the totals of the models, with bars as long as there is room for."""
        models = self._days.models()
        most = max((each.answers for each in models), default=0)
        bill = self._days.bill
        cost_cells = 0 if bill.is_free else max(len(str(each.bill)) for each in models) + 2
        cells = min(max(self.size.width - BESIDE_BAR - cost_cells, 0), MOST_BAR_CELLS)
        wins = {name: WINS.format(each.won, each.of) for name, each in self._wins.items()}
        win_cells = max((len(words) for words in wins.values()), default=-2) + 2
        cells = max(cells - win_cells, 0)
        lines = [
            _model_line(each, most, cells, cost_cells, f"{wins.get(each.model, ''):>{win_cells}}")
            for each in models
        ]
        if bill.cache_words:
            line = f"{CACHES:<{NAME_CELLS}} {bill.cache_words}"
            lines += [Content(""), Content.styled(line, "$text-muted")]
        self.query_one("#models", Static).update(Content("\n").join(lines))

    def _head(self, facts: str) -> None:
        title = Content.styled("Activity", "bold $primary")
        text = Content.assemble(title, (f"   {facts}", "$text-muted"))
        self.query_one("#heading", Static).update(text)


def level(number: int, highest: int, levels: int) -> int:
    """Return which of this many levels a number reaches; only 0 is at level 0."""
    return min(-(-number * (levels - 1) // highest), levels - 1) if number and highest else 0


def weeks_until(monday: date, count: int) -> Iterable[date]:
    """Return the Mondays of this many weeks, the given one last."""
    return (monday - timedelta(days=WEEK * back) for back in range(count - 1, -1, -1))


def _paid(bill: Bill) -> list[str]:
    return [] if bill.is_free else [str(bill)]


def _model_line(
    total: ModelTotal, most: int, cells: int, cost_cells: int, wins: str = ""
) -> Content:
    name = visible(total.model)
    name = name if len(name) <= NAME_CELLS else f"{name[: NAME_CELLS - 1]}…"
    bar = "█" * -(-total.answers * cells // most) if most and total.answers else ""
    numbers = f"{counted(total.answers, 'answer'):>13}{short_count(total.tokens):>7} tokens"
    numbers += f"{total.bill!s:>{cost_cells}}" if cost_cells else ""
    numbers += wins
    return Content.assemble(
        f"{name:<{NAME_CELLS}}", (f"{numbers}  ", "$text-muted"), (bar, "$primary")
    )
