"""The model's tools for pictures: what it wants to do waits for an answer."""

from __future__ import annotations

from typing import Any, cast

from textual.pilot import Pilot

from ollm_tui.engine.tools.conversation_tools import ToolKit
from ollm_tui.services.redaction.redactor import Redactor
from tests.snapshots.stage import StagedApp, new_session, say, scene
from tests.tui.seen import chat
from tests.tui.tool_desk import SANDBOX, FakePolicy, approval, calls, editor, runner

CALLS = calls(
    ("edit_file", {"path": "uploader.py"}),
    ("exec", {"code": "pytest -q tests/test_uploader.py"}),
    words="The delay has no cap: I mend that, then I run the tests.",
)


@scene(new_session([CALLS]))
async def asking(app: StagedApp, pilot: Pilot[int]) -> None:
    """An edit is shown, and a command waits behind it."""
    toolkit = ToolKit((editor(), runner()), cast(Any, FakePolicy()), Redactor(), None, SANDBOX)

    async def make(*_: object) -> ToolKit:
        return toolkit

    chat(app).chat.conversation.tools.make_toolkit = make
    await say(app, pilot, "Why does it wait for hours?")
    await approval(app, pilot)
