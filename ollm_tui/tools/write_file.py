"""The tool write_file, which creates a file or replaces its whole text."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

from ollm_tui.core.errors import ToolError
from ollm_tui.core.tool import PlannedCall
from ollm_tui.tools.call_arguments import Arguments, spec_of, understood
from ollm_tui.tools.planned_write import (
    FilesRead,
    PlannedWrite,
    plan_write,
    readable_file,
    refuse_marks,
    text_in,
)
from ollm_tui.tools.scope import Scope


class _Arguments(Arguments, frozen=True):
    path: str
    content: Annotated[str, Meta(description="the whole new text")]


class WriteFile:
    """Writes files in the scope, unless they changed since they were read."""

    spec = spec_of("write_file", "Create a file, or replace all of its text.", _Arguments)

    def __init__(self, scope: Scope, memory: FilesRead) -> None:
        self._scope = scope
        self._memory = memory

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Compare the new text with the file; nothing is written yet."""
        arguments = understood(self.spec.name, _Arguments, args)
        return await asyncio.to_thread(self._plan, arguments)

    def _plan(self, arguments: _Arguments) -> PlannedWrite:
        place = self._scope.find(arguments.path)
        before = readable_file(place)
        if self._memory.is_outdated(place.whole, before.data if before else None):
            raise ToolError(f"{place.name} changed since it was read; read it again, then retry")
        old, new = text_in(place, before), arguments.content
        refuse_marks(place.name, old.text, new)
        # read_file does not show carriage returns, so the model cannot know that they are there.
        if old.ends_with_returns and "\r\n" not in new:
            new = new.replace("\n", "\r\n")
        unchanged = "has exactly this text already"
        return plan_write(place, self._memory, before, old=old, new=new, unchanged=unchanged)
