"""The gauge in every state, as it looked when somebody looked at it last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from ollm_tui.services.tokens.prompt_count import Parts
from ollm_tui.tui.gauge.gauge import Gauge
from ollm_tui.tui.themes import load_theme
from tests.tui.gauge.test_gauge import ALARM, CALM, NEAR, OVER, view

PICTURES = Path(__file__).parent / "__snapshots__" / "test_gauge_pictures"
THEMES = {60: "light", 80: "dark", 120: "dark"}
WIDTHS = {60: "light", 80: "dark", 120: "dark", 200: "light"}
SHARES = (0, 1, 7, 35, 62, 85, 99, 104)
WINDOW = 16_384
NEXT = Parts(system=300, user=2300, assistant=3200)
STATES = {
    "nothing said yet": view(Parts(system=40), source="exact"),
    "calm": view(CALM, source="measured"),
    "near the trigger": view(NEAR),
    "over the threshold": view(NEXT),
    "over the limit": view(OVER),
    "window unknown": view(CALM, None),
    "alarm": view(CALM),
    "a long draft": view(CALM),
    "a draft too long": view(CALM),
}
"""As they are while the context is compressed by itself."""
DRAFTS = {"a long draft": 1200, "a draft too long": 9000}
WITHOUT = "over the limit, not compressed"


class Gauges(App[None]):
    """One below the other, each under the name of its state."""

    CSS = "Vertical { height: 3; padding: 0 1; } Static { color: $text-muted; }"

    def __init__(self, theme: str) -> None:
        super().__init__()
        self.register_theme(load_theme(theme))
        self.theme = theme

    def compose(self) -> ComposeResult:
        for name in (*STATES, WITHOUT):
            with Vertical():
                yield Static(name)
                yield Gauge()

    def on_mount(self) -> None:
        for name, gauge in zip((*STATES, WITHOUT), self.query(Gauge), strict=True):
            shown = STATES.get(name, STATES["over the limit"])
            compresses = "never" if name == WITHOUT else "trigger"
            gauge.show(replace(shown, compresses=compresses), "31 tok/s")
            gauge.alarm(ALARM if name == "alarm" else "")
            gauge.show_draft(DRAFTS.get(name, 0))


@pytest.mark.parametrize("columns", THEMES)
def test_every_state_of_the_gauge(columns: int, looks_as_before: Callable[..., None]) -> None:
    size = (columns, 3 * (len(STATES) + 1))
    looks_as_before(Gauges(THEMES[columns]), terminal_size=size)


class Filling(App[None]):
    """The same window, fuller from line to line."""

    CSS = "Vertical { height: 1; padding: 0 1; }"

    def __init__(self, theme: str) -> None:
        super().__init__()
        self.register_theme(load_theme(theme))
        self.theme = theme

    def compose(self) -> ComposeResult:
        for _ in SHARES:
            with Vertical():
                yield Gauge()

    def on_mount(self) -> None:
        for percent, gauge in zip(SHARES, self.query(Gauge), strict=True):
            used = -(-WINDOW * percent // 100)
            system = min(used, 300)
            said = used - system
            parts = Parts(system=system, user=said // 3, assistant=said - said // 3)
            shown = view(parts, WINDOW, "exact")
            gauge.show(replace(shown, compresses="trigger"), "31 tok/s")


@pytest.mark.parametrize("columns", WIDTHS)
def test_every_share_of_the_window(columns: int, looks_as_before: Callable[..., None]) -> None:
    looks_as_before(Filling(WIDTHS[columns]), terminal_size=(columns, len(SHARES)))


def test_there_is_one_picture_for_every_width() -> None:
    kept = {file.stem for file in PICTURES.iterdir()}
    assert kept == {
        *(f"test_every_state_of_the_gauge[{columns}]" for columns in THEMES),
        *(f"test_every_share_of_the_window[{columns}]" for columns in WIDTHS),
    }
