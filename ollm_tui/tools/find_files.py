"""find_files: names of files, by a glob or by words."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

from ollm_tui.core.counts import counted
from ollm_tui.core.tool import Action, PlannedCall, Tell, ToolOutcome
from ollm_tui.tools.call_arguments import Arguments, one_line, spec_of, understood
from ollm_tui.tools.planned import Planned
from ollm_tui.tools.scope_files import ScopeFiles, chosen

USUAL, MOST = 100, 1_000


class _Arguments(Arguments, frozen=True):
    pattern: Annotated[str, Meta(description="glob like src/**/*.py, folder/, or words")]
    limit: int = USUAL


class FindFiles:
    """Lists what lies in the scope and is not ignored."""

    spec = spec_of("find_files", "List files of the project.", _Arguments)

    def __init__(self, files: ScopeFiles) -> None:
        self._files = files

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Nothing is looked for yet."""
        wanted = understood(self.spec.name, _Arguments, args)

        async def work(_tell: Tell) -> ToolOutcome:
            paths = await self._files.paths()
            pattern = self._files.relative(wanted.pattern)
            found = await asyncio.to_thread(chosen, paths, pattern)
            return _listed(found, min(max(wanted.limit, 1), MOST), self._files.unreadable)

        action = Action(effect="read", title="list files", subject=wanted.pattern)
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
