"""The browser for pictures: a session of long ago that has branches, snapshots and a history."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from textual.pilot import Pilot

from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.browser.diff_screen import SnapshotDiffScreen
from ollm_tui.tui.browser.screen import SessionBrowser
from ollm_tui.tui.browser.session_preview import PreviewStream
from ollm_tui.tui.browser.session_tree import SessionTree
from tests.snapshots.stage import StagedApp, scene, stage, until
from tests.tui.browser_samples import full_id, plain_session, rich_session, take_snapshots

THEN = datetime(2024, 10, 14, 14, 2, tzinfo=UTC)
"""So long ago that everything shows a date, on every day the same."""


def _branched(home: Path, theme: str) -> StagedApp:
    rich = rich_session(THEN)
    others = (plain_session(1, "regex for logs", THEN), plain_session(2, "css grid", THEN))
    take_snapshots(home, rich, THEN)
    return stage(home, theme, (rich, *others), resume=full_id(0))


@scene(_branched)
async def browser(app: StagedApp, pilot: Pilot[int]) -> None:
    """On the named snapshot of a session with two branches."""
    await pilot.press("f3")
    await until(pilot, lambda: _tree(app).knows(full_id(0)))
    await pilot.press("down", "down", "down", "down")
    stream = app.screen.query_one(PreviewStream)
    await until(pilot, lambda: stream.keys[-1:] == ["a2"])


@scene(_branched)
async def messages(app: StagedApp, pilot: Pilot[int]) -> None:
    """Among the messages of the snapshot, two of them marked."""
    await browser.play(app, pilot)
    await pilot.press("tab", "k", "K")


@scene(_branched)
async def comparison(app: StagedApp, pilot: Pilot[int]) -> None:
    """A snapshot and the present."""
    await browser.play(app, pilot)
    await pilot.press("up", "d")
    await until(pilot, lambda: isinstance(app.screen, SnapshotDiffScreen))


def _tree(app: OllmApp) -> SessionTree:
    assert isinstance(app.screen, SessionBrowser)
    return app.screen.session_tree
