"""What the browser asks of the chat it was opened from, and what its parts ask of the browser."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from textual.screen import Screen

from ollm_tui.core.errors import OllmError
from ollm_tui.core.session.message import Message
from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.tui.browser.session_actions import SessionActions
from ollm_tui.tui.browser.session_pane import SessionPane
from ollm_tui.tui.browser.session_preview import SessionPreview
from ollm_tui.tui.browser.session_tree import SessionTree
from ollm_tui.tui.browser.timeline_strip import TimelineStrip
from ollm_tui.tui.frame import Frame


class PointsPort(Protocol):
    """What the browser asks of the chat."""

    async def go_to(self, point: Point) -> None:
        """Opens a session, and sets it back to a point of it. OllmError if that fails."""
        ...

    async def begin_new(self) -> None:
        """Begins a new session."""
        ...

    def bring(self, messages: Sequence[Message], session_id: str) -> None:
        """Puts messages into the prompt."""
        ...

    def now(self) -> ContextSnapshot | None:
        """Returns the context of the open conversation, if anything was said."""
        ...


class BrowserPort(Protocol):
    """What the parts of the browser ask of its screen."""

    actions: SessionActions
    beside: PointsPort
    current: str | None
    """The session that is open in the chat."""
    marked: Point | None
    """The point that another one is to be compared with."""

    @property
    def app(self) -> Frame:
        """The program around it."""
        ...

    @property
    def screen(self) -> Screen[Any]:
        """The screen, for what only Textual can do: run a worker, close."""
        ...

    @property
    def pane(self) -> SessionPane:
        """The tree with the lines to find and to rename."""
        ...

    @property
    def session_tree(self) -> SessionTree:
        """The tree itself."""
        ...

    @property
    def preview(self) -> SessionPreview:
        """The preview of the highlighted point."""
        ...

    @property
    def timeline(self) -> TimelineStrip:
        """The timeline of the highlighted session."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether it can still be seen: while it closes, messages go on coming from its parts."""
        ...

    def say(self, text: str) -> None:
        """Shows a line in the place of the keys, until something else is highlighted."""
        ...

    def complain(self, error: OllmError) -> None:
        """Shows what did not work, and what to do."""
        ...

    def show_keys(self, about: str | None = None) -> None:
        """Shows the keys for what is highlighted now."""
        ...

    def leave(self, go: Callable[[], Awaitable[None]]) -> object:
        """Goes somewhere and closes; if that fails, says why and stays."""
        ...

    def carry_out(self, action: Callable[[], Awaitable[tuple[str, Point | None]]]) -> object:
        """Does something, shows everything as it is now, and says what was done."""
        ...
