"""`python -m bench.reference_apps.minimal`: a screen with a place to type, and nothing else."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import TextArea

from bench.reference_apps import READY


class Minimal(App[None]):
    """A TextArea that has the focus."""

    def compose(self) -> ComposeResult:
        """One widget."""
        area = TextArea(placeholder=READY)
        area.cursor_blink = False
        yield area


if __name__ == "__main__":
    Minimal().run()
