"""The tool edit_file, which replaces one piece of a file's text by another."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
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
from ollm_tui.tools.text_match import Change, edited


class _Arguments(Arguments, frozen=True):
    path: str
    old: Annotated[str, Meta(description="the exact text to replace")]
    new: str
    all: Annotated[bool, Meta(description="replace every place")] = False


class EditFile:
    """Edits files in the scope. A piece that is not found exactly may be found by similarity;
    the diff that is shown is what will really be written."""

    spec = spec_of("edit_file", "Replace a piece of a file's text.", _Arguments)

    def __init__(self, scope: Scope, memory: FilesRead) -> None:
        self._scope = scope
        self._memory = memory

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Find the piece and plan the change; nothing is written yet."""
        arguments = understood(self.spec.name, _Arguments, args)
        return await asyncio.to_thread(self._plan, arguments)

    def _plan(self, arguments: _Arguments) -> PlannedWrite:
        place = self._scope.find(arguments.path)
        before = readable_file(place)
        if before is None:
            raise ToolError(f"there is no file {place.name}; write_file creates one")
        old = text_in(place, before)
        refuse_marks(place.name, old.text, arguments.new)
        change = edited(old.text, arguments.old, arguments.new, every=arguments.all)
        unchanged = "has this text already; nothing would change"
        planned = plan_write(
            place, self._memory, before, old=old, new=change.text, unchanged=unchanged
        )
        return replace(planned, note=_note(change, planned.diff))


def _note(change: Change, diff: str) -> str:
    if change.places > 1:
        return f", in {change.places:,} places"
    if change.is_exact:
        return f", from line {change.line}"
    return f"; old was not exact, so the most similar lines were taken:\n{diff}"
