"""A line in the stream says that syncing by itself does not work."""

from __future__ import annotations

import os

import pytest

from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.services.sync import background_sync
from ollm_tui.services.sync.background_sync import BackgroundSync
from tests.tui.conftest import OpenApp
from tests.tui.seen import settled, stream
from tests.tui.tool_desk import until


async def test_one_quiet_line_says_why_nothing_was_synced(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = ("-c", "import sys; sys.exit('ollm: there is no folder /mnt/stick')")
    monkeypatch.setattr(background_sync, "_COMMAND", failing)
    sync = BackgroundSync(os.environ, 0.01)
    monkeypatch.setattr(Workspace, "sync", sync)
    async with open_app() as (app, pilot):
        await settled(app, pilot)
        sync.begin()
        await until(pilot, lambda: "Not synced: there is no folder /mnt/stick" in stream(app))
