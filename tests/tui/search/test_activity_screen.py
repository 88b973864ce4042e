"""The calendar of days: what it shows, how one moves in it, and that a day is a way in."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Literal, cast

import pytest
from msgspec.structs import replace
from textual.widgets import Static

from ollm_tui.core.search import Activity
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from ollm_tui.tui.search.activity import (
    ActivityDays,
    ActivityScreen,
    DayMap,
    ModelTotal,
    level,
)
from ollm_tui.tui.search.hit_timeline import monday_of
from ollm_tui.tui.search.words import NO_ACTIVITY
from tests.tui.conftest import OpenApp
from tests.tui.search_desk import Desk, desk
from tests.tui.search_samples import full_id, samples
from tests.tui.seen import send


def screen(at: Desk) -> ActivityScreen:
    return cast(ActivityScreen, at.app.screen)


def text(at: Desk, name: str) -> str:
    return str(screen(at).query_one(name, Static).content)


async def open_calendar(at: Desk) -> DayMap:
    await send(at.app, at.pilot, "/activity")
    await at.settle()
    return screen(at).query_one(DayMap)


async def test_it_says_how_much_was_said_and_by_which_models(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await open_calendar(at)
        assert "13 messages on 4 days · 4.4k tokens" in text(at, "#heading")
        first, second = text(at, "#models").splitlines()
        assert first.split("  ")[0] == "qwen2.5-coder:1.5b"
        assert "6 answers   3.9k tokens" in first
        assert "1 answer    460 tokens" in second


async def test_it_begins_at_the_last_day_and_a_day_leads_to_what_was_said(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as at:
        calendar = await open_calendar(at)
        assert calendar.day == date(2025, 11, 2)
        assert text(at, "#day") == "Sunday 2 November 2025 · 4 messages · 1.7k tokens"
        await at.press("left", "left", "left", *["up"] * 5)
        assert calendar.day == date(2025, 10, 7)
        await at.press("down", "down")
        assert "Thursday 9 October 2025 · 2 messages" in text(at, "#day")
        await at.press("enter")
        assert at.screen.text == "in:2025-10-09"
        assert sorted(at.hits) == ["s1m0", "s1m1"]


@pytest.mark.more
async def test_nobody_leaves_the_days_there_were(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home, size=(60, 20)) as at:
        calendar = await open_calendar(at)
        await at.press("home")
        assert calendar.day == date(2025, 9, 3)
        assert calendar.render_line(0).text.startswith("2025    Sep       Oct     Nov")
        await at.press(*["pageup"] * 3)
        assert calendar.day == monday_of(date(2025, 9, 3))
        await at.press("end", "right", "down")
        assert calendar.day == date.today()


async def test_the_year_hides_no_month(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home, size=(60, 20)) as at:
        calendar = await open_calendar(at)
        said = Activity(date(2023, 3, 6), "m", 1, 0, 0)
        calendar.show(ActivityDays((said,), date(2024, 3, 6)))
        await at.press("home")
        assert calendar.render_line(0).text.startswith("2023    Mar     Apr     May       Jun")


@pytest.mark.more
async def test_the_longest_bar_of_a_model_fits_on_every_screen(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home, size=(80, 24)) as at:
        await open_calendar(at)
        for width, cells in ((80, 25), (120, 30), (60, 5)):
            await at.pilot.resize_terminal(width, 24)
            await at.settle()
            assert text(at, "#models").splitlines()[0].count("█") == cells
            shown = screen(at).query_one("#models", Static)
            assert not any("…" in shown.render_line(y).text for y in range(3))


def with_costs(home: Path) -> None:
    """Sessions of a hosted model, one of them forked: what was paid once is in both."""
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    costs: tuple[float | Literal["unknown"], ...] = (0.02, 0.0123, "unknown")
    for session, cost, cached in zip(samples(), costs, (900, 0, None), strict=False):
        paid = [
            replace(message, usage=replace(message.usage, cost=cost, cached_tokens=cached))
            if message.usage
            else message
            for message in session.messages
        ]
        library.add(replace(session, messages=tuple(paid)))
    library.add(samples()[3])
    library.fork(full_id(0))
    library.close()


async def test_money_and_caches_are_added_up_by_day_and_model(
    open_app: OpenApp, home: Path
) -> None:
    with_costs(home)
    async with open_app(size=(90, 24)) as (app, pilot):
        at = Desk(app, pilot)
        await open_calendar(at)
        # The fork has the same two answers for $0.02 again; they were paid once.
        assert "tokens · $0.0523 and 1 unknown" in text(at, "#heading")
        first, second, _, caches = text(at, "#models").splitlines()
        assert first.startswith("qwen2.5-coder:1.5b") and "$0.0400 and 1 unknown" in first
        assert second.startswith("gemma3:4b") and "$0.0123" in second
        assert caches.split(maxsplit=2)[-1] == "2 hits, 1 miss, 1.8k tokens saved"
        assert text(at, "#day").endswith("1.7k tokens"), "that day was free"
        await at.press("left", "left", "left", *["up"] * 3)
        assert text(at, "#day").endswith("· $0.0123")
        shown = screen(at).query_one("#models", Static)
        assert not any("…" in shown.render_line(y).text for y in range(5))


async def test_without_a_message_it_teaches(open_app: OpenApp, home: Path) -> None:
    async with open_app() as (app, pilot):
        at = Desk(app, pilot)
        await open_calendar(at)
        assert text(at, "#day") == NO_ACTIVITY
        await at.press("escape")
        assert at.is_chat


def test_the_days_of_a_wrong_clock_do_not_stretch_the_calendar() -> None:
    today = date(2025, 10, 14)
    days = ActivityDays((Activity(date(2999, 1, 1), "m", 5, 1, 10),), today)
    assert (days.first, days.last) == (today, today)


def test_models_are_added_up_over_all_days() -> None:
    today = date(2025, 10, 14)
    rows = [Activity(today - timedelta(days=day), "m", 4, 2, 10) for day in range(3)]
    days = ActivityDays((*rows, Activity(today, "n", 1, 0, 0)), today)
    assert days.models() == [ModelTotal("m", 6, 30), ModelTotal("n", 0, 0)]
    assert days.messages[today] == 5
    assert days.week_tokens(monday_of(today)) == 20


def test_only_nothing_at_all_looks_like_nothing() -> None:
    assert [level(number, 100, 5) for number in (0, 1, 25, 26, 100)] == [0, 1, 1, 2, 4]
