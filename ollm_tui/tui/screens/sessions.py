"""The session picker: find, look into, open, rename, pin, fork, delete and bring back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.screen import Screen

from ollm_tui.core.errors import OllmError
from ollm_tui.tui.session_actions import SessionActions, Wanted
from ollm_tui.tui.widgets.choice_list import ChoiceList
from ollm_tui.tui.widgets.live_keys import LiveKeys
from ollm_tui.tui.widgets.session_list import SessionList
from ollm_tui.tui.widgets.session_pane import KEYS, SessionPane
from ollm_tui.tui.widgets.session_preview import SessionPreview

if TYPE_CHECKING:
    from ollm_tui.tui.app import OllmApp

NEW_SESSION = ""
"""What the picker gives when a new session is wanted."""
REST_SECONDS = 0.05
"""A session is read when the highlight rests on it, not while it passes."""
WIDE = 90
WORDS: Mapping[str, str] = {
    **dict(KEYS),
    "sessions.list": "list: rename, pin, fork, delete",
    "sessions.find": "find",
    "sessions.close": "close",
}
"""Here is room for more words than beside the chat."""


class SessionPicker(Screen[str | None]):
    """Gives the id of the session to open, NEW_SESSION, or None to stay where you are."""

    CSS_PATH = "sessions.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]
    BINDINGS = [
        Binding(
            "escape,f3,ctrl+s", "close", "Close", id="sessions.close", tooltip="Back to the chat"
        ),
    ]

    app: OllmApp

    def __init__(self, actions: SessionActions, current: str | None = None) -> None:
        super().__init__()
        self._actions = actions
        self._current = current

    def compose(self) -> ComposeResult:
        """The list on the left, a look into the highlighted session on the right."""
        with Horizontal():
            yield SessionPane(always_finding=True, unicode=not self.app.has_class("-ascii"))
            yield SessionPreview(self.app.transcript_styles)
        yield LiveKeys()

    def on_mount(self) -> None:
        """Typing finds at once; the list comes as soon as it is read."""
        self._pane.begin()
        self.load(self._current)

    def action_close(self) -> None:
        """Stay where you are."""
        self.dismiss(None)

    # What the list asks for

    @on(SessionList.Opened)
    def open(self, event: SessionList.Opened) -> None:
        """Close with the session to open."""
        self.dismiss(event.session_id)

    @on(SessionList.NewWanted)
    def begin_new(self) -> None:
        """Close; a new session begins."""
        self.dismiss(NEW_SESSION)

    @on(SessionList.RenameWanted)
    @on(SessionList.PinWanted)
    @on(SessionList.DeleteWanted)
    @on(SessionList.ForkWanted)
    @on(SessionList.UndoWanted)
    @work(group="actions")
    async def carry_out(self, wanted: Wanted) -> None:
        """Do something with a session, show the list as it is now, and say what was done."""
        try:
            done = await self._actions.carry_out(wanted)
        except OllmError as error:
            self._say(f"{error.message}: {error.hint}" if error.hint else error.message)
            return
        await self._show_sessions(done.session_id)
        self._say(done.words)

    # What is shown

    @work(group="actions")
    async def load(self, highlight: str | None) -> None:
        """Read the list for the first time."""
        try:
            await self._show_sessions(highlight)
        except OllmError as error:
            self._say(_line(error))

    @on(ChoiceList.Highlighted)
    def look_into(self) -> None:
        """Show what is highlighted; its words when it has been read."""
        session = self._pane.session_list.session
        self.query_one(SessionPreview).show(session)
        self._keys.show(*WORDS.items(), about=self._highlighted_key)
        self.read(session.session_id if session else None)

    @work(exclusive=True, group="preview")
    async def read(self, session_id: str | None) -> None:
        """Read a session once the highlight rests on it."""
        preview = self.query_one(SessionPreview)
        if session_id is None:
            preview.show_messages(())
            return
        await asyncio.sleep(REST_SECONDS)
        try:
            preview.show_messages(await self._actions.workspace.read(session_id))
        except OllmError as error:
            preview.show_problem(f"{error.message}\n{error.hint}".strip())

    @on(SessionPane.Narrowed)
    def show_keys(self) -> None:
        """Other keys matter now."""
        self._keys.show(*WORDS.items())

    def on_descendant_focus(self) -> None:
        """Another part has the focus."""
        self.show_keys()

    async def _show_sessions(self, highlight: str | None) -> None:
        summaries = await self._actions.workspace.sessions()
        self._pane.show_sessions(summaries, self._current, highlight)

    def _say(self, text: str) -> None:
        self._keys.say(text, self._highlighted_key)

    @property
    def _highlighted_key(self) -> str:
        highlighted = self._pane.session_list.highlighted
        return highlighted.key if highlighted else ""

    @property
    def _keys(self) -> LiveKeys:
        return self.query_one(LiveKeys)

    @property
    def _pane(self) -> SessionPane:
        return self.query_one(SessionPane)


def _line(error: OllmError) -> str:
    return f"{error.message}: {error.hint}" if error.hint else error.message
