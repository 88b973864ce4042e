"""The activity screen: on which days how much was said, with which models; each day a way in."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import visible
from ollm_tui.core.search import IndexProgress
from ollm_tui.engine.project.history_search import History
from ollm_tui.tui.kit.live_keys import LiveKeys
from ollm_tui.tui.search.activity_days import ActivityDays, ModelTotal
from ollm_tui.tui.search.day_map import DayMap

if TYPE_CHECKING:
    from ollm_tui.tui.app import OllmApp

MOST_BAR_CELLS = 30
NAME_CELLS = 24
BESIDE_BAR = NAME_CELLS + 31
"""Cells of a model's line that are none of its bar: names, numbers, edges."""
EMPTY = "Nothing was said yet. Every message you send is a mark in this calendar."
KEYS = (
    ("activity.open", "what was said that day"),
    ("activity.day_before", "Down day"),
    ("activity.week_before", "Right week"),
    ("activity.back", "PgDn four weeks"),
    ("activity.first", "first day"),
    ("activity.today", "today"),
    ("activity.close", "close"),
)


class ActivityScreen(Screen[date | None]):
    """Gives the day whose messages are wanted."""

    AUTO_FOCUS = "DayMap"
    CSS_PATH = "activity.tcss"
    BINDINGS = [
        Binding("escape,q", "close", "Close", id="activity.close", tooltip="Back to the chat"),
    ]

    app: OllmApp

    def __init__(self, history: History) -> None:
        super().__init__()
        self._history = history
        self._days = ActivityDays((), date.today())

    def compose(self) -> ComposeResult:
        """Totals, the calendar, the day that is looked at, the models, the keys."""
        yield Static(id="heading", markup=False)
        yield DayMap()
        yield Static(id="day", markup=False)
        yield Static(id="models", markup=False)
        yield LiveKeys()

    def on_mount(self) -> None:
        """What is there is shown at once, the rest when it is read."""
        self._head("reading …")
        self._read()

    def action_close(self) -> None:
        """Back to the chat."""
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
        text = " · ".join(facts) if days.messages else EMPTY
        self.query_one("#day", Static).update(Content(text))
        self.query_one(LiveKeys).show(*KEYS)

    @work(group="activity")
    async def _read(self) -> None:
        stop = self._history.progress.subscribe(self._tell_progress)
        try:
            await self._history.refresh()
            self._show(ActivityDays(await self._history.activity(), date.today()))
        except OllmError as error:
            self._head(f"{error.message}: {error.hint}" if error.hint else error.message)
        finally:
            stop()

    def _tell_progress(self, progress: IndexProgress) -> None:
        self._head(f"reading {progress.done:,} of {counted(progress.total, 'session')}")

    def _show(self, days: ActivityDays) -> None:
        self._days = days
        said, when = counted(days.messages.total(), "message"), counted(len(days.messages), "day")
        facts = [f"{said} on {when}", f"{short_count(days.tokens.total())} tokens"]
        self._head(" · ".join(facts))
        self._show_models()
        self.query_one(DayMap).show(days)

    @on(events.Resize)
    def _show_models(self) -> None:
        """Who answered how much, with bars as long as there is room for."""
        models = self._days.models()
        most = max((each.answers for each in models), default=0)
        cells = min(max(self.size.width - BESIDE_BAR, 0), MOST_BAR_CELLS)
        lines = [_model_line(each, most, cells) for each in models]
        self.query_one("#models", Static).update(Content("\n").join(lines))

    def _head(self, facts: str) -> None:
        title = Content.styled("Activity", "bold $primary")
        text = Content.assemble(title, (f"   {facts}", "$text-muted"))
        self.query_one("#heading", Static).update(text)


def _model_line(total: ModelTotal, most: int, cells: int) -> Content:
    name = visible(total.model)
    name = name if len(name) <= NAME_CELLS else f"{name[: NAME_CELLS - 1]}…"
    bar = "█" * -(-total.answers * cells // most) if most and total.answers else ""
    numbers = f"{counted(total.answers, 'answer'):>13}{short_count(total.tokens):>7} tokens"
    return Content.assemble(
        f"{name:<{NAME_CELLS}}", (f"{numbers}  ", "$text-muted"), (bar, "$primary")
    )
