"""A tool of an MCP server, under the same rules as the program's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ollm_tui.core.counts import counted
from ollm_tui.core.provider import ToolSpec
from ollm_tui.core.tool import Action, PlannedCall, Tell, Tool, ToolOutcome
from ollm_tui.services.mcp.mcp_servers import McpServers
from ollm_tui.services.mcp.offer import ServerTool
from ollm_tui.services.mcp.server_connection import ServerConnection
from ollm_tui.tools.call_arguments import Planned

UNTITLED = "A tool of the server {server}."


class McpTool:
    """Passes calls on to a server. What a server says about its tools being harmless does not
    count: every call is judged as one that runs something."""

    def __init__(self, server: ServerConnection, tool: ServerTool) -> None:
        self._server = server
        self._tool = tool
        self.spec = ToolSpec(
            f"{server.name}.{tool.name}",
            tool.description or UNTITLED.format(server=server.name),
            tool.schema,
        )

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Plan a call; the server checks the arguments itself."""
        given = msgspec.json.encode(args).decode()

        async def work(_tell: Tell) -> ToolOutcome:
            answer = await self._server.call(self._tool.name, args)
            lines = answer.text.count("\n") + 1 if answer.text else 0
            return ToolOutcome(
                answer.text or "[no output]",
                is_error=answer.is_error,
                summary="failed" if answer.is_error else counted(lines, "line"),
            )

        action = Action(
            effect="run",
            title=f"use the MCP server {self._server.name}",
            subject=f"{self._tool.name} {given}",
            is_outside=True,
        )
        return Planned(action, work)


def mcp_tools(servers: McpServers) -> Iterator[Tool]:
    """Yield the tools of all servers that can be asked now."""
    for server in servers.ready:
        for tool in server.offer.tools:
            yield McpTool(server, tool)
