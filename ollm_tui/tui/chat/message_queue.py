"""What waits until the model is free: shown above the prompt, and can be taken back."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from ollm_tui.tui.chat.words import QUEUE_KEYS
from ollm_tui.tui.prompt.prompt import Prompt

MOST_LINES = 3


class Waiting(Static):
    """Messages in the order in which they will be sent; takes no room while there are none."""

    DEFAULT_CSS = """
    Waiting {
        display: none; height: auto; padding: 0 1;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    @dataclass
    class Changed(Message):
        """More or fewer wait now."""

        count: int

    def __init__(self) -> None:
        super().__init__(id="waiting")
        self._sent: deque[Prompt.Sent] = deque()

    @property
    def count(self) -> int:
        """How many wait."""
        return len(self._sent)

    def add(self, sent: Prompt.Sent) -> None:
        """One more waits."""
        self._sent.append(sent)
        self._show()

    def take(self) -> Prompt.Sent | None:
        """The next one, which waits no longer."""
        return self._removed(self._sent.popleft() if self._sent else None)

    def take_back(self) -> Prompt.Sent | None:
        """The last one, to be edited."""
        return self._removed(self._sent.pop() if self._sent else None)

    def clear(self) -> list[Prompt.Sent]:
        """All of them; none waits any longer."""
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
        notes = (f"and {more} more", QUEUE_KEYS) if more > 0 else (QUEUE_KEYS,)
        muted = (Content.styled(f"      {note}", "$text-muted") for note in notes)
        shown = (*lines[:MOST_LINES], *muted)
        self.update(Content("\n").join(shown))
        self.post_message(self.Changed(self.count))


def _line(sent: Prompt.Sent, *, is_next: bool) -> Content:
    names = " ".join(f"[{attachment.name}]" for attachment in sent.attachments)
    words = " ".join((sent.text.strip() or names).split())
    return Content.assemble(("next  " if is_next else "      ", "$accent"), (words, "$foreground"))
