"""A call that a small model writes into its answer is shown once: as a call."""

from __future__ import annotations

import json

import pytest

from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, settled, stream
from tests.tui.tool_desk import approval, ask, runner, says, tools_open

CALL = json.dumps({"name": "exec", "arguments": {"code": "pytest -q"}})
WRITTEN = f"I run the tests.\n```json\n{CALL}\n```"


async def test_its_json_leaves_the_words_when_it_was_taken_for_a_call(open_app: OpenApp) -> None:
    async with tools_open(open_app, [says(WRITTEN), says("ok")], runner()) as (app, pilot):
        await ask(app, pilot)
        await approval(app, pilot)
        live = "\n".join(stream(app))
        assert "I run the tests." in live and "exec pytest -q" in live
        assert "arguments" not in live
        await pilot.press("y")
        await settled(app, pilot)
        assert "arguments" not in "\n".join(stream(app))


@pytest.mark.more
async def test_reading_the_session_again_shows_the_same(open_app: OpenApp) -> None:
    async with tools_open(open_app, [says(WRITTEN), says("ok")], runner()) as (app, pilot):
        await ask(app, pilot)
        await approval(app, pilot)
        await pilot.press("y")
        await settled(app, pilot)
        before = stream(app)
        chat(app).chat.show_branch()
        await settled(app, pilot)
        again = stream(app)
        assert again[:2] == before[:2] and len(again) == len(before)
