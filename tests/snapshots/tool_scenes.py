"""The model's tools for pictures: what it wants to do waits for an answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from textual.pilot import Pilot

from ollm_tui.engine.tools.conversation_tools import ToolKit
from ollm_tui.tui.app import OllmApp
from tests.snapshots.stage import stage, until
from tests.tui.seen import chat
from tests.tui.tool_desk import SANDBOX, FakePolicy, approval, calls, editor, runner

Opened = tuple[OllmApp, Pilot[int]]
WORDS = "The delay has no cap: I mend that, then I run the tests."


@asynccontextmanager
async def asking(home: Path) -> AsyncGenerator[Opened]:
    """An edit is shown, and a command waits behind it."""
    script = [
        calls(
            ("edit_file", {"path": "uploader.py"}),
            ("exec", {"code": "pytest -q tests/test_uploader.py"}),
            words=WORDS,
        )
    ]
    toolkit = ToolKit((editor(), runner()), cast(Any, FakePolicy()), str, None, SANDBOX)

    async def make(*_: object) -> ToolKit:
        return toolkit

    async with stage(home, script=script) as (app, pilot):
        conversation = chat(app).chat.conversation
        conversation.tools.make_toolkit = make
        chat(app).prompt.put("Why does it wait for hours?")
        await pilot.press("enter")
        await approval(app, pilot)
        yield app, pilot
        conversation.cancel()
        await until(pilot, lambda: not chat(app).chat.is_busy)
