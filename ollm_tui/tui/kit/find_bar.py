"""The bar to search within the conversation; hidden while nothing is searched for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import Worker

from ollm_tui.tui.kit.line_input import LineInput
from ollm_tui.tui.stream.transcript.transcript import Transcript

KEYS = "↑↓ matches   Enter go there   Esc close"


class FindBar(Horizontal):
    """An input for words and the number of their hits in a transcript."""

    BINDINGS = [
        Binding("escape", "close", "Close", id="find.close", tooltip="Back to the prompt"),
        Binding("down,ctrl+n", "go(1)", "Next", id="find.next", tooltip="Next match"),
        Binding("up", "go(-1)", "Previous", id="find.before", tooltip="Previous match"),
    ]

    @dataclass
    class Closed(Message):
        """The search was closed."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(id="find")
        self._transcript = transcript
        self._search: Iterator[None] | None = None
        """The search that is under way, to go on with."""
        self._worker: Worker[None] | None = None
        """What goes on with it."""

    def compose(self) -> ComposeResult:
        """Show the input, then the count."""
        yield Static("Find", id="find-label", markup=False)
        yield LineInput(placeholder="Find in this conversation")
        yield Static(KEYS, id="find-count", markup=False)

    def open(self, words: str) -> None:
        """Show the bar, ready to type; without new words it keeps the old ones."""
        self.display = True
        line = self.query_one(LineInput)
        if words:
            line.value = words
        line.action_select_all()
        line.focus()
        self._look_for(line.value)

    def action_close(self) -> None:
        """Hide the bar and forget the hits."""
        self.display = False
        self._stop()
        self._transcript.finder.clear()
        self.post_message(self.Closed())

    def leave(self) -> None:
        """Close the bar with the conversation it was opened in."""
        if self.display:
            self.action_close()

    def action_go(self, step: int) -> None:
        """Go to another hit; the focus stays in the bar."""
        self._finish()
        self._transcript.finder.go(step)
        self._show_count()

    @on(Input.Changed)
    def look_again(self, event: Input.Changed) -> None:
        """Search again with every key."""
        event.stop()
        self._look_for(event.value)

    @on(Input.Submitted)
    def read_there(self, event: Input.Submitted) -> None:
        """Move the focus to the hit in the stream, where n and N go on with the same words."""
        event.stop()
        self._finish()
        if self._transcript.finder.position[1]:
            self.display = False
            self._transcript.cursor.move_to(self._transcript.finder.key, reveal=False)
            self._transcript.focus()

    def _look_for(self, words: str) -> None:
        """Search a few entries at once, and thousands while other keys are handled."""
        self._stop()
        search = self._search = self._transcript.finder.searching(words)
        for _ in search:
            self._worker = self.run_worker(partial(self._go_on, search))
            return
        self._arrive()

    async def _go_on(self, search: Iterator[None]) -> None:
        for _ in search:
            await asyncio.sleep(0)
        self._arrive()

    def _stop(self) -> None:
        if self._worker:
            self._worker.cancel()
        self._search = self._worker = None

    def _finish(self) -> None:
        """Search the rest at once: a hit is wanted now."""
        if search := self._search:
            self._stop()
            for _ in search:
                pass
            self._arrive()

    def _arrive(self) -> None:
        """Go to the nearest hit; upwards, since the view is mostly at the end."""
        self._search = self._worker = None
        self._transcript.finder.go(-1)
        self._show_count()

    def _show_count(self) -> None:
        number, total = self._transcript.finder.position
        count = f"{number:,} of {total:,}" if total else "No matches"
        text = f"{count}   {KEYS}" if self.query_one(LineInput).value else KEYS
        self.query_one("#find-count", Static).update(Content(text))
