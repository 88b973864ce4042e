"""The tool read_output, which reads what was cut out of an earlier output, or a text that was
attached to be read in parts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from msgspec import Meta

from ollm_tui.core.counts import counted
from ollm_tui.core.cut_output import PAGE_LINES
from ollm_tui.core.errors import ToolError
from ollm_tui.core.tool import Action, PlannedCall, Tell, ToolOutcome
from ollm_tui.tools.call_arguments import Arguments, Planned, one_line, spec_of, understood

MOST_FOUND = 100
"""How many lines with a text are shown."""


class _Arguments(Arguments, frozen=True):
    call: Annotated[str, Meta(description="as the cut output says")] = ""
    start: Annotated[int, Meta(description="first line")] = 1
    end: Annotated[int | None, Meta(description="last line")] = None
    find: Annotated[str, Meta(description="only lines with this text")] = ""


class ReadOutput:
    """Reads outputs by lines. `whole` returns all that a call printed, or None; without the id of
    a call it is the last output that was cut."""

    spec = spec_of("read_output", "Read lines of an output that was cut.", _Arguments)

    def __init__(self, whole: Callable[[str], str | None]) -> None:
        self._whole = whole

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Find the output. ToolError if it is not on record."""
        arguments = understood(self.spec.name, _Arguments, args)
        text = self._whole(arguments.call)
        if text is None:
            called = f"of call {one_line(arguments.call)!r}" if arguments.call else "that was cut"
            raise ToolError(f"there is no output {called}", "run it again")

        async def work(_tell: Tell) -> ToolOutcome:
            return await asyncio.to_thread(_read, text, arguments)

        subject = f"{arguments.call} from line {arguments.start}".strip()
        return Planned(Action(effect="none", title="read the output of", subject=subject), work)


def _read(text: str, arguments: _Arguments) -> ToolOutcome:
    lines = text.removesuffix("\n").split("\n")
    start = max(arguments.start, 1)
    last = len(lines) if arguments.find else start + PAGE_LINES - 1
    end = min(arguments.end or last, len(lines))
    if arguments.find:
        return _found(lines, start, end, arguments.find)
    shown = lines[start - 1 : end]
    if not shown:
        raise ToolError(f"there are no lines {start}-{end}", f"it has {len(lines)}")
    head = f"[lines {start}-{end} of {len(lines)}]"
    return ToolOutcome(
        "\n".join((head, *shown)), changed=False, summary=counted(len(shown), "line")
    )


def _found(lines: list[str], start: int, end: int, wanted: str) -> ToolOutcome:
    low = wanted.casefold()
    found = [
        f"{number}: {line}"
        for number, line in enumerate(lines[start - 1 : end], start)
        if low in line.casefold()
    ]
    head = f"[{counted(len(found), 'line')} of {start}-{end} with {one_line(wanted)!r}]"
    more = [f"[the first {MOST_FOUND}]"] if len(found) > MOST_FOUND else []
    text = "\n".join((head, *found[:MOST_FOUND], *more))
    return ToolOutcome(text, changed=False, summary=counted(len(found), "line"))
