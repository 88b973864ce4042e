"""The words of the screen of MCP servers."""

from __future__ import annotations

from collections.abc import Mapping

TITLE = "MCP servers and tools"
NO_SERVERS = "No MCP servers. mcp: in the settings names some, or .mcp.json of a project."
STATES: Mapping[str, str] = {
    "off": "off",
    "starting": "starting …",
    "ready": "ready",
    "failed": "failed",
}
OWN = "Tools of the program"
NO_ROOM = "no room"
NOT_OFFERED = "not offered"
OFF = "off"
KEYS = (
    ("servers.switch", "on/off"),
    ("servers.again", "start again"),
    ("servers.close", "close"),
)
TRUST = "This folder asks for MCP servers, which are programs that run here. Start them?"
STARTED = "the MCP servers of this folder run now; /mcp shows them"
NOT_STARTED = "they are not started; it is asked again when .mcp.json changes"
