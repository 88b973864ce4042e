"""The sidebar of the chat screen: what its list asks for is done, and the list shown anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work

from ollm_tui.core.errors import OllmError
from ollm_tui.tui.browser.session_actions import SessionActions, Wanted
from ollm_tui.tui.browser.session_list import SessionList
from ollm_tui.tui.browser.sidebar import Sidebar
from ollm_tui.tui.browser.snapshot_choices import key_of
from ollm_tui.tui.chat.going_back import ChatPoints

if TYPE_CHECKING:
    from ollm_tui.tui.chat.screen import ChatScreen


class ChatSidebar(Sidebar):
    """Sessions beside the stream."""

    def __init__(self, chat: ChatScreen, actions: SessionActions, *, unicode: bool) -> None:
        super().__init__(unicode=unicode, id="sidebar")
        self._chat = chat
        self._actions = actions

    @work(exclusive=True, group="sessions")
    async def reload(self, highlight: str | None = None) -> None:
        """Read the list again."""
        await self._show(highlight)

    @on(SessionList.Opened)
    async def open(self, event: SessionList.Opened) -> None:
        """Open a session in the place of the one that is shown, or go back to a snapshot."""
        await self._chat.attempt(lambda: ChatPoints(self._chat).go_to(event.point))
        self._chat.prompt.focus()

    @on(SessionList.NewWanted)
    async def begin_new(self) -> None:
        """Begin a new session."""
        await self._chat.action_command("session.new")

    @on(SessionList.RenameWanted)
    @on(SessionList.PinWanted)
    @on(SessionList.DeleteWanted)
    @on(SessionList.ForkWanted)
    @on(SessionList.UndoWanted)
    @work(group="session-action")
    async def carry_out(self, wanted: Wanted) -> None:
        """Do something with a session, show the list as it is now, and say what was done."""
        try:
            done = await self._actions.carry_out(wanted)
        except OllmError as error:
            self.tell(f"{error.message}: {error.hint}" if error.hint else error.message)
            return
        await self._show(key_of(done.point) if done.point else None)
        self._chat.lines.show_facts()
        self.call_later(self.tell, done.words)

    async def _show(self, highlight: str | None) -> None:
        try:
            summaries = await self._chat.app.workspace.sessions()
            conversation = self._chat.app.conversation
            snapshots = await conversation.snapshots.list() if conversation else []
        except OllmError as error:
            self.tell(error.message)
            return
        current = conversation.session_id if conversation else None
        shown = [each for each in summaries if not each.archived or each.session_id == current]
        self.show_sessions(shown, current, highlight, snapshots)
