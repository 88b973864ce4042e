"""Writing a file exactly as it was shown: the plan, its diff, and the reasons to refuse it."""

from __future__ import annotations

import asyncio
import difflib
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ollm_tui.core.counts import counted
from ollm_tui.core.errors import ToolError
from ollm_tui.core.intake import visible
from ollm_tui.core.tool import Action, Tell, ToolOutcome
from ollm_tui.services.redaction.mark import carries_mark
from ollm_tui.storage.files.beneath import FoundFile
from ollm_tui.tools.scope import Place
from ollm_tui.tools.text_content import TextContent, binary_kind, text_content

MOST_FILES = 10_000
"""How many files are remembered; the one noted longest ago is forgotten first."""
LARGEST_BYTES = 20_000_000
"""The largest file that is read, edited or replaced."""


class FilesRead:
    """Remembers what the model knows of files, as hashes of their contents."""

    def __init__(self) -> None:
        self._hashes: dict[Path, bytes] = {}

    def note(self, path: Path, data: bytes) -> None:
        """Remember that the model has read or written this content."""
        self._hashes.pop(path, None)
        self._hashes[path] = sha256(data).digest()
        if len(self._hashes) > MOST_FILES:
            del self._hashes[next(iter(self._hashes))]

    def is_outdated(self, path: Path, data: bytes | None) -> bool:
        """Return whether a file was read and differs now; `data` is None if it is gone."""
        known = self._hashes.get(path)
        return known is not None and (data is None or sha256(data).digest() != known)


@dataclass(frozen=True)
class PlannedWrite:
    """A planned call that replaces `before` by `after`; `before` is None for a new file."""

    place: Place
    memory: FilesRead
    before: FoundFile | None
    after: bytes
    diff: str
    note: str = ""
    """What the model is told after the counts of lines."""

    @property
    def action(self) -> Action:
        """What the call would do."""
        title = "change" if self.before else "create"
        return Action(effect="write", title=title, subject=self.place.name, diff=self.diff)

    async def run(self, tell: Tell) -> ToolOutcome:
        """Write the file. ToolError if it changed since this was planned."""
        writing = asyncio.create_task(asyncio.to_thread(self._write))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            # A thread cannot be stopped, so it is waited for: nothing may go on after a cancel.
            await asyncio.wait((writing,))
            raise
        added, removed = _counts(self.diff)
        done = "changed" if self.before else "created"
        text = f"{done} {self.place.name}: +{added} −{removed} lines{self.note}"
        return ToolOutcome(
            text=text, changed=self.after != self._old, summary=f"+{added} −{removed}"
        )

    @property
    def _old(self) -> bytes | None:
        return self.before.data if self.before else None

    def _write(self) -> None:
        now = self.place.read(LARGEST_BYTES)
        if (now.data if now else None) != self._old or (now is None) != (self.before is None):
            raise ToolError(
                f"{self.place.name} changed since this was planned; read it again, then retry"
            )
        # After an edit of a file that changed since it was read, the model still does not know all
        # of it: replacing it whole has to stay refused.
        was_known = not self.memory.is_outdated(self.place.whole, self._old)
        self.place.write(self.after, now.mode if now else None)
        if was_known:
            self.memory.note(self.place.whole, self.after)


def readable_file(place: Place) -> FoundFile | None:
    """Read a file with its bytes; None if there is none. ToolError if it is too large."""
    found = place.read(LARGEST_BYTES)
    if found is not None and found.data is None:
        raise ToolError(
            f"{place.name} has {counted(found.size, 'byte')}: too large for this tool; "
            "use search_text, or exec with sed or tail"
        )
    return found


def text_in(place: Place, found: FoundFile | None) -> TextContent:
    """Return the text of a file, an empty one if there is no file. ToolError if it is no text."""
    if found is None or found.data is None:
        return TextContent("")
    content = text_content(found.data)
    if content is None:
        raise ToolError(f"{place.name} is {binary_kind(found.data)}, not a text")
    return content


def plan_write(
    place: Place,
    memory: FilesRead,
    before: FoundFile | None,
    *,
    old: TextContent,
    new: str,
    unchanged: str,
) -> PlannedWrite:
    """Plan to put `new` in place of the whole text `old`, in the encoding the file has.

    ToolError with `unchanged` if the file has that text already.
    """
    after = old.bytes_of(new)
    if before is not None and after == before.data:
        raise ToolError(f"{place.name} {unchanged}")
    return PlannedWrite(place, memory, before, after, unified_diff(place.name, old.text, new))


def refuse_marks(name: str, before: str, after: str) -> None:
    """Raise ToolError if a text has a redaction mark that was not there before: the model was
    shown the mark in place of a secret, and writing it would destroy the secret."""
    pieces = after.split("[")[1:] if carries_mark(after) else ()
    for piece in pieces:
        mark = f"[{piece.partition(']')[0]}]"
        if carries_mark(mark) and mark not in before:
            raise ToolError(
                f"{mark} stands for a secret that you are not shown; {name} would get the mark in "
                "its place",
                "change only the text around it with edit_file, or ask the user to do it",
            )


def unified_diff(name: str, before: str, after: str) -> str:
    """Return a unified diff in which invisible characters are made visible.

    Carriage returns at line ends are left out unless nothing else changes.
    """
    old, new = (text.replace("\r\n", "\n") for text in (before, after))
    if old == new:
        old, new = before, after
    lines = difflib.unified_diff(_lines(old), _lines(new), f"a/{name}", f"b/{name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _lines(text: str) -> list[str]:
    """Split into lines with their ends; unlike str.splitlines, only \\n ends a line."""
    *lines, last = visible(text).split("\n")
    ended = [f"{line}\n" for line in lines]
    return [*ended, last] if last else ended


def _counts(diff: str) -> tuple[int, int]:
    """Return how many lines a diff adds and removes; its two header lines do not count."""
    lines = diff.split("\n")[2:]
    added = sum(line.startswith("+") for line in lines)
    return added, sum(line.startswith("-") for line in lines)
