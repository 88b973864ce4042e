"""The end of what a job printed, as much of it as there is room for."""

from __future__ import annotations

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from ollm_tui.core.intake import clean


class JobTail(Widget):
    """Shows the last lines of a text, each cut to the width."""

    DEFAULT_CSS = """
    JobTail { text-wrap: nowrap; text-overflow: ellipsis; }
    """

    text: reactive[str] = reactive("")

    def validate_text(self, text: str) -> str:
        """Nothing that steers a terminal, and tabs as wide as they look."""
        return clean(text).expandtabs(8)

    def render(self) -> Content:
        """The lines that fit."""
        lines = self.text.strip("\n").split("\n")
        return Content("\n".join(lines[-max(self.size.height, 1) :]))
