"""The lines of the chat screen: shown as often as anybody asks."""

from __future__ import annotations

import gc

import pytest

from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, title


async def test_facts_that_are_shown_twice_at_once_leave_nothing_undone(
    open_app: OpenApp, recwarn: pytest.WarningsRecorder
) -> None:
    async with open_app() as (app, pilot):
        for _ in range(3):
            chat(app).lines.show_facts()
        await pilot.pause(0.05)
        gc.collect()
        assert title(app)[0] == "New conversation"
    assert [str(each.message) for each in recwarn if "never awaited" in str(each.message)] == []
