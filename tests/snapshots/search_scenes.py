"""Search, calendar and recall for pictures: a history of long ago, on every day the same."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from msgspec.structs import replace
from textual.pilot import Pilot
from textual.widgets import Static

from ollm_tui.core import clock
from ollm_tui.core.session.session import Session
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.search.activity import ActivityScreen
from ollm_tui.tui.search.commands import PassagePicker
from ollm_tui.tui.search.hit_timeline import HitTimeline
from ollm_tui.tui.search.screen import SearchScreen
from tests.snapshots.stage import StagedApp, say, scene, stage, until
from tests.tui.search_samples import full_id, samples
from tests.tui.typing_in import type_in


def _history(home: Path, theme: str) -> StagedApp:
    return stage(home, theme, samples(), resume=full_id(2))


def _half_a_year(home: Path, theme: str) -> StagedApp:
    return stage(home, theme, _busy_months(), resume=full_id(0))


@scene(_history)
async def search(app: StagedApp, pilot: Pilot[int]) -> None:
    """Something was found; the timeline has the focus."""
    await pilot.press("f4")
    await type_in(pilot, "retries")
    await until(pilot, lambda: "6 matches in 3 sessions" in _count(app))
    screen = _screen(app)
    while not screen.query_one(HitTimeline).has_focus:
        await pilot.press("tab")
    await pilot.press("left")
    preview = screen.preview
    await until(pilot, lambda: not preview.display or preview.stream.cursor.key == "s0m0")
    screen.show_count("6 matches in 3 sessions · 4 ms")  # on every machine the same


@scene(_half_a_year)
async def calendar(app: StagedApp, pilot: Pilot[int]) -> None:
    """Days of long ago, from the first one on; one of the later ones is looked at."""
    await say(app, pilot, "/activity")
    await until(pilot, lambda: isinstance(app.screen, ActivityScreen))
    heading = app.screen.query_one("#heading", Static)
    await until(pilot, lambda: "messages on" in str(heading.content))
    await pilot.press("home", *["right"] * 10, "down")


@scene(_history)
async def passages(app: StagedApp, pilot: Pilot[int]) -> None:
    """What was said earlier, to be brought along; one passage is marked."""
    await say(app, pilot, "/recall how many retries")
    await until(pilot, lambda: isinstance(app.screen, PassagePicker))
    await pilot.press("tab")


def _busy_months() -> list[Session]:
    """Sessions on more and on fewer days of half a year, mostly with one of two models."""
    random, first = Random(5), datetime(2023, 3, 6, 9, 30, tzinfo=UTC)
    patterns = samples(2023)
    sessions: list[Session] = []
    for day in range(180):
        for _ in range(random.choice((0, 0, 0, 1, 1, 2, 4)) if (day % 7) < 5 else day % 3 // 2):
            number = len(sessions)
            pattern = patterns[0 if number % 4 else 1]
            shift = first + timedelta(days=day, hours=number % 9) - clock.parse(pattern.start_time)
            sessions.append(_moved(pattern, number, shift))
    return sessions


def _moved(session: Session, number: int, shift: timedelta) -> Session:
    def later(timestamp: str) -> str:
        return clock.iso(clock.parse(timestamp) + shift)

    return replace(
        session,
        session_id=full_id(number),
        start_time=later(session.start_time),
        last_activity=later(session.last_activity),
        messages=tuple(
            replace(message, timestamp=later(message.timestamp)) for message in session.messages
        ),
    )


def _screen(app: OllmApp) -> SearchScreen:
    assert isinstance(app.screen, SearchScreen)
    return app.screen


def _count(app: OllmApp) -> str:
    return str(_screen(app).query_one("#count", Static).content)
