"""A dialog with a question and one line for the answer: a name, a file, a number."""

from __future__ import annotations

from collections.abc import Callable

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from ollm_tui.tui.kit.line_input import LineInput

Check = Callable[[str], str]
"""Returns in one line what is wrong with an answer, or an empty text."""


class Question(ModalScreen[str | None]):
    """Returns the answer, or None. An answer that `check` finds fault with is not accepted.

    The first line of the text is the title, further ones explain it.
    """

    CSS_PATH = "dialog.tcss"
    BINDINGS = [
        Binding("escape", "close", "Close", id="question.close", tooltip="Close, answer nothing"),
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
