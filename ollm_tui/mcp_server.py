"""The MCP front end: serves the job tools to other agents on stdin and stdout.

Only `ollm mcp` imports it, because the SDK takes about a second to load.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import msgspec
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

from ollm_tui import __version__
from ollm_tui.core.errors import OllmError
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.jobs.job_tools import JobTools

INSTRUCTIONS = (
    "Run commands and code as jobs. Start a session, run code in it with exec; its directory, "
    "environment and variables last. Long work: exec with background, then waitJob or "
    "getJobOutput. Every job ends with this server."
)

log = logging.getLogger(__name__)


async def serve(jobs: JobRegistry, tools: JobTools, sandbox: str) -> None:
    """Serve until stdin is closed, then end every job; `sandbox` tells clients what holds jobs."""
    server = build_server(tools, sandbox)
    try:
        await jobs.reconcile()
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        await jobs.close()


def build_server(tools: JobTools, sandbox: str = "") -> Server[Any]:
    """Make a server of the job tools for any transport."""
    listed = [
        Tool(name=tool.name, description=tool.description, input_schema=tool.schema)
        for tool in tools.tools()
    ]

    async def list_tools(_context: Any, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=listed)

    async def call_tool(_context: Any, params: CallToolRequestParams) -> CallToolResult:
        return await answer(tools, params.name, params.arguments or {})

    return Server(
        "ollm",
        version=__version__,
        instructions=f"{INSTRUCTIONS} {sandbox}".rstrip(),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def answer(tools: JobTools, name: str, arguments: dict[str, Any]) -> CallToolResult:
    """Call a tool and return its result as JSON, or its error as one line with a hint."""
    try:
        value = await tools.call(name, arguments)
    except OllmError as error:
        log.info("%s: %s", name, error.message)
        line = " ".join(f"{error.message} ({error.hint})".split())
        return CallToolResult(content=[TextContent(text=line)], is_error=True)
    # In a thread, as all that takes longer for more output: the server answers others meanwhile.
    text = await asyncio.to_thread(_json, value)
    # MCP allows only an object as structured content.
    structured: dict[str, Any] = {"items": value} if isinstance(value, list) else value
    return CallToolResult(content=[TextContent(text=text)], structured_content=structured)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
