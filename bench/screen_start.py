"""Starting: what it takes until the prompt is there and echoes its first key."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import NamedTuple

from bench.chat_programs import configure, minimal, ollm
from bench.measure import Outcome, Promise, interleaved, milliseconds
from bench.scratch_home import scratch_home
from bench.terminal_program import Program, TerminalProgram

ROUNDS = 15
MINIMAL = "a minimal Textual app with a TextArea"
SHOWN = Promise("starting until the prompt is drawn, CPU", MINIMAL, 1.4)
ECHOED = Promise("starting until the first key is echoed, CPU", MINIMAL, 1.4)
SHOWN_WIDE = Promise("starting with the sidebar until the prompt is drawn, CPU", MINIMAL, 1.4)
ECHOED_WIDE = Promise("starting with the sidebar until the first key is echoed, CPU", MINIMAL, 1.4)
PROMISES = (SHOWN, ECHOED, SHOWN_WIDE, ECHOED_WIDE)
NARROW, WIDE = (80, 24), (120, 40)
"""Without the sidebar and with it, as it comes by itself."""
KEY = "Ж"
"""Stands nowhere on the screen."""


class Start(NamedTuple):
    """CPU seconds up to three moments, and the wall time up to the second."""

    shown: float
    echoed: float
    ended: float
    wall: float


def main() -> list[Outcome]:
    """Start them in turns; with a file of settings only for information, most homes have none."""
    with scratch_home() as home, scratch_home() as configured:
        configure(configured)
        runs = interleaved(
            {
                "minimal": partial(_start, minimal(home), home),
                "ollm": partial(_start, ollm(home), home),
                "minimal, wide": partial(_start, minimal(home), home, WIDE),
                "ollm, wide": partial(_start, ollm(home), home, WIDE),
                "ollm with a settings file": partial(_start, ollm(configured), configured),
            },
            ROUNDS,
        )
    least = {name: Start(*map(min, zip(*starts, strict=True))) for name, starts in runs.items()}
    for name, start in least.items():
        print(
            f"{name}: {milliseconds(start.shown)} CPU to the prompt, "
            f"{milliseconds(start.echoed)} to the first key ({milliseconds(start.wall)} wall), "
            f"{milliseconds(start.ended)} when it has ended"
        )
    floor, full = least["minimal"], least["ollm"]
    wide_floor, wide = least["minimal, wide"], least["ollm, wide"]
    return [
        Outcome(SHOWN, full.shown / floor.shown),
        Outcome(ECHOED, full.echoed / floor.echoed),
        Outcome(SHOWN_WIDE, wide.shown / wide_floor.shown),
        Outcome(ECHOED_WIDE, wide.echoed / wide_floor.echoed),
    ]


def _start(program: Program, home: Path, size: tuple[int, int] = NARROW) -> Start:
    with TerminalProgram(program, home, size) as terminal:
        shown = terminal.wait_until_ready()
        echoed = terminal.type_until(KEY, KEY)
        wall = echoed.wall - terminal.begun
        return Start(shown.cpu, echoed.cpu, terminal.quit().cpu, wall)
