"""The difference of two answers, sentence by sentence."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from difflib import unified_diff
from typing import NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from ollm_tui.core.intake import visible
from ollm_tui.tui.compare.words import DIFF_KEYS, SAME
from ollm_tui.tui.kit.diff_lines import DiffLines, TonedLine, diff_lines
from ollm_tui.tui.kit.live_keys import LiveKeys
from ollm_tui.tui.kit.reading_screen import ReadingScreen

_SENTENCE_END = re.compile(r"(?<=[.!?])[ \t]+(?=\S)")
"""Paragraphs are one long line each: without this, one other word would make all of it differ."""


class Side(NamedTuple):
    """One answer and the name of its model."""

    name: str
    text: str


def answer_diff(left: str, right: str) -> list[TonedLine]:
    """Return what differs between two answers, with all that is the same between; empty if they
    say the same."""
    before, after = _sentences(left), _sentences(right)
    lines = list(unified_diff(before, after, lineterm="", n=len(before) + len(after)))
    # Of three lines of head the last numbers the lines, and all of them are shown.
    return list(diff_lines("\n".join(lines[3:]))) if lines else []


def _sentences(text: str) -> list[str]:
    return [part for line in text.splitlines() for part in _SENTENCE_END.split(line)]


class AnswerDiffScreen(ReadingScreen):
    """Shows what another answer says otherwise than the first one."""

    PAGE = DiffLines
    AUTO_FOCUS = ""
    CSS_PATH = "screen.tcss"
    BINDINGS = [
        Binding("escape,q,d", "close", "Close", id="answer_diff.close", tooltip="Back"),
        Binding("n,right", "next", "Next", id="answer_diff.next", tooltip="Next answer"),
        Binding("j,down", "scroll(1)", "Down", id="answer_diff.down", tooltip="Scroll down"),
        Binding("k,up", "scroll(-1)", "Up", id="answer_diff.up", tooltip="Scroll up"),
        Binding(
            "pagedown,space",
            "page(1)",
            "Page down",
            id="answer_diff.page_down",
            tooltip="Scroll a page down",
        ),
        Binding(
            "pageup", "page(-1)", "Page up", id="answer_diff.page_up", tooltip="Scroll a page up"
        ),
        Binding("g,home", "edge(0)", "Top", id="answer_diff.top", tooltip="Go to the top"),
        Binding("G,end", "edge(1)", "End", id="answer_diff.end", tooltip="Go to the bottom"),
    ]

    def __init__(self, first: Side, others: Sequence[Side]) -> None:
        super().__init__()
        self._first = first
        self._others = others
        self._at = 0

    def compose(self) -> ComposeResult:
        """Lay out the names, the lines and the keys."""
        yield Static(id="heading", markup=False)
        yield DiffLines(is_prose=True)
        yield LiveKeys()

    def on_mount(self) -> None:
        """Show the first difference."""
        self.call_after_refresh(self._show)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer another answer only where there is one."""
        return action != "next" or len(self._others) > 1

    def action_next(self) -> None:
        """Compare with the next of the other answers."""
        self._at = (self._at + 1) % len(self._others)
        self._show()

    def _show(self) -> None:
        self.query_one(LiveKeys).show(*DIFF_KEYS)
        self.run_worker(self._compare(self._others[self._at]), exclusive=True)

    async def _compare(self, other: Side) -> None:
        heading = Content.assemble(
            (f"− {visible(self._first.name)}", "$text-error"),
            "   ",
            (f"+ {visible(other.name)}", "$text-success"),
        )
        self.query_one("#heading", Static).update(heading)
        # In a thread: two long answers take a while.
        lines = await asyncio.to_thread(answer_diff, self._first.text, other.text)
        self.query_one(DiffLines).show(lines or [TonedLine(SAME, "quiet")])
