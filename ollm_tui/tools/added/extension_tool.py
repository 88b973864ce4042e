"""A tool of an extension, under the same rules as the program's own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ollm_tui.core.counts import counted
from ollm_tui.core.errors import ToolError
from ollm_tui.core.intake import clean
from ollm_tui.core.provider import ToolSpec
from ollm_tui.core.tool import Action, PlannedCall, Tell, Tool, ToolOutcome
from ollm_tui.extension_api import ExtensionTool
from ollm_tui.services.extensions.extension_host import ExtensionFailed, ExtensionHost
from ollm_tui.tools.call_arguments import Planned

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class AddedTool:
    """Calls a tool of an extension."""

    def __init__(self, host: ExtensionHost, extension: str, tool: ExtensionTool) -> None:
        self._host = host
        self._extension = extension
        self._tool = tool
        parameters = msgspec.json.decode(msgspec.json.encode(tool.parameters))
        self.spec = ToolSpec(tool.name, clean(tool.description), parameters)

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Plan a call; the extension checks the arguments itself."""
        given = msgspec.json.encode(args).decode()

        async def work(_tell: Tell) -> ToolOutcome:
            try:
                text = await self._host.text(self._extension, self._tool.run, dict(args))
            except ExtensionFailed as error:
                raise ToolError(f"the extension {self._extension} failed: {error}") from error
            return ToolOutcome(text or "[no output]", summary=counted(text.count("\n") + 1, "line"))

        action = Action(
            effect=self._tool.policy,
            title=f"use the extension {self._extension}",
            subject=f"{self._tool.name} {given}",
            is_outside=True,
        )
        return Planned(action, work)


def extension_tools(host: ExtensionHost) -> Iterator[Tool]:
    """Yield the tools of all extensions that can be called now."""
    for extension, tool in host.tools():
        if not _NAME.fullmatch(tool.name):
            host.switch_off(extension, f"its tool {tool.name!r} has a name that is not allowed")
            continue
        try:
            yield AddedTool(host, extension, tool)
        except TypeError as error:  # a schema that is no JSON
            host.switch_off(extension, f"the parameters of {tool.name}: {error}")
