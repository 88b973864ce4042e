"""The search and the calendar for pictures: a history of long ago, on every day the same."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Static

from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.screens.search import SearchScreen
from ollm_tui.tui.widgets.hit_timeline import HitTimeline
from tests.snapshots.stage import stage, until
from tests.tui.search_samples import full_id, samples
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


def _screen(app: OllmApp) -> SearchScreen:
    assert isinstance(app.screen, SearchScreen)
    return app.screen


def _count(app: OllmApp) -> str:
    return str(_screen(app).query_one("#count", Static).content)
