"""What the search asks of the chat it was opened from, and what its parts ask of its screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from textual.screen import Screen

from ollm_tui.core.errors import OllmError
from ollm_tui.core.search import Overview, Results
from ollm_tui.core.session.message import Message
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.tui.frame import Frame
from ollm_tui.tui.search.hit_preview import HitPreview
from ollm_tui.tui.stream.transcript.spots import Words


class HitsPort(Protocol):
    """What the search asks of the chat."""

    async def open_at(self, point: Point, words: Words | None = None) -> None:
        """Opens a session at a message, with words marked. OllmError if that fails."""
        ...

    async def go_to(self, point: Point) -> None:
        """Sets a session back to a message. OllmError if that fails."""
        ...

    async def fork(self, point: Point) -> None:
        """Goes on from a message in a new session. OllmError if that fails."""
        ...

    def bring(self, messages: Sequence[Message], session_id: str) -> None:
        """Puts messages into the prompt."""
        ...

    async def ask_history(self, words: str) -> None:
        """Has the model answer from what was said before. OllmError if that fails."""
        ...


class SearchPort(Protocol):
    """What the parts of the search ask of its screen."""

    workspace: Workspace

    @property
    def app(self) -> Frame:
        """The program around it."""
        ...

    @property
    def screen(self) -> Screen[Any]:
        """The screen, for what only Textual can do: run a worker, close."""
        ...

    @property
    def text(self) -> str:
        """The words that are looked for, as they are typed."""
        ...

    @property
    def preview(self) -> HitPreview:
        """The conversation around the highlighted hit."""
        ...

    def show_results(self, results: Results, *, is_new: bool) -> None:
        """Shows what was found."""
        ...

    def show_overview(self, overview: Overview | None, took: str) -> None:
        """Shows how the hits lie in time, and how many there are."""
        ...

    def show_count(self, text: str) -> None:
        """Shows a text at the right of the words."""
        ...

    def show_notes(self, notes: Iterable[str]) -> None:
        """Shows what of the words is not understood."""
        ...

    def ask_to_send(self, host: str) -> None:
        """Asks whether another machine may get what was said, to find by meaning."""
        ...

    def say(self, text: str) -> None:
        """Shows a line in the place of the keys, until something else is highlighted."""
        ...

    def complain(self, error: OllmError) -> None:
        """Shows what did not work, and what to do."""
        ...
