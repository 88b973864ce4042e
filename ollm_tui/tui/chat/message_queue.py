"""The queue of messages that wait until the model is free, shown above the prompt."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from ollm_tui.tui.chat.words import HELD_QUEUE_KEYS, QUEUE_KEYS
from ollm_tui.tui.prompt.prompt import Prompt

MOST_LINES = 3
"""Messages that are shown; the others are only counted."""


class WaitingMessages:
    """The messages of one conversation that wait, in the order they will be sent."""

    def __init__(self) -> None:
        self._sent: deque[Prompt.Sent] = deque()
        self.is_held = False
        """Whether they wait for the user, not only for the model."""
        self.changed: Callable[[], None] | None = None
        """Called after every change, by whoever shows them."""

    def __iter__(self) -> Iterator[Prompt.Sent]:
        return iter(self._sent)

    @property
    def count(self) -> int:
        """How many messages wait."""
        return len(self._sent)

    def hold(self, is_held: bool) -> None:
        """Note whether the messages wait for the user."""
        if is_held != self.is_held:
            self.is_held = is_held
            self._tell()

    def add(self, sent: Prompt.Sent) -> None:
        """Put a message at the end of the queue."""
        self._sent.append(sent)
        self._tell()

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
        self._tell()
        return sent

    def _removed(self, sent: Prompt.Sent | None) -> Prompt.Sent | None:
        if sent:
            self._tell()
        return sent

    def _tell(self) -> None:
        if self.changed:
            self.changed()


class MessageQueue(Static):
    """Shows waiting messages; takes no room while there are none."""

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
        self.messages = WaitingMessages()
        self.messages.changed = self._show

    def follow(self, messages: WaitingMessages) -> None:
        """Show the messages of another conversation from now on."""
        self.messages.changed = None
        self.messages = messages
        messages.changed = self._show
        self._show()

    def _show(self) -> None:
        self.display = bool(self.messages.count)
        lines = [_line(sent, is_next=at == 0) for at, sent in enumerate(self.messages)]
        more = len(lines) - MOST_LINES
        keys = HELD_QUEUE_KEYS if self.messages.is_held else QUEUE_KEYS
        notes = (f"and {more} more", keys) if more > 0 else (keys,)
        muted = (Content.styled(f"      {note}", "$text-muted") for note in notes)
        shown = (*lines[:MOST_LINES], *muted)
        self.update(Content("\n").join(shown))
        self.post_message(self.Changed(self.messages.count))


def _line(sent: Prompt.Sent, *, is_next: bool) -> Content:
    names = " ".join(f"[{attachment.name}]" for attachment in sent.attachments)
    words = " ".join((sent.text.strip() or names).split())
    return Content.assemble(("next  " if is_next else "      ", "$accent"), (words, "$foreground"))
