"""All open conversations of a chat screen, in the order they were opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_tui.tui.chat.open_chat import OpenChat
from ollm_tui.tui.conversations.standing import Standing, State

if TYPE_CHECKING:
    from ollm_tui.engine.conversation.conversation import Conversation


class OpenChats:
    """Knows the open conversations, and which one was shown before. One that another window has
    open is not one of them."""

    def __init__(self) -> None:
        self._chats: list[OpenChat] = []
        self._last: str | None = None
        """The session that was shown before."""
        self._known: dict[OpenChat, State] = {}

    @property
    def conversations(self) -> list[Conversation]:
        """The conversations themselves."""
        return [chat.opened for chat in self._chats if chat.opened]

    def others(self, chat: OpenChat) -> list[OpenChat]:
        """Return all but one."""
        return [each for each in self._chats if each is not chat]

    def find(self, session_id: str) -> OpenChat | None:
        """Return the open conversation of a session; None if it is not open."""
        return next(
            (each for each in self._chats if each.opened and each.opened.session_id == session_id),
            None,
        )

    def bring(self, left: OpenChat, shown: OpenChat) -> None:
        """Note that a conversation, maybe a new one, is shown in the place of another. A new one
        gets the number of one that may be closed now: the others keep theirs."""
        if left.opened and left in self._chats:
            self._last = left.opened.session_id
        if shown.opened and shown not in self._chats:
            self._chats = [each for each in self._chats if each.opened is not shown.opened]
            takes_place = left in self._chats and left.is_at_rest
            at = self._chats.index(left) if takes_place else len(self._chats)
            self._chats.insert(at, shown)

    def remove(self, chat: OpenChat) -> None:
        """Forget a conversation."""
        if chat in self._chats:
            self._chats.remove(chat)
        self._known.pop(chat, None)
        opened = chat.opened
        if opened and opened.session_id == self._last and not len(opened.state):
            self._last = None  # nothing of it was ever kept

    def before(self, chat: OpenChat) -> str | None:
        """Return the session that was shown before, open or not; None if there was none."""
        is_this = chat.opened and chat.opened.session_id == self._last
        return None if is_this else self._last

    def number(self, chat: OpenChat) -> int:
        """Return which of the open ones a conversation is, from 1 on."""
        return self._chats.index(chat) + 1

    def has_news(self, chat: OpenChat) -> bool:
        """Whether a conversation stands differently since this was last asked."""
        is_new = self._known.get(chat) != chat.state
        self._known[chat] = chat.state
        return is_new

    def standings(self, shown: OpenChat) -> list[Standing]:
        """Tell how each one stands."""
        return [
            Standing(chat.opened.session_id, chat.title, number, chat.state, chat is shown)
            for number, chat in enumerate(self._chats, 1)
            if chat.opened
        ]
