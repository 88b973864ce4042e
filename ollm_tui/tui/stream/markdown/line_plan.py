"""What a line of source means, as soon as its beginning leaves no other way to read it.

A line that could still become something else is undecided and is not shown yet:
a decision once made holds for whatever the line goes on with, so nothing is ever taken back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from ollm_tui.tui.stream.markdown.containers import (
    TAB_STOP,
    Container,
    Cursor,
    Item,
    Quote,
    enters,
    enters_quote,
)
from ollm_tui.tui.stream.markdown.syntax import LONGEST_START, html_end, is_ended_by_blank
from ollm_tui.tui.stream.markdown.table_layout import Alignment, read_alignments, split_row

DEEPEST = 24
"""How deep containers may be nested; further marks are text."""

_HEADING = re.compile(r"(#{1,6})(?:[ \t]+|$)")
_FENCE = re.compile(r"(`{3,}|~{3,})(.*)", re.DOTALL)
_MARKS_ONLY = re.compile(r"([-*_])[ \t]*(?:\1[ \t]*)*$")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*$")
_DELIMITER_ROW = re.compile(r"(?!- )[ \t|:-]+$")
_MARKER = re.compile(r"(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|$)")
_MARKER_BEGUN = re.compile(r"(?:[-+*]|\d{1,9}[.)]?)$")
_TASK = re.compile(r"\[([ xX])\][ \t]+(?=\S)")
_BRACKET_BEGUN = re.compile(r"\[[^\]]{0,60}(?:\][ \t]*)?$")


class Action(Enum):
    """What a line does once its containers are left and entered."""

    BLANK = auto()
    EMPTY_ITEM = auto()
    TEXT = auto()
    CONTINUE = auto()
    """One more line of the open paragraph, table, code or HTML."""
    HEADING = auto()
    UNDERLINE = auto()
    """Makes the open paragraph a heading."""
    RULE = auto()
    FENCE = auto()
    FENCE_END = auto()
    INDENTED = auto()
    HTML = auto()
    TABLE = auto()
    """Makes the last line of the open paragraph the head of a table."""


class Leaf(Enum):
    """The kind of block that is open for more lines."""

    NONE = auto()
    PARAGRAPH = auto()
    FENCE = auto()
    INDENTED = auto()
    HTML = auto()
    TABLE = auto()


@dataclass
class ReadingState:
    """All that the meaning of the next line depends on."""

    stack: list[Container] = field(default_factory=list[Container])
    leaf: Leaf = Leaf.NONE
    mark: str = ""
    """The fence that is open, or what ends the HTML that is open."""
    indent: int = 0
    """The columns by which the open fence is set in; its lines lose as many."""
    last_line: str = ""
    """The last line of the open paragraph, if it may be the head of a table."""


class Plan(NamedTuple):
    """What is to be done with a line."""

    action: Action
    keep: int
    """How many of the open containers the line is within."""
    opened: list[Container]
    """The containers that begin with the line."""
    rest: str = ""
    """The text of the line, without marks."""
    level: int = 0
    """The level of a heading, or the columns a fence is set in."""
    mark: str = ""
    """The fence, or what ends the HTML."""
    alignments: list[Alignment] | None = None


class _Undecided(Exception):
    """Raised while the meaning of a line depends on text that has not come."""


def plan_line(line: str, is_complete: bool, state: ReadingState) -> Plan | None:
    """Return what a line means; None while that depends on how it goes on."""
    try:
        return _Planning(line, is_complete, state).plan()
    except _Undecided:
        return None


class _Planning:
    """The reading of one line, from its left edge into the containers and blocks it belongs to."""

    def __init__(self, line: str, is_complete: bool, state: ReadingState) -> None:
        self.cursor = Cursor(line)
        self.is_complete = is_complete
        self.state = state
        self.opened: list[Container] = []
        self.keep = 0
        self.margin = 0
        """The column at which the text of the innermost container begins."""

    @property
    def is_within_all(self) -> bool:
        return self.keep == len(self.state.stack) and not self.opened

    @property
    def continues_paragraph(self) -> bool:
        return self.state.leaf is Leaf.PARAGRAPH and self.is_within_all

    def plan(self) -> Plan:
        for container in self.state.stack:
            if not enters(container, self.cursor):
                break
            self.keep += 1
        self.margin = self.cursor.column
        is_blank = self.cursor.is_at_end
        if is_blank:
            self.wait()
        if self.is_within_all and (within := self.within_leaf(is_blank)):
            return within
        if is_blank:
            return self.result(Action.BLANK)
        return self.new_block()

    def wait(self) -> None:
        """Give up for now, unless the line is complete."""
        if not self.is_complete:
            raise _Undecided

    def result(self, action: Action, rest: str = "", level: int = 0, mark: str = "") -> Plan:
        return Plan(action, self.keep, self.opened, rest, level, mark)

    def within_leaf(self, is_blank: bool) -> Plan | None:
        """Return the line as part of a block that takes lines as they are; None if it is not."""
        leaf, cursor = self.state.leaf, self.cursor
        if leaf is Leaf.FENCE:
            text = cursor.rest.strip(" \t")
            if text and not text.strip(self.state.mark[0]) and cursor.indent() < TAB_STOP:
                self.wait()
                if len(text) >= len(self.state.mark):
                    return self.result(Action.FENCE_END)
            cursor.skip(self.state.indent)
            return self.result(Action.CONTINUE, cursor.rest)
        if leaf is Leaf.HTML and not (is_blank and is_ended_by_blank(self.state.mark)):
            return self.result(Action.CONTINUE, cursor.rest)
        if leaf is Leaf.INDENTED and not is_blank and cursor.indent() >= TAB_STOP:
            cursor.skip(TAB_STOP)
            return self.result(Action.CONTINUE, cursor.rest)
        return None

    def new_block(self) -> Plan:
        while True:
            if self.cursor.is_at_end:
                self.wait()
                is_item = isinstance(self.opened[-1], Item)
                return self.result(Action.EMPTY_ITEM if is_item else Action.BLANK)
            if self.cursor.indent() >= TAB_STOP:
                return self.set_in()
            is_deepest = self.keep + len(self.opened) >= DEEPEST
            if not is_deepest and enters_quote(self.cursor):
                self.opened.append(Quote())
                self.margin = self.cursor.column
                continue
            self.cursor.skip(TAB_STOP)
            rest = self.cursor.rest
            if plan := self.leaf_block(rest):
                return plan
            if is_deepest or not self.enters_item(rest):
                return self.text(rest)

    def set_in(self) -> Plan:
        """Read a line set in by a tab stop or more: code, unless a paragraph goes on."""
        if self.state.leaf is Leaf.PARAGRAPH and not self.opened:
            return self.text(self.cursor.rest.lstrip(" \t"))
        self.cursor.skip(TAB_STOP)
        return self.result(Action.INDENTED, self.cursor.rest)

    def leaf_block(self, rest: str) -> Plan | None:
        match rest[0]:
            case "#":
                return self.heading(rest)
            case "`" | "~":
                return self.fence(rest)
            case "<":
                return self.html(rest)
            case "-" | "*" | "_" | "=" | "|" | ":":
                return self.marks(rest)
            case _:
                return None

    def heading(self, rest: str) -> Plan | None:
        found = _HEADING.match(rest)
        if not found:
            return None
        if found.end() == len(rest):
            self.wait()
        return self.result(Action.HEADING, rest[found.end() :], level=len(found[1]))

    def fence(self, rest: str) -> Plan | None:
        if rest in ("`", "``", "~", "~~"):
            self.wait()
        found = _FENCE.match(rest)
        if not found or len(rest) >= LONGEST_START or (rest[0] == "`" and "`" in found[2]):
            return None
        self.wait()
        indent = self.cursor.column - self.margin
        return self.result(Action.FENCE, found[2].strip(" \t"), indent, found[1])

    def html(self, rest: str) -> Plan | None:
        # A paragraph goes on within a list or quote it is lazy in, too.
        in_paragraph = self.state.leaf is Leaf.PARAGRAPH and not self.opened
        end = html_end(rest, self.is_complete, in_paragraph)
        if end is None:
            raise _Undecided
        indent = " " * (self.cursor.column - self.margin)
        return self.result(Action.HTML, indent + rest, mark=end) if end else None

    def marks(self, rest: str) -> Plan | None:
        """Read a line that may be nothing but marks: what it is shows only at its end."""
        if self.continues_paragraph:
            if "|" in self.state.last_line and _DELIMITER_ROW.match(rest):
                self.wait()
                alignments = read_alignments(rest)
                if alignments and len(alignments) == len(split_row(self.state.last_line)):
                    return Plan(Action.TABLE, self.keep, [], alignments=alignments)
            if _UNDERLINE.match(rest):
                self.wait()
                return self.result(Action.UNDERLINE, level=1 if rest[0] == "=" else 2)
        if _MARKS_ONLY.match(rest):
            self.wait()
            if rest.count(rest[0]) >= 3:
                return self.result(Action.RULE)
        return None

    def enters_item(self, rest: str) -> bool:
        """Whether a list item begins here; then the cursor is moved to its text."""
        if _MARKER_BEGUN.match(rest):
            self.wait()
        found = _MARKER.match(rest)
        if not found:
            return False
        is_empty = not rest[found.end() :].strip(" \t")
        if is_empty:
            self.wait()
        # So that a line of text may begin with a year: only a 1 begins a list within a paragraph.
        if self.continues_paragraph and (is_empty or (found[1] and int(found[1]) != 1)):
            return False
        indent = self.cursor.column - self.margin
        self.cursor.take(found.end())
        spaces = self.cursor.indent()
        # More spaces than a tab stop are indented code that begins after one of them.
        taken = 1 if is_empty or spaces > TAB_STOP else spaces
        self.cursor.skip(taken)
        number = int(found[1]) if found[1] else 0
        self.margin = self.cursor.column
        self.opened.append(Item(indent + found.end() + taken, found[0][-1], number))
        return True

    def text(self, rest: str) -> Plan:
        # A task box and a definition, which gets a line of its own, show at their end.
        if _BRACKET_BEGUN.match(rest):
            self.wait()
        if self.opened and isinstance(self.opened[-1], Item) and (task := _TASK.match(rest)):
            self.opened[-1].task = task[1]
            return self.result(Action.TEXT, rest[task.end() :])
        leaf = self.state.leaf
        if leaf is Leaf.PARAGRAPH and not self.opened:
            # Also when it left out the marks of its containers: it is lazy, not outside.
            self.keep = len(self.state.stack)
            return self.result(Action.CONTINUE, rest)
        if leaf is Leaf.TABLE and self.is_within_all:
            return self.result(Action.CONTINUE, rest)
        return self.result(Action.TEXT, rest)
