"""One line of a list: what it says, and how it is drawn into its width."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style

LEAST_TEXT = 10
"""Cells the main words keep before the note gives way."""
_BOLD = Style(bold=True)
_PLAIN_MARKS = str.maketrans("★▸▾✓●○◆◇·…", "*>v+*o*o-~")


class Choice(NamedTuple):
    """One line. `text` may come from anywhere: it is shown as it is, cut to its place."""

    key: str
    text: str
    note: str = ""
    """Quiet words at the right edge: an age, keys, a size."""
    mark: str = ""
    """At most two cells before the text."""
    heading: bool = False
    """A line that cannot be chosen; it stands over the choices below it."""
    words: str = ""
    """Further text the filter looks at."""
    indent: str = ""
    """Drawn before the text as it is: the lines of a tree."""


class LineLooks(NamedTuple):
    """The styles of a line; on the highlighted one they are all the same."""

    text: Style
    mark: Style
    note: Style


class LineDrawing(NamedTuple):
    """How the lines of one list are drawn."""

    width: int
    mark_width: int
    match: re.Pattern[str] | None
    """What is bold in the text."""
    unicode: bool

    def heading(self, text: str, style: Style) -> list[Segment]:
        """A line over others."""
        return [Segment(f" {self._cut(text, self.width - 2)}", style)]

    def line(self, choice: Choice, looks: LineLooks) -> list[Segment]:
        """A blank, the mark, the text, and at the right edge the note and a blank."""
        mark = choice.mark if self.unicode else choice.mark.translate(_PLAIN_MARKS)
        column = self.mark_width + 1 if self.mark_width else 0
        room = self.width - column - cell_len(choice.indent) - 2
        note = " ".join(choice.note.split())
        if room - cell_len(note) - 2 < min(LEAST_TEXT, cell_len(choice.text)):
            note = ""
        text = self._cut(choice.text, room - cell_len(note) - 2 if note else room)
        gap = room - cell_len(text) - cell_len(note)
        return [
            Segment(" ", looks.text),
            Segment(set_cell_size(mark, column), looks.mark),
            Segment(choice.indent, looks.note),
            *self._with_matches(text, looks.text),
            Segment(" " * max(gap, 0), looks.text),
            Segment(note, looks.note),
        ]

    def _cut(self, text: str, width: int) -> str:
        """The text in one line of at most this many cells."""
        text = " ".join(text.split())
        if cell_len(text) <= width:
            return text
        return set_cell_size(text, max(width - 1, 0)).rstrip() + ("…" if self.unicode else "~")

    def _with_matches(self, text: str, style: Style) -> Iterator[Segment]:
        end = 0
        for found in self.match.finditer(text) if self.match else ():
            yield Segment(text[end : found.start()], style)
            yield Segment(found[0], style + _BOLD)
            end = found.end()
        yield Segment(text[end:], style)
