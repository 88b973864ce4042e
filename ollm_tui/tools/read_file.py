"""The tool read_file, which shows a page of a text with line numbers, or a picture."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta

from ollm_tui.core.counts import counted
from ollm_tui.core.errors import ToolError
from ollm_tui.core.intake import clean
from ollm_tui.core.session.message import Attachment
from ollm_tui.core.tool import Action, PlannedCall, Tell, ToolOutcome
from ollm_tui.tools.call_arguments import Arguments, Planned, spec_of, understood
from ollm_tui.tools.planned_write import FilesRead, readable_file
from ollm_tui.tools.scope import Place, Scope
from ollm_tui.tools.text_content import binary_kind, image_kind, size_in_words, text_content

PAGE_LINES = 200
MOST_LINES = 2_000
PAGE_CHARACTERS = 40_000
"""A page ends before the line that would make it longer than this."""
LINE_CHARACTERS = 2_000
LARGEST_PICTURE = 5_000_000
"""In bytes."""


class _Arguments(Arguments, frozen=True):
    path: Annotated[str, Meta(description="from the project's folder")]
    start: Annotated[int, Meta(description="first line")] = 1
    lines: int = PAGE_LINES


class ReadFile:
    """Reads files in the scope and remembers what was read."""

    spec = spec_of("read_file", "Read a file, 200 lines at a time.", _Arguments)

    def __init__(
        self,
        scope: Scope,
        memory: FilesRead,
        *,
        sees_pictures: Callable[[], bool] = lambda: False,
    ) -> None:
        self._scope = scope
        self._memory = memory
        self._sees_pictures = sees_pictures

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Find the file; it is not read yet."""
        arguments = understood(self.spec.name, _Arguments, args)
        place = await asyncio.to_thread(self._scope.find, arguments.path)

        async def work(_tell: Tell) -> ToolOutcome:
            return await asyncio.to_thread(self._read, place, arguments)

        return Planned(Action(effect="read", title="read", subject=place.name), work)

    def _read(self, place: Place, arguments: _Arguments) -> ToolOutcome:
        found = readable_file(place)
        if found is None or found.data is None:
            raise ToolError(f"there is no file {place.name}; find_files shows what there is")
        self._memory.note(place.whole, found.data)
        content = text_content(found.data)
        if content is None or image_kind(found.data):
            return self._not_a_text(place, found.data)
        return _page(content.text, arguments.start, arguments.lines)

    def _not_a_text(self, place: Place, data: bytes) -> ToolOutcome:
        kind, size = image_kind(data), size_in_words(len(data))
        if kind is None or not self._sees_pictures() or len(data) > LARGEST_PICTURE:
            raise ToolError(f"{place.name} is {binary_kind(data)} of {size}, not a text")
        picture = Attachment(
            name=place.name,
            media_type=kind,
            content=base64.b64encode(data).decode("ascii"),
            path=str(place.whole),
        )
        text = f"[{place.name}: a picture, {kind}, {size}]"
        return ToolOutcome(text=text, changed=False, summary=size, attachments=(picture,))


def _page(text: str, start: int, count: int) -> ToolOutcome:
    # A line end at the end of the text begins no further line.
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if not lines:
        return ToolOutcome(text="[the file is empty]", changed=False, summary="empty")
    first = max(start, 1)
    if first > len(lines):
        raise ToolError(f"it has only {counted(len(lines), 'line')}; start={start} is after them")
    shown = _shown(lines, first, min(max(count, 1), MOST_LINES))
    last = first + len(shown) - 1
    if len(shown) < len(lines):
        more = "" if last == len(lines) else f"; go on with start={last + 1}"
        shown.append(f"[lines {first}–{last} of {len(lines):,}{more}]")
    summary = counted(last - first + 1, "line")
    return ToolOutcome(text="\n".join(shown), changed=False, summary=summary)


def _shown(lines: Sequence[str], first: int, count: int) -> list[str]:
    """Return lines with their numbers, as many as fit on a page but at least one."""
    shown: list[str] = []
    room = PAGE_CHARACTERS
    for number, line in enumerate(lines[first - 1 : first - 1 + count], first):
        text = f"{number}\t{_line(line)}"
        room -= len(text)
        if room < 0 and shown:
            break
        shown.append(text)
    return shown


def _line(line: str) -> str:
    text = clean(line.removesuffix("\r")).replace("\n", " ")
    if len(text) <= LINE_CHARACTERS:
        return text
    return f"{text[:LINE_CHARACTERS]} [… {len(text) - LINE_CHARACTERS:,} more characters]"
