"""All MCP servers of a workspace: those of the settings, and those of a trusted project."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from ollm_tui.core.errors import UsageError
from ollm_tui.services.mcp.project_servers import ProjectServers, read_project_servers
from ollm_tui.services.mcp.server_connection import ServerConnection
from ollm_tui.services.safety.project_trust import Trust, Verdict
from ollm_tui.services.topic import Topic
from ollm_tui.settings.schema import McpServer

AGAIN_SECONDS = 1.0
"""How long is waited for servers that were lost and are tried again."""


class McpServers:
    """Starts servers, and knows what they offer. The settings win over a project's entries."""

    def __init__(
        self,
        entries: Mapping[str, McpServer],
        environment: Mapping[str, str],
        variables: Mapping[str, str],
        folder: Path,
        trust: Trust,
        *,
        redact: Callable[[str], str] = str,
    ) -> None:
        self.changed = Topic[None]()
        """Tells that a server has another state, or other tools."""
        self.told = Topic[str]()
        """What the user should know, one line each."""
        self.patience_seconds: float | None = None
        """How long is waited for servers that start; None waits for all of them."""
        self._environment = environment
        self._variables = variables
        self._folder = folder
        self._trust = trust
        self._redact = redact
        self._servers: dict[str, ServerConnection] = {}
        self._starting: asyncio.Task[None] | None = None
        self._started_at = 0.0
        self._has_told = False
        """Whether it was told which servers take long."""
        self._trying: set[asyncio.Task[None]] = set()
        self._failures: dict[str, str] = {}
        """Why servers failed, as it was told last."""
        for name, entry in entries.items():
            self._add(name, entry, is_projects=False)

    @property
    def all(self) -> tuple[ServerConnection, ...]:
        """Every server, those of the settings first."""
        return tuple(self._servers.values())

    @property
    def ready(self) -> tuple[ServerConnection, ...]:
        """The servers that can be asked now."""
        return tuple(server for server in self.all if server.state == "ready")

    def get(self, name: str) -> ServerConnection:
        """Return a server. UsageError if there is none of that name."""
        if name not in self._servers:
            known = ", ".join(self._servers) or "none (add one under mcp: in the settings)"
            raise UsageError(f"no MCP server {name!r}", f"available: {known}")
        return self._servers[name]

    def start(self) -> None:
        """Start in the background what is switched on, with what the project is trusted to ask
        for; once."""
        if self._starting is None:
            self._starting = asyncio.create_task(self._start_all(), name="mcp servers")
            self._started_at = asyncio.get_running_loop().time()

    async def until_started(self) -> None:
        """Wait until every server is ready or has failed, or patience is at its end; what was lost
        is tried again."""
        self.start()
        assert self._starting is not None
        # Not `wait_for`: one who stops waiting must not keep the servers from others.
        await asyncio.wait({self._starting}, timeout=self._patience_left)
        if not self._starting.done() and not self._has_told:
            self._has_told = True
            for each in self.all:
                if each.entry.enabled and each.state in ("off", "starting"):
                    self.told.publish(f"{each.name} is still starting")
        await self._try_again()

    @property
    def has_started(self) -> bool:
        """Whether waiting for the servers takes no time."""
        return self._starting is not None and (self._starting.done() or self._patience_left == 0)

    @property
    def _patience_left(self) -> float | None:
        if self.patience_seconds is None:
            return None
        passed = asyncio.get_running_loop().time() - self._started_at
        return max(0.0, self.patience_seconds - passed)

    async def _try_again(self) -> None:
        """Start again what was lost; what takes long is there in a later turn."""
        lost = {asyncio.create_task(each.start()) for each in self.all if each.is_lost}
        self._trying |= lost
        for each in lost:
            each.add_done_callback(self._trying.discard)
        if lost:
            await asyncio.wait(lost, timeout=AGAIN_SECONDS)

    async def projects(self) -> ProjectServers | None:
        """The servers the project asks for, as its file is now; None if there are none."""
        return await asyncio.to_thread(read_project_servers, self._folder)

    def verdict(self, found: ProjectServers) -> Verdict | None:
        """The user's answer about these servers of the project; None if they were never asked."""
        return self._trust.verdict(f"mcp:{self._folder}", found.digest)

    def keep_verdict(self, found: ProjectServers, verdict: Verdict) -> None:
        """Store the user's answer; it holds until the file changes."""
        self._trust.keep(f"mcp:{self._folder}", found.digest, verdict)

    async def use(self, found: ProjectServers) -> None:
        """Add servers of the project that the user agreed to, and start them."""
        new = [
            self._add(name, entry, is_projects=True)
            for name, entry in found.entries.items()
            if name not in self._servers
        ]
        await asyncio.gather(*(server.start() for server in new))

    async def close(self) -> None:
        """End all servers."""
        if self._starting and not self._starting.done():
            self._starting.cancel()
            await asyncio.wait({self._starting})
        for task in tuple(self._trying):
            task.cancel()
        await asyncio.gather(*(server.stop() for server in self.all))

    async def _start_all(self) -> None:
        wanted = [server for server in self.all if server.entry.enabled]
        found = await self.projects()
        trusted = found and await asyncio.to_thread(self.verdict, found) == "always"
        await asyncio.gather(
            *(server.start() for server in wanted),
            *((self.use(found),) if found and trusted else ()),
        )

    def _add(self, name: str, entry: McpServer, *, is_projects: bool) -> ServerConnection:
        server = self._servers[name] = ServerConnection(
            name,
            entry,
            self._environment,
            self._variables,
            self._folder,
            lambda: self._tell(name),
            redact=self._redact,
            is_projects=is_projects,
        )
        return server

    def _tell(self, name: str) -> None:
        """Tell that a server is in another state; why it failed is told in words, once."""
        server = self._servers[name]
        if server.state == "failed" and self._failures.get(name) != server.problem:
            self.told.publish(f"{name} failed: {server.problem}")
        if server.state in ("failed", "ready"):
            self._failures[name] = server.problem
        self.changed.publish(None)
