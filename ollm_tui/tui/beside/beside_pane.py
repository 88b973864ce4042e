"""A session beside the one at hand: read-only, followed live, with keys to take from it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal

from rich.cells import cell_len, set_cell_size
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message as Told
from textual.widgets import Static

from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.session.titles import UNTITLED
from ollm_tui.services.sessions.following import Followed
from ollm_tui.tui.beside.words import HINTS, LIVE, READ_ONLY
from ollm_tui.tui.chat.followed_session import FollowedStream
from ollm_tui.tui.stream.transcript.entry import Entry
from ollm_tui.tui.stream.transcript.entry_layout import TranscriptStyles
from ollm_tui.tui.stream.transcript.transcript import Transcript

AROUND_FACTS = 4
"""Columns beside the facts in the title line: the space before them, and the padding."""
Taking = Literal["quote", "bring"]
"""Copy the words of messages into the prompt, or attach the messages with their attachments."""
Take = Callable[[Taking, Sequence[Message], str], None]
"""Gets what is to be taken, and the session it is from."""


class BesideStream(Transcript):
    """The messages of the other session, with their keys."""

    key_hints = HINTS
    BINDINGS = [
        Binding("q", "ask('quote')", "Quote", id="beside.quote", tooltip="Quote into the prompt"),
        Binding(
            "g", "ask('bring')", "Attach", id="beside.bring", tooltip="Attach the whole message"
        ),
        Binding("k,up", "step(-1)", "Up", id="beside.up", tooltip="Previous message"),
        Binding("j,down", "step(1)", "Down", id="beside.down", tooltip="Next message"),
        Binding(
            "K,shift+up", "extend(-1)", "Mark", id="beside.extend_up", tooltip="Extend selection up"
        ),
        Binding(
            "J,shift+down",
            "extend(1)",
            "Mark",
            id="beside.extend_down",
            tooltip="Extend selection down",
        ),
        Binding("space,enter", "unfold", "Open", id="beside.unfold", tooltip="Expand or collapse"),
        Binding("tab,i", "leave", "Prompt", id="beside.leave", tooltip="Back to the prompt"),
        Binding("escape", "close", "Close", id="beside.close", tooltip="Close this pane"),
    ]

    @dataclass
    class Asked(Told):
        """The messages under the cursor are to be taken."""

        taking: Taking
        keys: list[str]

    @dataclass
    class Left(Told):
        """The user goes back to the prompt, or closes the session."""

        closes: bool

    def on_focus(self, _event: events.Focus) -> None:
        """Put the cursor on the last message if it is on none."""
        self.aim(has_focus=True)  # Textual notes the focus after this

    def aim(self, *, has_focus: bool | None = None) -> None:
        """Have the keys mean a message, the last one, if they mean none and have the focus."""
        is_meant = self.has_focus if has_focus is None else has_focus
        if is_meant and self.cursor.key is None and self.keys:
            self.cursor.move_to(self.keys[-1])

    def on_blur(self, _event: events.Blur) -> None:
        """Take the cursor away: without the focus no message is meant."""
        self.cursor.move_to(None, reveal=False)

    def action_ask(self, taking: Taking) -> None:
        """Ask to take the messages under the cursor."""
        self.post_message(self.Asked(taking, self.cursor.keys))

    def action_step(self, step: int) -> None:
        """Move the cursor."""
        self.cursor.move(step)

    def action_extend(self, step: int) -> None:
        """Mark more messages, or fewer."""
        self.cursor.extend(step)

    def action_unfold(self) -> None:
        """Open or close what is folded."""
        if self.cursor.key:
            self.toggle_folds(self.cursor.key)

    def action_leave(self) -> None:
        """Go back to the prompt."""
        self.post_message(self.Left(closes=False))

    def action_close(self) -> None:
        """Close the session."""
        self.post_message(self.Left(closes=True))


class BesidePane(Vertical):
    """Shows a session and follows it until the pane is removed."""

    DEFAULT_CSS = """
    BesidePane {
        width: 1fr; height: 1fr; border-left: vkey $panel;
        & .beside-title {
            height: 1; padding: 0 1; color: $text-muted; background: $surface;
            text-wrap: nowrap; text-overflow: ellipsis;
        }
        & BesideStream {
            width: 1fr; height: 1fr; padding: 0 1; background: $background;
            scrollbar-size-vertical: 1; scrollbar-background: $background;
            scrollbar-color: $panel; scrollbar-color-active: $primary;
        }
        &:focus-within .beside-title { color: $primary; }
    }
    BesidePane.-below { border-left: none; border-top: hkey $panel; }
    """

    def __init__(
        self,
        session_id: str,
        changes: AsyncGenerator[Followed, None],
        looks: TranscriptStyles,
        take: Take,
        close: Callable[[bool], None],
        **options: Any,
    ) -> None:
        """`close` is called when the user leaves, with whether the pane is to be closed."""
        super().__init__(**options)
        self.session_id = session_id
        self.title = self._facts = ""
        self._changes = changes
        self._looks = looks
        self._take = take
        self._close = close
        self._state: SessionState | None = None

    def compose(self) -> ComposeResult:
        """Lay out the title and the messages."""
        yield Static(classes="beside-title", markup=False)
        yield BesideStream(self._looks)

    def on_mount(self) -> None:
        """Begin to follow."""
        self.run_worker(self._follow(), group="follow")

    @property
    def stream(self) -> BesideStream:
        """The messages."""
        return self.query_one(BesideStream)

    @on(BesideStream.Asked)
    def _hand_over(self, event: BesideStream.Asked) -> None:
        state = self._state
        found = [state[key] for key in event.keys if key in state] if state else []
        self._take(event.taking, found, self.session_id)

    @on(BesideStream.Left)
    def _leave(self, event: BesideStream.Left) -> None:
        self._close(event.closes)

    async def _follow(self) -> None:
        """Show every change of the session, until it cannot be read any more."""
        shown = FollowedStream(self.stream)
        try:
            async with aclosing(shown.show(self._changes)) as changes:
                async for followed in changes:
                    self._state = followed.state
                    self._show_title(followed)
                    self.stream.aim()  # the focus may have come before the messages
        except OllmError as error:
            text = error.lines
            self.stream.add(Entry("followed", "error", visible(text)))

    def _show_title(self, followed: Followed) -> None:
        self.title = visible(followed.state.header.title) or UNTITLED
        self._facts = LIVE if followed.is_held else READ_ONLY
        self.on_resize()

    def on_resize(self) -> None:
        """Shorten the title, and never what is said of it."""
        room, title = self.size.width - len(self._facts) - AROUND_FACTS, self.title
        if cell_len(title) > room:
            title = f"{set_cell_size(title, max(room - 1, 0)).rstrip()}…"
        line = Content.assemble((title, "bold"), f"  {self._facts}")
        self.query_one(".beside-title", Static).update(line)
