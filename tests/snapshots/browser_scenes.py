"""The browser for pictures: a session of long ago that has branches, snapshots and a history."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from textual.pilot import Pilot

from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.browser.diff_screen import SnapshotDiffScreen
from ollm_tui.tui.browser.screen import SessionBrowser
from ollm_tui.tui.browser.session_preview import PreviewStream
from ollm_tui.tui.browser.session_tree import SessionTree
from tests.snapshots.stage import stage, until
from tests.tui.browser_samples import full_id, plain_session, rich_session, take_snapshots

Opened = tuple[OllmApp, Pilot[int]]
THEN = datetime(2024, 10, 14, 14, 2, tzinfo=UTC)
"""So long ago that everything shows a date, on every day the same."""


@asynccontextmanager
async def browser(home: Path) -> AsyncGenerator[Opened]:
    """On the named snapshot of a session with two branches."""
    rich = rich_session(THEN)
    others = (plain_session(1, "regex for logs", THEN), plain_session(2, "css grid", THEN))
    take_snapshots(home, rich, THEN)
    async with stage(home, (rich, *others), resume=full_id(0)) as (app, pilot):
        await pilot.press("f3")
        await until(pilot, lambda: _tree(app).knows(full_id(0)))
        await pilot.press("down", "down", "down", "down")
        stream = app.screen.query_one(PreviewStream)
        await until(pilot, lambda: stream.keys[-1:] == ["a2"])
        yield app, pilot


@asynccontextmanager
async def messages(home: Path) -> AsyncGenerator[Opened]:
    """Among the messages of the snapshot, two of them marked."""
    async with browser(home) as (app, pilot):
        await pilot.press("tab", "k", "K")
        yield app, pilot


@asynccontextmanager
async def comparison(home: Path) -> AsyncGenerator[Opened]:
    """A snapshot and the present."""
    async with browser(home) as (app, pilot):
        await pilot.press("up", "d")
        await until(pilot, lambda: isinstance(app.screen, SnapshotDiffScreen))
        yield app, pilot


def _tree(app: OllmApp) -> SessionTree:
    assert isinstance(app.screen, SessionBrowser)
    return app.screen.session_tree
