"""The tool find_files, which lists files by a glob, a folder or words of their path."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

from ollm_tui.core.counts import counted
from ollm_tui.core.tool import Action, PlannedCall, Tell, ToolOutcome
from ollm_tui.tools.call_arguments import Arguments, Planned, one_line, spec_of, understood
from ollm_tui.tools.scope_files import ScopeFiles, chosen

USUAL, MOST = 100, 1_000
"""How many files are listed without a limit from the model, and at most with one."""


class _Arguments(Arguments, frozen=True):
    pattern: Annotated[str, Meta(description="glob like src/**/*.py, folder/, or words")]
    limit: int = USUAL


class FindFiles:
    """Lists the files of the scope that are not ignored."""

    spec = spec_of("find_files", "List files of the project.", _Arguments)

    def __init__(self, files: ScopeFiles) -> None:
        self._files = files

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Read the arguments; nothing is looked for yet."""
        arguments = understood(self.spec.name, _Arguments, args)

        async def work(_tell: Tell) -> ToolOutcome:
            paths = await self._files.paths()
            pattern = self._files.relative(arguments.pattern)
            found = await asyncio.to_thread(chosen, paths, pattern)
            return _listed(found, min(max(arguments.limit, 1), MOST), self._files.unreadable)

        action = Action(effect="read", title="list files", subject=arguments.pattern)
        return Planned(action, work)


def _listed(found: list[str], limit: int, unreadable: int) -> ToolOutcome:
    hidden = f"[{counted(unreadable, 'folder')} could not be read]"
    if not found:
        text = "no file fits; try fewer words, or a pattern such as **/*.py"
        text += f"\n{hidden}" if unreadable else ""
        return ToolOutcome(text=text, changed=False, summary="no files")
    lines = [one_line(path) for path in found[:limit]]
    if len(found) > limit:
        lines.append(f"[{len(found) - limit:,} more; narrow the pattern or raise limit]")
    if unreadable:
        lines.append(hidden)
    return ToolOutcome(text="\n".join(lines), changed=False, summary=counted(len(found), "file"))
