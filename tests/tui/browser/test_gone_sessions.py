"""Snapshots whose session is gone: listed apart, looked at, and opened as new sessions."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.tui.browser_desk import Desk, desk
from tests.tui.browser_samples import fill_with_snapshots, full_id
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, state, stream, title


@asynccontextmanager
async def at_the_gone_session(open_app: OpenApp, home: Path) -> AsyncGenerator[Desk]:
    """The browser, on a session whose file somebody removed."""
    fill_with_snapshots(home)
    (home / "sessions" / f"{full_id(0)}.json").unlink()
    async with open_app(session_id=full_id(1), size=(120, 40)) as (app, pilot):
        on = Desk(app, pilot)
        await on.press("f3")
        await on.press("down", "end")
        yield on


async def test_they_stand_at_the_end_and_are_called_by_the_last_words(
    open_app: OpenApp, home: Path
) -> None:
    async with at_the_gone_session(open_app, home) as on:
        assert on.line == "Look at this log: [paste 1]"
        assert "Deleted sessions with snapshots" in on.screen
        assert "2 sessions · 4 snapshots" in on.screen
        assert "Session deleted" in on.preview
        assert "Enter its snapshots" in on.keys
        assert "rename" not in on.keys and "delete" not in on.keys


async def test_what_is_left_of_one_is_opened_as_a_new_session(
    open_app: OpenApp, home: Path
) -> None:
    async with at_the_gone_session(open_app, home) as on:
        await on.press("enter")
        await on.press("down", "down")
        assert on.line == "◆ before the log"
        assert "Enter open as a new session" in on.keys
        assert "3 yours" in on.preview and "Keep the counter with the job." in on.preview
        await on.press("enter")
        assert on.branch == ["q0", "a0", "q1", "a1", "q2", "a2"]
        assert "The session was deleted: continuing in a new one" in state(on.app)
        assert chat(on.app).chat.conversation.session_id not in map(full_id, range(3))
        assert "Keep the counter with the job." in " ".join(stream(on.app))
        assert title(on.app)[0] == "And what if the process restarts in the middle? (fork)"


@pytest.mark.more
async def test_they_are_compared_deleted_and_brought_back_as_any_other(
    open_app: OpenApp, home: Path
) -> None:
    async with at_the_gone_session(open_app, home) as on:
        await on.press("enter")
        await on.press("down")
        before = on.line
        await on.press("d")
        assert "now" in on.screen
        await on.press("escape")
        await on.press("delete")
        assert on.line != before and "3 snapshots" in on.screen
        await on.press("u")
        assert on.line == before and "4 snapshots" in on.screen


@pytest.mark.more
async def test_the_head_tells_how_large_it_all_is(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as on:
        await on.press("f3")
        files = [*home.glob("sessions/*-*.j*"), *home.rglob("snapshot-snap*.json")]
        size = sum(path.stat().st_size for path in files)
        assert f"3 sessions · 4 snapshots · {size / 1000:.0f} kB" in on.screen
