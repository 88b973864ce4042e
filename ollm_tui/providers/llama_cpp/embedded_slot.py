"""The place for the one embedded server: requests share it, and changing it waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from ollm_tui.providers.llama_cpp.server_process import (
    SERVER_COMMAND,
    ServerProcess,
    ServerTarget,
    start_server,
)


class ServerSlot:
    """At most one server, started when somebody needs it and kept for the next."""

    def __init__(self, command: Sequence[str] = SERVER_COMMAND) -> None:
        self._command = command
        self._server: ServerProcess | None = None
        self._users = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._changing = asyncio.Lock()

    @property
    def server(self) -> ServerProcess | None:
        """The server that runs now."""
        return self._server if self._server is not None and self._server.alive else None

    @property
    def busy(self) -> bool:
        """Whether a request is using the server, or waiting for another one."""
        return self._users > 0 or self._changing.locked()

    def serves(self, target: ServerTarget) -> bool:
        """Whether a server for exactly this runs already."""
        return self.server is not None and self.server.target == target

    @asynccontextmanager
    async def use(self, target: ServerTarget) -> AsyncGenerator[ServerProcess, None]:
        """A server for `target`; it is not exchanged for another as long as it is in use."""
        async with self._changing:
            server = self.server
            if server is None or server.target != target:
                await self._idle.wait()
                await self._stop()
                server = self._server = await start_server(target, self._command)
            self._users += 1
            self._idle.clear()
        try:
            yield server
        finally:
            self._users -= 1
            if not self._users:
                self._idle.set()

    async def close(self) -> None:
        """End the server, whoever uses it."""
        await self._stop()

    async def _stop(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            await server.stop()
