"""An MCP server on the official SDK, for tests: with ordinary, slow and hostile tools.

`python -m tests.stand_ins.mcp_stand_in` serves on stdin and stdout; with a port, by HTTP.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer

HOSTILE = "\x1b]52;c;aGk=\x07\x1b[2Jhidden\u202e"


def make_server() -> MCPServer[Any]:
    """A server with a tool for each thing that may happen."""
    server: MCPServer[Any] = MCPServer("stand-in")

    @server.tool()
    def add(a: int, b: int) -> str:
        """Adds two numbers."""
        return str(a + b)

    @server.tool()
    def write(path: str, text: str) -> str:
        """Writes a file."""
        Path(path).write_text(text, encoding="utf-8")
        return f"wrote {path}"

    @server.tool()
    def variables() -> str:
        """Names the variables the server has."""
        return " ".join(sorted(f"{key}={value}" for key, value in os.environ.items()))

    @server.tool()
    def much(characters: int) -> str:
        """Answers at length."""
        return "x" * characters

    @server.tool()
    def hostile() -> str:
        """Answers with controls of the terminal."""
        return f"before {HOSTILE} after"

    @server.tool()
    def fail() -> str:
        """Fails."""
        raise ValueError("this tool never works")

    @server.tool()
    def die() -> str:
        """Ends the server."""
        os._exit(3)

    @server.tool()
    async def wait() -> str:
        """Never answers."""
        await anyio.sleep_forever()
        return ""

    @server.resource("notes://today")
    def today() -> str:
        """What was noted today."""
        return "water the plants"

    @server.prompt()
    def review(file: str) -> str:
        """Asks for a review."""
        return f"Please review {file} with care."

    return server


if __name__ == "__main__":
    sys.stderr.write("stand-in begins\n")
    if len(sys.argv) > 1:
        make_server().run("streamable-http", port=int(sys.argv[1]))
    else:
        make_server().run("stdio")
