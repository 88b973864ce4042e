"""The gauge in every state, as it looked when somebody looked at it last."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from ollm_tui.services.tokens.prompt_count import Parts
from ollm_tui.tui.gauge.gauge import Gauge
from ollm_tui.tui.themes import load_theme
from tests.snapshots.picture import made_with, steady
from tests.snapshots.test_pictures import compare
from tests.tui.gauge.test_gauge import ALARM, CALM, NEAR, OVER, view

PICTURES = Path(__file__).parent / "gauge_pictures"
THEMES = {60: "light", 80: "dark", 120: "dark"}
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
async def test_every_state_of_the_gauge_looks_as_before(
    columns: int, tmp_path: Path, is_writing: bool
) -> None:
    app = Gauges(THEMES[columns])
    async with app.run_test(size=(columns, 3 * (len(STATES) + 1))) as pilot:
        await pilot.pause()
        picture = steady(app.export_screenshot(simplify=True))
    file = f"gauge-{columns}-{THEMES[columns]}.svg"
    if is_writing:
        (PICTURES / file).write_text(f"{made_with()}\n{picture}", encoding="utf-8")
    else:
        compare(picture, PICTURES / file, tmp_path / file)


def test_there_is_one_picture_for_every_width() -> None:
    assert len(list(PICTURES.iterdir())) == len(THEMES)
