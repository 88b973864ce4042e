"""The screen of MCP servers: state, tools and cost; on and off; the project's servers ask."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot
from textual.widgets import Static

from ollm_tui.core.provider import Completed, TextDelta
from ollm_tui.core.session.message import Attachment
from ollm_tui.engine.tools.conversation_tools import ToolKit
from ollm_tui.engine.tools.policy import Policy
from ollm_tui.extension_api import Extension, ExtensionTool
from ollm_tui.services.extensions.extension_host import GROUP, ExtensionHost
from ollm_tui.services.mcp.mcp_servers import McpServers
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.safety.project_trust import Trust
from ollm_tui.settings.schema import McpServer
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.chat.trust import ask
from ollm_tui.tui.chat.trust_question import TrustQuestion
from ollm_tui.tui.kit.choice_list import ChoiceList
from ollm_tui.tui.mcp import server_notes
from ollm_tui.tui.mcp.screen import McpScreen
from tests.conftest import REPOSITORY
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, prompt, send, settled, state, stream
from tests.tui.tool_desk import FakePolicy, editor, reader

ANSWERS = [[TextDelta("fine"), Completed(finish="stop")]]
ARGUMENTS = ["-m", "tests.stand_ins.mcp_stand_in"]
PATH = {"PYTHONPATH": str(REPOSITORY)}


@asynccontextmanager
async def with_servers(
    open_app: OpenApp, folder: Path, **entries: McpServer
) -> AsyncGenerator[tuple[OllmApp, Pilot[int]]]:
    """The application with these servers, and a model that can use tools."""
    async with open_app(ANSWERS) as (app, pilot):
        app.workspace.additions.mcp = McpServers(entries, {}, {}, folder, Trust(None))
        tools = chat(app).chat.conversation.tools
        tools.further = app.workspace.additions

        async def make(*_: object) -> ToolKit:
            policy = cast(Policy, FakePolicy())
            return ToolKit((reader(), editor()), policy, Redactor(), None, "")

        tools.make_toolkit = make
        yield app, pilot


async def until(pilot: Pilot[int], happened: Callable[[], bool]) -> None:
    """Wait for something that must happen."""
    while not happened():
        await pilot.pause()
        await asyncio.sleep(0.01)


def lines(app: OllmApp) -> dict[str, tuple[str, str]]:
    """Mark and note of each line of the list."""
    shown = app.screen.query_one(ChoiceList)
    return {choice.key: (choice.mark, choice.note) for choice in shown._choices}  # pyright: ignore[reportPrivateUsage] what is drawn


async def test_servers_and_tools_are_listed_with_cost_and_switched(
    open_app: OpenApp, tmp_path: Path
) -> None:
    working = McpServer(command=sys.executable, args=tuple(ARGUMENTS), env=PATH)
    broken = McpServer(command="/nowhere/server")
    async with with_servers(open_app, tmp_path, tests=working, broken=broken) as (app, pilot):
        prompt(app).put("/mcp")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, McpScreen))
        await until(pilot, lambda: "tests.add" in lines(app))
        assert lines(app)["server:tests"] == ("●", "ready")
        assert lines(app)["server:broken"] == ("!", "failed")
        assert lines(app)["tests.add"][0] == "✓" and "≈" in lines(app)["tests.add"][1]
        heading = str(app.screen.query_one("#heading", Static).content)
        assert "tools offered, ≈" in heading
        about = str(app.screen.query_one("#about", Static).content)
        assert "@tests:notes://today" in about and "/tests:review" in about
        await pilot.press("down", "space")
        await until(pilot, lambda: lines(app)["tests.add"][0] == "○")
        assert "off" in lines(app)["tests.add"][1]
        await pilot.press("up", "space")
        await until(pilot, lambda: lines(app)["server:tests"] == ("○", "off"))
        assert "tests.add" not in chat(app).chat.conversation.tools.offered
        await pilot.press("r")
        await until(pilot, lambda: lines(app)["server:tests"] == ("●", "ready"))
        await pilot.press("escape")
        await pilot.pause()
        assert not isinstance(app.screen, McpScreen)


class Dice(Extension):
    """Has a tool."""

    name = "dice"
    tools = (ExtensionTool("roll_dice", "Rolls a die.", lambda _: "4", policy="none"),)


async def test_tools_of_an_extension_stand_below_its_name(
    open_app: OpenApp, tmp_path: Path
) -> None:
    async with with_servers(open_app, tmp_path) as (app, pilot):
        point = EntryPoint("dice", f"{__name__}:Dice", GROUP)
        app.workspace.additions.extensions = ExtensionHost({}, points=[point])
        prompt(app).put("/mcp")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, McpScreen))
        await until(pilot, lambda: "roll_dice" in lines(app))
        shown = [choice.text for choice in app.screen.query_one(ChoiceList)._choices]  # pyright: ignore[reportPrivateUsage] what is drawn
        assert shown[:3] == ["Extension dice", "roll_dice", "Built-in tools"]
        assert "roll_dice" not in shown[3:]


async def test_a_resource_is_attached_by_its_name(open_app: OpenApp, tmp_path: Path) -> None:
    working = McpServer(command=sys.executable, args=tuple(ARGUMENTS), env=PATH)
    async with with_servers(open_app, tmp_path, tests=working) as (app, pilot):
        await app.workspace.additions.ready()
        prompt(app).put("look at @tests:notes://today")
        await pilot.press("enter")
        await settled(app, pilot)
        assert app.conversation
        question = app.conversation.state.branch()[0]
        (attached,) = (part for part in question.parts if isinstance(part, Attachment))
        assert (attached.name, attached.content) == ("tests:notes://today", "water the plants")


async def test_a_tool_too_many_says_so_and_is_offered_by_hand(
    open_app: OpenApp, tmp_path: Path
) -> None:
    working = McpServer(command=sys.executable, args=tuple(ARGUMENTS), env=PATH)
    async with with_servers(open_app, tmp_path, tests=working) as (app, pilot):
        app.workspace.additions.selection.most = 3
        await opened_with_tools(app, pilot)
        assert lines(app)["tests.variables"][1].startswith("over the limit of 3 · ≈")
        await pilot.press("down", "down", "down", "space")
        await until(pilot, lambda: lines(app)["tests.variables"][0] == "✓")
        assert len(chat(app).chat.conversation.tools.offered) == 3


async def test_a_prompt_of_a_server_is_a_command_whatever_its_letters(
    open_app: OpenApp, tmp_path: Path
) -> None:
    working = McpServer(command=sys.executable, args=tuple(ARGUMENTS), env=PATH)
    async with with_servers(open_app, tmp_path, GitHub=working) as (app, pilot):
        await app.workspace.additions.ready()
        prompt(app).put("/GitHub:review the big file.py")
        await pilot.press("enter")
        words = "Please review the big file.py with care."
        await until(pilot, lambda: prompt(app).text == words)
        prompt(app).put("/github:review")
        await pilot.press("enter")
        await until(pilot, lambda: "needs file" in state(app))


async def test_servers_of_a_project_ask_and_run_after_a_yes(
    open_app: OpenApp, tmp_path: Path
) -> None:
    entry = {"command": sys.executable, "args": ARGUMENTS, "env": PATH}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"theirs": entry}}))
    async with with_servers(open_app, tmp_path) as (app, pilot):
        ask(chat(app).chat)
        await settled(app, pilot)
        (bar,) = chat(app).query(TrustQuestion)
        assert "wants to start MCP servers" in str(bar.content)
        assert "mcp_stand_in" in str(bar.content)
        mcp = app.workspace.additions.mcp
        assert mcp and mcp.all == ()
        prompt(app).put("/trust yes")
        await pilot.press("enter")
        await until(pilot, lambda: bool(mcp.ready))
        assert not bar.display


async def test_a_message_is_answered_though_a_server_is_silent_or_fails(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_notes, "PATIENCE_SECONDS", 0.01)
    silent = McpServer(command=sys.executable, args=("-c", "input()\ninput()"))
    silent = replace(silent, timeout_seconds=3600)
    broken = McpServer(command="/nowhere/server")
    async with with_servers(open_app, tmp_path, silent=silent, broken=broken) as (app, pilot):
        ask(chat(app).chat)
        await settled(app, pilot)
        await send(app, pilot, "hello")
        for words in (
            "fine",
            "MCP server broken failed: program not found: /nowhere/server · /mcp",
            "MCP server silent is still starting · /mcp",
        ):
            await until(pilot, lambda words=words: words in " ".join(stream(app)))
        assert app.workspace.additions.mcp
        await app.workspace.additions.mcp.close()


@pytest.mark.more
async def test_with_a_model_that_has_no_tools_each_tool_says_so(
    open_app: OpenApp, tmp_path: Path
) -> None:
    working = McpServer(command=sys.executable, args=tuple(ARGUMENTS), env=PATH)
    async with with_servers(open_app, tmp_path, tests=working) as (app, pilot):
        await opened_with_tools(app, pilot)
        assert lines(app)["tests.add"][0] == "✓"
        await pilot.press("escape")
        conversation = chat(app).chat.conversation
        await conversation.use(conversation.choice._replace(tools=False))
        await opened_with_tools(app, pilot)
        assert lines(app)["tests.add"][1].startswith("not with this model · ≈")


async def opened_with_tools(app: OllmApp, pilot: Pilot[int]) -> None:
    prompt(app).put("/mcp")
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, McpScreen))
    await until(pilot, lambda: "tests.add" in lines(app))
