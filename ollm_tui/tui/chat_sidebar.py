"""The sidebar of the chat screen: what its list asks for is done, and the list shown anew."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from textual import on, work

from ollm_tui.core.errors import OllmError
from ollm_tui.tui.session_actions import SessionActions
from ollm_tui.tui.widgets.session_list import SessionList
from ollm_tui.tui.widgets.sidebar import Sidebar

if TYPE_CHECKING:
    from ollm_tui.tui.screens.chat import ChatScreen


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
        """Open a session in the place of the one that is shown."""
        await self._chat.attempt(lambda: self._chat.open_session(event.session_id))

    @on(SessionList.NewWanted)
    async def begin_new(self) -> None:
        """Begin a new session."""
        await self._chat.action_command("session.new")

    @on(SessionList.RenameWanted)
    def rename(self, event: SessionList.RenameWanted) -> None:
        """Give a title."""
        self.carry_out(self._actions.rename(event))

    @on(SessionList.PinWanted)
    def pin(self, event: SessionList.PinWanted) -> None:
        """Pin, or no longer."""
        self.carry_out(self._actions.pin(event))

    @on(SessionList.DeleteWanted)
    def delete(self, event: SessionList.DeleteWanted) -> None:
        """To the trash."""
        self.carry_out(self._actions.delete(event))

    @on(SessionList.ForkWanted)
    def fork(self, event: SessionList.ForkWanted) -> None:
        """Copy, and stand on the copy."""
        self.carry_out(self._actions.fork(event))

    @on(SessionList.UndoWanted)
    def undo(self) -> None:
        """Bring back, and stand on it."""
        self.carry_out(self._actions.undo())

    @work(group="session-action")
    async def carry_out(self, action: Awaitable[str | tuple[str, str]]) -> None:
        """Do something with a session, show the list as it is now, and say what was done."""
        try:
            done = await action
        except OllmError as error:
            self.tell(f"{error.message}: {error.hint}" if error.hint else error.message)
            return
        text, session_id = (done, None) if isinstance(done, str) else done
        await self._show(session_id)
        self._chat.lines.show_facts()
        self.call_later(self.tell, text)

    async def _show(self, highlight: str | None) -> None:
        try:
            summaries = await self._chat.app.workspace.sessions()
        except OllmError as error:
            self.tell(error.message)
            return
        conversation = self._chat.app.conversation
        self.show_sessions(summaries, conversation and conversation.session_id, highlight)
