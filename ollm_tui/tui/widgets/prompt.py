"""The prompt: where messages are written. Grows with its text, and loses none of it."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events, on
from textual.binding import Binding
from textual.message import Message
from textual.widgets import TextArea

TALLEST = 10
NEWLINE_KEYS = frozenset({"shift+enter", "ctrl+j", "alt+enter"})


class Prompt(TextArea):
    """Enter sends; Shift+Enter, Ctrl+J, Alt+Enter or a backslash before Enter begin a new line.

    Up and down on the first and the last line walk through what was sent before.
    """

    BINDINGS = [
        Binding(
            "ctrl+d", "leave", "Quit", id="prompt.leave", show=False, tooltip="On an empty prompt"
        ),
    ]

    @dataclass
    class Sent(Message):
        """The user sent something."""

        text: str

    @dataclass
    class LeaveWanted(Message):
        """Ctrl+D on an empty prompt."""

    def __init__(self, placeholder: str) -> None:
        super().__init__(
            id="prompt",
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="focus",
            highlight_cursor_line=False,
            placeholder=placeholder,
        )
        self._sent: list[str] = []
        self._at: int | None = None
        self._draft = ""

    def remember(self, texts: list[str]) -> None:
        """What was sent before this prompt was there, oldest first."""
        self._sent = list(texts)

    def put(self, text: str) -> None:
        """Show a text to be edited, with the cursor at its end."""
        self.text = text
        self.move_cursor(self.document.end)

    def put_aside(self) -> None:
        """Empty the prompt; the text is the latest that up brings back."""
        self._sent.append(self.text)
        self._at = None
        self.text = ""

    def action_leave(self) -> None:
        """Leave if there is nothing to lose; otherwise delete to the right, as shells do."""
        if self.text:
            self.action_delete_right()
        else:
            self.post_message(self.LeaveWanted())

    async def _on_key(self, event: events.Key) -> None:
        if event.key in NEWLINE_KEYS:
            self._take_over(event)
            self.insert("\n")
        elif event.key == "enter":
            self._take_over(event)
            self._enter()
        elif self._walks(event.key):
            self._take_over(event)
        else:
            await super()._on_key(event)

    @on(TextArea.Changed)
    def grow(self) -> None:
        """As tall as the text, within reason."""
        self.styles.height = min(max(self.wrapped_document.height, 1), TALLEST) + 2

    def on_resize(self) -> None:
        """Another width wraps the text differently."""
        self.call_after_refresh(self.grow)

    def _enter(self) -> None:
        before = self.document.get_line(self.cursor_location[0])[: self.cursor_location[1]]
        if before.endswith("\\"):
            self.action_delete_left()
            self.insert("\n")
            return
        text = self.text
        if not text.strip():
            return
        self.put_aside()
        self.post_message(self.Sent(text))

    def _walks(self, key: str) -> bool:
        if key == "up" and self.cursor_at_first_line:
            return self._walk(-1)
        return key == "down" and self.cursor_at_last_line and self._walk(1)

    def _walk(self, step: int) -> bool:
        """Show an earlier or later text; what was being written comes back at the end."""
        at = len(self._sent) if self._at is None else self._at
        target = at + step
        if not 0 <= target <= len(self._sent):
            return False
        if at == len(self._sent):
            self._draft = self.text
        self._at = None if target == len(self._sent) else target
        self.put(self._draft if self._at is None else self._sent[target])
        return True

    @staticmethod
    def _take_over(event: events.Key) -> None:
        event.stop()
        event.prevent_default()
