"""Starting on a store of many sessions, with their index and without: as soon as with a few."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from bench.chat_programs import configure, ollm
from bench.measure import Cost, Outcome, Promise, cost_of_command, interleaved, milliseconds
from bench.sample_sessions import fill_store
from bench.scratch_home import OLLM, environment, scratch_home
from bench.terminal_program import TerminalProgram

FEW, MANY = 10, 10_000
ROUNDS = 7
WITH = Promise(f"first screen with {MANY:,} sessions, CPU", f"with {FEW}", 1.3)
WITHOUT = Promise(f"first screen with {MANY:,} sessions and no index, CPU", f"with {FEW}", 1.3)
PROMISES = (WITH, WITHOUT)


def main() -> list[Outcome]:
    """Start on both stores in turns, on the large one also after its index was removed."""
    with scratch_home() as small, scratch_home() as large:
        for home, sessions in ((small, FEW), (large, MANY)):
            configure(home)
            with (home / "config.yaml").open("a") as settings:
                settings.write("sessions:\n  maxSessions: 0\n")  # else most go to the trash
            fill_store(home, sessions)
        runs = interleaved(
            {
                "few": partial(_indexed, small),
                "many": partial(_indexed, large),
                "no index": partial(_unindexed, large),
            },
            ROUNDS,
        )
    least = {name: Cost(*map(min, zip(*costs, strict=True))) for name, costs in runs.items()}
    for name, cost in least.items():
        print(f"{name}: {milliseconds(cost.cpu)} CPU, {milliseconds(cost.wall)} wall")
    return [
        Outcome(WITH, least["many"].cpu / least["few"].cpu),
        Outcome(WITHOUT, least["no index"].cpu / least["few"].cpu),
    ]


def _indexed(home: Path) -> Cost:
    """Start after a list has brought the index up to date."""
    cost_of_command((OLLM, "sessions", "list"), environment(home))
    return _first_screen(home)


def _unindexed(home: Path) -> Cost:
    for index in (home / "sessions").glob("*.sqlite*"):
        index.unlink()
    return _first_screen(home)


def _first_screen(home: Path) -> Cost:
    with TerminalProgram(ollm(home), home) as terminal:
        shown = terminal.wait_until_ready()
        return Cost(shown.cpu, shown.wall - terminal.begun)
