"""What others add to the program in this workspace: MCP servers, task lists, extensions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ollm_tui.core.session.context_entry import ContextEntry
from ollm_tui.core.tool import Tool
from ollm_tui.engine.tools.tool_selection import ToolSelection

if TYPE_CHECKING:
    from ollm_tui.services.extensions.extension_host import ExtensionHost
    from ollm_tui.services.mcp.mcp_servers import McpServers
    from ollm_tui.services.tasks.project_tasks import ProjectTasks


class Additions:
    """Holds what others add, and gives its tools to conversations."""

    def __init__(
        self,
        selection: ToolSelection,
        mcp: McpServers | None = None,
        tasks: ProjectTasks | None = None,
        folder: Path | None = None,
    ) -> None:
        self.selection = selection
        """Which tools are offered, as the user chose by hand."""
        self.mcp = mcp
        self.extensions: ExtensionHost | None = None
        """What is installed, where this front end uses it."""
        self.environ: Mapping[str, str] = {}
        """The variables of the user, of which commands get the harmless ones."""
        self._tasks = tasks
        self._folder = folder or Path()

    def start(self) -> None:
        """Start in the background what conversations will need."""
        for each in self._parts:
            each.start()

    @property
    def is_ready(self) -> bool:
        """Whether `ready` takes no time."""
        return all(each.has_started for each in self._parts)

    async def ready(self) -> None:
        """Wait until the tools are known."""
        await asyncio.gather(*(each.until_started() for each in self._parts))

    @property
    def has_commands(self) -> bool:
        """Whether servers or extensions may bring commands."""
        return bool(self._parts)

    async def checked(self, tool: str, output: str) -> str:
        """What the model gets of an output, after extensions have looked at it."""
        return await self.extensions.checked(tool, output) if self.extensions else output

    async def context(self) -> Sequence[ContextEntry]:
        """What extensions add to the next prompt."""
        return await self.extensions.context() if self.extensions else ()

    @property
    def _parts(self) -> tuple[McpServers | ExtensionHost, ...]:
        return tuple(each for each in (self.mcp, self.extensions) if each)

    def tools(self) -> Sequence[Tool]:
        """The tools there are now."""
        # Imported late: most sessions have no servers and no tasks.
        found: list[Tool] = []
        if self._tasks and self._tasks.source:
            from ollm_tui.tools.added.task_tools import task_tools

            found += task_tools(self._tasks, self._folder, self.environ)
        if self.mcp:
            from ollm_tui.tools.added.mcp_tool import mcp_tools

            found += mcp_tools(self.mcp)
        if self.extensions:
            from ollm_tui.tools.added.extension_tool import extension_tools

            found += extension_tools(self.extensions)
        return found

    async def close(self) -> None:
        """End all servers."""
        await asyncio.gather(*((self.mcp.close(),) if self.mcp else ()))
