"""Lines in the stream about servers that fail or take long; nobody waits for these for long."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ollm_tui.core.intake import visible
from ollm_tui.tui.mcp.words import FAILED, NOTE
from ollm_tui.tui.stream.transcript.entry import Entry

if TYPE_CHECKING:
    from ollm_tui.services.mcp.mcp_servers import McpServers
    from ollm_tui.tui.chat.port import ChatPort

PATIENCE_SECONDS = 5.0
"""How long a message waits for servers that start; later ones have their tools."""


class ServerNotes:
    """Listens to the servers as long as the program runs."""

    def __init__(self, chat: ChatPort, mcp: McpServers) -> None:
        self._chat = chat
        mcp.patience_seconds = PATIENCE_SECONDS
        mcp.told.subscribe(self._note)
        for server in mcp.all:
            if server.state == "failed":  # before anybody listened
                self._note(FAILED.format(server.name, server.problem))

    def _note(self, words: str) -> None:
        key = f"mcp-{time.monotonic_ns()}"
        self._chat.front().transcript.add(Entry(key, "note", NOTE.format(visible(words))))
