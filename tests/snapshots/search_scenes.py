"""Search, calendar and recall for pictures: a history of long ago, on every day the same."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
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
from tests.snapshots.stage import stage, until
from tests.tui.search_samples import full_id, samples
from tests.tui.seen import chat
from tests.tui.typing_in import type_in

Opened = tuple[OllmApp, Pilot[int]]


@asynccontextmanager
async def search(home: Path) -> AsyncGenerator[Opened]:
    """Something was found; the timeline has the focus."""
    async with stage(home, samples(), resume=full_id(2)) as (app, pilot):
        await pilot.press("f4")
        await type_in(pilot, "retries")
        await until(pilot, lambda: "6 hits in 3 sessions" in _count(app))
        await pilot.press("tab", "tab", "left")
        stream = _screen(app).preview.stream
        await until(pilot, lambda: stream.cursor.key == "s0m0")
        _screen(app).show_count("6 hits in 3 sessions · 4 ms")  # on every machine the same
        assert _screen(app).query_one(HitTimeline).has_focus
        yield app, pilot


@asynccontextmanager
async def calendar(home: Path) -> AsyncGenerator[Opened]:
    """Days of long ago, from the first one on; one of the later ones is looked at."""
    async with stage(home, _busy_months(), resume=full_id(0)) as (app, pilot):
        await _say(pilot, app, "/activity")
        await until(pilot, lambda: isinstance(app.screen, ActivityScreen))
        heading = app.screen.query_one("#heading", Static)
        await until(pilot, lambda: "messages on" in str(heading.content))
        await pilot.press("home", *["right"] * 10, "down")
        yield app, pilot


@asynccontextmanager
async def passages(home: Path) -> AsyncGenerator[Opened]:
    """What was said earlier, to be brought along; one passage is marked."""
    async with stage(home, samples(), resume=full_id(2)) as (app, pilot):
        await _say(pilot, app, "/recall how many retries")
        await until(pilot, lambda: isinstance(app.screen, PassagePicker))
        await pilot.press("tab")
        yield app, pilot


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


async def _say(pilot: Pilot[int], app: OllmApp, text: str) -> None:
    chat(app).prompt.put(text)
    await pilot.press("enter")
    await pilot.pause()


def _screen(app: OllmApp) -> SearchScreen:
    assert isinstance(app.screen, SearchScreen)
    return app.screen


def _count(app: OllmApp) -> str:
    return str(_screen(app).query_one("#count", Static).content)
