"""One line of state: what the program is doing on the left, who answers on the right."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static


class StatusLine(Horizontal):
    """Foreign names are shown as plain text: no markup parser sees them."""

    def compose(self) -> ComposeResult:
        """Two texts, pushed apart."""
        yield Static("", id="doing", markup=False)
        yield Static("", id="facts", markup=False)

    def show_doing(self, text: str) -> None:
        """What is going on, or which keys matter now."""
        self.query_one("#doing", Static).update(Content(text))

    def show_facts(self, text: str) -> None:
        """Model, provider, size of the context, and whether all is saved."""
        self.query_one("#facts", Static).update(Content(text))
