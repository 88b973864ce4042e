"""The words of the screen of MCP servers."""

from __future__ import annotations

from collections.abc import Mapping

from ollm_tui.core.intake import visible

TITLE = "MCP servers and tools"
NO_SERVERS = "No MCP servers. Add them under mcp: in your settings or in a project's .mcp.json."
STATES: Mapping[str, str] = {
    "off": "off",
    "starting": "starting …",
    "ready": "ready",
    "failed": "failed",
}
MARKS: Mapping[str, str] = {"ready": "●", "starting": "…", "failed": "!"}
"""The marks of servers by their state; the others are off."""
OWN = "Built-in tools"
NO_ROOM = "no room in the prompt"
NO_TOOLS = "not with this model"
NOT_OFFERED = "not offered"
OFF = "off"
KEYS = (
    ("servers.switch", "on/off"),
    ("servers.again", "restart"),
    ("servers.close", "close"),
)
TRUST = "This folder wants to start MCP servers, which are programs on your machine. Start them?"
STARTED = "MCP servers of this folder started · /mcp"
NOT_STARTED = "Not started · asks again when .mcp.json changes"
NOTE = "MCP server {} · /mcp"
FAILED = "{} failed: {}"

# Said in commands

MCP_USAGE = "/mcp on, off or again SERVER"


def of_extension(name: str) -> str:
    """Return the heading over the tools of an extension."""
    return f"Extension {visible(name)}"


def over_the_limit(most: int) -> str:
    """Say that enough other tools are offered."""
    return f"over the limit of {most}"
