"""The queue of messages that wait until the model is free, shown above the prompt."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from ollm_tui.tui.chat.words import HELD_QUEUE_KEYS, QUEUE_KEYS
from ollm_tui.tui.prompt.prompt import Prompt

MOST_LINES = 3
"""Messages that are shown; the others are only counted."""


class MessageQueue(Static):
    """Shows messages in the order they will be sent; takes no room while there are none."""

    DEFAULT_CSS = """
    MessageQueue {
        display: none; height: auto; padding: 0 1;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    @dataclass
    class Changed(Message):
        """The number of waiting messages changed."""

        count: int

    def __init__(self) -> None:
        super().__init__(id="waiting")
        self._sent: deque[Prompt.Sent] = deque()
        self._is_held = False

    def hold(self, is_held: bool) -> None:
        """Show whether the messages wait for the user, or only for the model."""
        if is_held != self._is_held:
            self._is_held = is_held
            self._show()

    @property
    def count(self) -> int:
        """How many messages wait."""
        return len(self._sent)

    def add(self, sent: Prompt.Sent) -> None:
        """Put a message at the end of the queue."""
        self._sent.append(sent)
        self._show()

    def take(self) -> Prompt.Sent | None:
        """Remove the next message and return it; None if none waits."""
        return self._removed(self._sent.popleft() if self._sent else None)

    def take_back(self) -> Prompt.Sent | None:
        """Remove the last message and return it, to be edited; None if none waits."""
        return self._removed(self._sent.pop() if self._sent else None)

    def clear(self) -> list[Prompt.Sent]:
        """Remove all messages and return them."""
        sent = list(self._sent)
        self._sent.clear()
        self._show()
        return sent

    def _removed(self, sent: Prompt.Sent | None) -> Prompt.Sent | None:
        if sent:
            self._show()
        return sent

    def _show(self) -> None:
        self.display = bool(self._sent)
        lines = [_line(sent, is_next=at == 0) for at, sent in enumerate(self._sent)]
        more = len(lines) - MOST_LINES
        keys = HELD_QUEUE_KEYS if self._is_held else QUEUE_KEYS
        notes = (f"and {more} more", keys) if more > 0 else (keys,)
        muted = (Content.styled(f"      {note}", "$text-muted") for note in notes)
        shown = (*lines[:MOST_LINES], *muted)
        self.update(Content("\n").join(shown))
        self.post_message(self.Changed(self.count))


def _line(sent: Prompt.Sent, *, is_next: bool) -> Content:
    names = " ".join(f"[{attachment.name}]" for attachment in sent.attachments)
    words = " ".join((sent.text.strip() or names).split())
    return Content.assemble(("next  " if is_next else "      ", "$accent"), (words, "$foreground"))
