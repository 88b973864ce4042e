"""How messages reach an MCP server: through the pipes of a process, or by HTTP.

Imported when a server is started: what it needs takes a second to load.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TextIO

from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client


def over_stdio(
    command: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    complaints: TextIO,
) -> AbstractAsyncContextManager[Any]:
    """Start a program in a folder; what it prints on stderr goes into a file, not on the screen."""
    server = StdioServerParameters(
        command=command,
        args=list(arguments),
        env=dict(environment),
        cwd=folder,
        encoding_error_handler="replace",
    )
    return stdio_client(server, errlog=complaints)


@asynccontextmanager
async def over_http(url: str, headers: Mapping[str, str]) -> AsyncGenerator[Any]:
    """Talk to an address, with further headers in every request."""
    async with (
        create_mcp_http_client(headers=dict(headers)) as http,
        streamable_http_client(url, http_client=http) as streams,
    ):
        yield streams
