"""A dialog that asks yes or no before something that cannot be undone easily."""

from __future__ import annotations

import math

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static


class Confirmation(ModalScreen[bool]):
    """Returns True only for a y that was typed after the question could be seen."""

    CSS_PATH = "dialog.tcss"
    BINDINGS = [
        Binding("y", "answer(True)", "Yes", id="confirmation.yes", tooltip="Do it"),
        Binding("n,escape", "answer(False)", "No", id="confirmation.no", tooltip="Leave it"),
    ]

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__()
        self._text = text
        self._hint = hint
        self._seen = math.inf
        """When the question could first be seen."""

    def compose(self) -> ComposeResult:
        """Show the question, what it means, and the keys."""
        with Vertical(id="dialog"):
            yield Static(Content(self._text), id="title")
            if self._hint:
                yield Static(Content(self._hint), id="about")
            yield Static(Content("y yes   n no   Esc no"), id="keys")

    def on_mount(self) -> None:
        """Let keys count from the moment the dialog is drawn."""
        self.call_after_refresh(self._is_seen)

    def on_key(self, event: events.Key) -> None:
        """Ignore a key typed before the question could be seen: it was meant for something else."""
        if event.time < self._seen:
            event.stop()
            event.prevent_default()

    def action_answer(self, answer: bool) -> None:
        """Close with the answer."""
        self.dismiss(answer)

    def _is_seen(self) -> None:
        # Taken from an event, because it is compared with the times of key events.
        self._seen = events.Event().time
