"""A small application that opens one dialog and keeps what it gives."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.screen import Screen

from ollm_tui.tui.themes import load_theme

NOTHING_YET = object()


class Host(App[None]):
    """Opens a screen; `given` is what it closed with."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, screen: Screen[Any]) -> None:
        super().__init__()
        self.opened = screen
        self.given: object = NOTHING_YET
        dark = load_theme("dark")
        self.register_theme(dark)
        self.theme = dark.name

    def on_mount(self) -> None:
        self.push_screen(self.opened, self._keep)

    def _keep(self, result: object) -> None:
        self.given = result


def shown(app: App[Any]) -> str:
    """The screen as text."""
    lines = app.screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage] there is no public way to the cells
    return "\n".join("".join(segment.text for segment in line) for line in lines)
