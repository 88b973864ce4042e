"""What holds other blocks: quotes and list items, and how a line says that it is within them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rich.segment import Segment

from ollm_tui.tui.stream.markdown.page import Indent
from ollm_tui.tui.stream.markdown.styles import MarkdownStyles

TAB_STOP = 4
"""Columns; text set in as far as this is code."""
BULLETS = "•◦▪"
_SPACE = re.compile(r"[ \t]*")


class Cursor:
    """A position in a line of source, in characters and in columns: a tab may be half used up."""

    __slots__ = ("_in_tab", "at", "column", "line")

    def __init__(self, line: str) -> None:
        self.line = line
        self.at = 0
        self.column = 0
        self._in_tab = False

    @property
    def rest(self) -> str:
        """What is left of the line; what is left of a tab is spaces."""
        if self._in_tab:
            return " " * _to_tab_stop(self.column) + self.line[self.at + 1 :]
        return self.line[self.at :] if self.at else self.line

    @property
    def is_at_end(self) -> bool:
        """Whether only white space is left."""
        return _space_end(self.line, self.at) == len(self.line)

    def indent(self) -> int:
        """How many columns of white space come next."""
        column = self.column
        for character in self.line[self.at : _space_end(self.line, self.at)]:
            column += _to_tab_stop(column) if character == "\t" else 1
        return column - self.column

    def skip(self, columns: int) -> None:
        """Pass over that many columns of white space, or as many as there are."""
        while columns > 0 and self.at < len(self.line):
            character = self.line[self.at]
            if character not in " \t":
                return
            size = _to_tab_stop(self.column) if character == "\t" else 1
            self.column += min(size, columns)
            self._in_tab = size > columns
            if not self._in_tab:
                self.at += 1
            columns -= size

    def take(self, characters: int) -> None:
        """Pass over characters that are not white space."""
        self.at += characters
        self.column += characters


@dataclass(frozen=True)
class Quote:
    """A block quote: `>` before every line."""


@dataclass
class Item:
    """A list item: the columns its text is set in, and what marks it."""

    indent: int
    kind: str
    """`-`, `+` or `*`, or the `.` or `)` after a number: items of one list have the same."""
    number: int = 0
    task: str = ""
    """The character between the brackets of a task."""
    has_content: bool = False
    """Whether a block has begun in it."""
    is_marked: bool = False
    """Whether a block with its mark has been drawn."""

    @property
    def is_ordered(self) -> bool:
        """Whether the item has a number."""
        return self.kind in ".)"


Container = Quote | Item


def enters(container: Container, cursor: Cursor) -> bool:
    """Whether a line goes on within a container; then the cursor is moved into it."""
    if isinstance(container, Quote):
        return enters_quote(cursor)
    if cursor.is_at_end:
        # An item without text on its first line is ended by a blank line.
        return container.has_content
    if cursor.indent() < container.indent:
        return False
    cursor.skip(container.indent)
    return True


def enters_quote(cursor: Cursor) -> bool:
    """Whether `>` comes next; then it and one space after it are passed over."""
    indent = cursor.indent()
    mark = _space_end(cursor.line, cursor.at)
    if indent >= TAB_STOP or cursor.line[mark : mark + 1] != ">":
        return False
    cursor.skip(indent)
    cursor.take(1)
    cursor.skip(1)
    return True


def drawn_indent(container: Container, depth: int, styles: MarkdownStyles) -> Indent:
    """Return what a container puts before its lines; `depth` is how many lists it is within."""
    if isinstance(container, Quote):
        bar = Segment("▎ ", styles.quote_bar)
        return Indent(bar, bar, copied=False)
    if container.task:
        is_done = container.task in "xX"
        style = styles.task_done if is_done else styles.task_open
        mark = Segment(" ☑ " if is_done else " ☐ ", style)
    elif container.is_ordered:
        mark = Segment(f"{container.number:>2}{container.kind} ", styles.bullet)
    else:
        mark = Segment(f" {BULLETS[depth % len(BULLETS)]} ", styles.bullet)
    blank = Segment(" " * len(mark.text), styles.text)
    return Indent(blank if container.is_marked else mark, blank, copied=True)


def _to_tab_stop(column: int) -> int:
    return TAB_STOP - column % TAB_STOP


def _space_end(line: str, at: int) -> int:
    found = _SPACE.match(line, at)
    return found.end() if found else at
