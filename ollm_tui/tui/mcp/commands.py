"""The command of MCP servers, and the question about those of a project."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.chat.trust_question import Question
from ollm_tui.tui.mcp.screen import McpScreen
from ollm_tui.tui.mcp.words import MCP_USAGE, NOT_STARTED, STARTED, TRUST

if TYPE_CHECKING:
    from ollm_tui.services.mcp.mcp_servers import McpServers

ANSWERS = {"y": "yes", "n": "never"}


async def servers(chat: ChatPort, argument: str) -> None:
    """Show the servers and tools, or switch one server: `on`, `off` or `again` and its name."""
    additions = chat.app.workspace.additions
    word, _, name = argument.partition(" ")
    if not argument:
        chat.ask(McpScreen(chat.conversation, additions))
        return
    if word not in ("on", "off", "again") or additions.mcp is None:
        raise UsageError(f"Unknown option /mcp {visible(argument)}", MCP_USAGE)
    server = additions.mcp.get(name.strip())
    if word != "on":
        await server.stop()
    if word != "off":
        await server.start()
    await chat.conversation.tools.ready()
    chat.lines.show_facts()
    chat.tell(f"{server.name}: {server.state}{f': {server.problem}' * bool(server.problem)}")


async def question(chat: ChatPort, mcp: McpServers) -> Question | None:
    """Return what is asked about the servers of the project; None if nothing is new."""
    found = await mcp.projects()
    if found is None or not found.entries:
        return None
    if await asyncio.to_thread(mcp.verdict, found) is not None:
        return None

    async def give(answer: str) -> str:
        verdict = "always" if answer == "yes" else "never"
        await asyncio.to_thread(mcp.keep_verdict, found, verdict)
        if answer != "yes":
            return NOT_STARTED
        await mcp.use(found)
        return STARTED

    return Question("mcp", TRUST, ANSWERS, found.text, give, details=found.lines)


ACTIONS: Mapping[str, Action] = {"mcp.servers": servers}
