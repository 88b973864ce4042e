"""The lines of state: what the session is on top; what goes on, and which keys matter, below."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static


class TwoTexts(Horizontal):
    """One line, one text on the left and one on the right, which keeps its room.

    Foreign names are shown as plain text: no markup parser sees them.
    """

    def compose(self) -> ComposeResult:
        """Two texts, pushed apart."""
        yield Static("", classes="left", markup=False)
        yield Static("", classes="right", markup=False)

    def show(self, *, left: str | None = None, right: str | None = None) -> None:
        """Change one of the texts, or both."""
        for name, text in (("left", left), ("right", right)):
            if text is not None:
                self.query_one(f".{name}", Static).update(Content(text))


class TitleLine(TwoTexts):
    """The title of the session, and who answers."""


class StatusLine(TwoTexts):
    """What is going on or which keys matter now, and whether all is saved."""
