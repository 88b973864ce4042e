"""The tool find_files, which lists files by a glob, a folder or words of their path."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

from ollm_tui.core.counts import counted
from ollm_tui.core.tool import Action, PlannedCall, Tell, ToolOutcome
from ollm_tui.services.files.file_entry import FileEntry
from ollm_tui.tools.call_arguments import Arguments, Planned, one_line, spec_of, understood
from ollm_tui.tools.scope_files import ScopeFiles, chosen

USUAL, MOST = 100, 1_000
"""How many files are listed without a limit from the model, and at most with one."""


class _Arguments(Arguments, frozen=True):
    pattern: Annotated[str, Meta(description="glob like src/**/*.py, folder/, or words")]
    limit: int = USUAL
    details: bool = False


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
            limit = min(max(arguments.limit, 1), MOST)
            shown = found[:limit]
            if arguments.details:
                shown = await asyncio.to_thread(self._with_details, shown)
            return _listed(shown, len(found), self._files.unreadable)

        action = Action(effect="read", title="list files", subject=arguments.pattern)
        return Planned(action, work)

    def _with_details(self, paths: list[str]) -> list[str]:
        return [f"{path}  {_details(self._files.entry(path))}" for path in paths]


def _details(entry: FileEntry) -> str:
    """Return kind, size and time of a file in words, the time as clocks here show it."""
    try:
        written = f"{entry.modified.astimezone():%Y-%m-%d %H:%M}"
        size = counted(entry.size, "byte")
        return f"{size}, {written}" if entry.kind == "file" else f"{entry.kind}, {written}"
    except OSError:
        return "gone"


def _listed(shown: list[str], count: int, unreadable: int) -> ToolOutcome:
    """Return what the model gets: some of the files found, and how many there are."""
    hidden = f"[{counted(unreadable, 'folder')} could not be read]"
    if not shown:
        text = "no file fits; try fewer words, or a pattern such as **/*.py"
        text += f"\n{hidden}" if unreadable else ""
        return ToolOutcome(text=text, changed=False, summary="no files")
    lines = [one_line(line) for line in shown]
    if count > len(shown):
        lines.append(f"[{count - len(shown):,} more; narrow the pattern or raise limit]")
    if unreadable:
        lines.append(hidden)
    return ToolOutcome(text="\n".join(lines), changed=False, summary=counted(count, "file"))
