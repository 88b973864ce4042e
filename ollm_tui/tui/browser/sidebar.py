"""The sessions beside the chat: a list, the keys for it, and a line to find by when asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from textual import on, work
from textual.app import ComposeResult

from ollm_tui.core.errors import OllmError
from ollm_tui.core.session.session import SessionSummary
from ollm_tui.core.snapshot import SnapshotSummary
from ollm_tui.tui.browser.browser_reading import SEEN_FIRST
from ollm_tui.tui.browser.session_actions import SessionActions, SessionRequest
from ollm_tui.tui.browser.session_list import SessionList
from ollm_tui.tui.browser.session_pane import SessionPane
from ollm_tui.tui.browser.snapshot_choices import key_of
from ollm_tui.tui.chat.chat_points import ChatPoints
from ollm_tui.tui.chat.port import ChatPort
from ollm_tui.tui.kit.choice_list import ChoiceList
from ollm_tui.tui.kit.live_keys import LiveKeys


class Sidebar(SessionPane):
    """A narrow `SessionPane`: it posts the messages of `SessionList` and changes nothing itself."""

    DEFAULT_CSS = """
    Sidebar {
        width: 30; height: 1fr; border-right: solid $panel;
        LiveKeys { padding: 1 1 0 1; display: none; height: 2; }
        &.-told LiveKeys { height: auto; }
        &.-active LiveKeys, &.-told LiveKeys { display: block; }
    }
    .-ascii Sidebar { border-right: ascii $panel; }
    """

    def compose(self) -> ComposeResult:
        """Lay out the pane, and the keys at the bottom, which are seen while they matter."""
        yield from super().compose()
        yield LiveKeys()

    def tell(self, text: str) -> None:
        """Show what was done, until the highlight moves."""
        self.query_one(LiveKeys).say(text, self.session_list.highlighted_key)
        self.add_class("-told")

    @on(ChoiceList.Highlighted)
    def show_keys_of_line(self) -> None:
        """Show what can be done with the highlighted line; a text about it stays."""
        keys = self.query_one(LiveKeys)
        keys.show(*self.keys, about=self.session_list.highlighted_key)
        self.set_class(bool(keys.told[0]), "-told")

    @on(SessionPane.Narrowed)
    def show_keys(self) -> None:
        """Show the keys that matter now, in place of any text."""
        self.query_one(LiveKeys).show(*self.keys)
        self.remove_class("-told")

    def on_descendant_focus(self) -> None:
        """Show the keys while a part of the sidebar has the focus."""
        self.add_class("-active")
        self.show_keys()

    def on_descendant_blur(self) -> None:
        """Hide the keys when the focus leaves the sidebar."""
        self.set_class(self.has_focus_within, "-active")


class Shown(NamedTuple):
    """What was read for the list."""

    summaries: Sequence[SessionSummary]
    current: str | None
    snapshots: Sequence[SnapshotSummary]


class ChatSidebar(Sidebar):
    """The sidebar of the chat: reads the sessions and carries out what the list asks for."""

    def __init__(
        self, front: Callable[[], ChatPort], actions: SessionActions, *, unicode: bool
    ) -> None:
        """`front` gives the chat that is shown now: the sidebar outlives a conversation."""
        super().__init__(unicode=unicode, id="sidebar")
        self._front = front
        self._actions = actions
        self._was_shown = False
        self._shown: Shown | None = None

    @work(exclusive=True, group="sessions")
    async def reload(self, highlight: str | None = None) -> None:
        """Read the list again."""
        await self._show(highlight)

    @on(SessionList.Opened)
    async def open(self, event: SessionList.Opened) -> None:
        """Open a session in the place of the one that is shown, or go back to a snapshot."""
        chat = self._front()
        await chat.attempt(lambda: ChatPoints(chat).go_to(event.point))
        chat.prompt.focus()

    @on(SessionList.NewRequested)
    async def begin_new(self) -> None:
        """Begin a new session."""
        await self._front().command("session.new")

    @on(SessionList.RenameRequested)
    @on(SessionList.PinRequested)
    @on(SessionList.DeleteRequested)
    @on(SessionList.ForkRequested)
    @on(SessionList.UndoRequested)
    @work(group="session-action")
    async def carry_out(self, wanted: SessionRequest) -> None:
        """Do something with a session, show the list as it is now, and say what was done."""
        try:
            done = await self._actions.carry_out(wanted)
        except OllmError as error:
            self.tell(error.line)
            return
        await self._show(key_of(done.point) if done.point else None)
        self._front().lines.show_facts()
        # After the messages of the new list: a highlight that moves takes the text away.
        self.call_later(self.tell, done.words)

    async def _show(self, highlight: str | None) -> None:
        workspace = self._front().app.workspace
        try:
            if not self._was_shown and (known := await workspace.known_sessions(SEEN_FIRST)):
                await self._show_these(known, highlight)
            await self._show_these(await workspace.sessions(), highlight)
        except OllmError as error:
            self.tell(error.message)

    async def _show_these(self, summaries: Sequence[SessionSummary], highlight: str | None) -> None:
        conversation = self._front().opened
        snapshots = await conversation.snapshots.list() if conversation else []
        current = conversation.session_id if conversation else None
        shown = [each for each in summaries if not each.archived or each.session_id == current]
        if self._shown and self._shown.current != current and not self.has_focus_within:
            self.session_list.forget_highlight()
        self._shown = Shown(shown, current, snapshots)
        self._was_shown = True
        self.show_standings(highlight)

    def show_standings(self, highlight: str | None = None) -> None:
        """Show what goes on in the open sessions; nothing is read again."""
        if (shown := self._shown) and self.query(SessionList):  # else the program is ending
            open_ones = self._front().standings()
            self.show_sessions(
                shown.summaries, shown.current, highlight, shown.snapshots, open_ones
            )
