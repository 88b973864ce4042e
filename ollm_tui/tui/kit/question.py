"""A dialog with a question and one line for the answer: a name, a file, a number."""

from __future__ import annotations

import math
from collections.abc import Callable

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from ollm_tui.tui.kit.line_input import LineInput


class Confirmation(ModalScreen[bool]):
    """Returns True only for a y that was typed after the question could be seen."""

    CSS_PATH = "dialog.tcss"
    BINDINGS = [
        Binding("y", "answer(True)", "Yes", id="confirmation.yes", tooltip="Yes"),
        Binding("n,escape", "answer(False)", "No", id="confirmation.no", tooltip="No"),
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
            yield Static(Content("y yes   n no   Esc cancel"), id="keys")

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


Check = Callable[[str], str]
"""Returns in one line what is wrong with an answer, or an empty text."""


class Question(ModalScreen[str | None]):
    """Returns the answer, or None. An answer that `check` finds fault with is not accepted.

    The first line of the text is the title, further ones explain it.
    """

    CSS_PATH = "dialog.tcss"
    BINDINGS = [
        Binding("escape", "close", "Close", id="question.close", tooltip="Cancel"),
    ]

    def __init__(
        self, text: str, answer: str = "", ok: str = "OK", check: Check | None = None
    ) -> None:
        super().__init__()
        self._text = text
        self._answer = answer
        self._ok = ok
        self._check = check

    def compose(self) -> ComposeResult:
        """Show the question, the answer, what is wrong with it, and the keys."""
        with Vertical(id="dialog"):
            title, _, rest = self._text.partition("\n")
            yield Static(Content(title), id="title")
            if rest:
                yield Static(Content(rest), id="about")
            yield LineInput(self._answer)
            yield Static(id="problem")
            yield Static(Content(f"Enter {self._ok}   Esc cancel"), id="keys")

    @on(Input.Changed)
    def forget_problem(self) -> None:
        """Hide the problem of the answer that was there before."""
        self._show_problem("")

    @on(Input.Submitted)
    def answer(self, event: Input.Submitted) -> None:
        """Close with the answer, or show what is wrong with it."""
        problem = self._check(event.value) if self._check else ""
        if problem:
            self._show_problem(problem)
        else:
            self.dismiss(event.value)

    def action_close(self) -> None:
        """Close without an answer."""
        self.dismiss(None)

    def _show_problem(self, text: str) -> None:
        problem = self.query_one("#problem", Static)
        problem.update(Content(text))
        problem.display = bool(text)
