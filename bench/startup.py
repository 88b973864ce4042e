"""Starting: what the short commands cost next to Python itself, and what they must not load."""

from __future__ import annotations

import re
import subprocess

from bench.measure import Outcome, Promise, cost_of_commands, milliseconds
from bench.scratch_home import OLLM, PYTHON, environment, scratch_home

ROUNDS = 20
NOTHING = "python -c pass"
HEAVY = re.compile(r"(textual|httpx|yaml|asyncio|markdown_it|ollm_tui\.providers)(\.|$)")
"""Modules that no short command needs."""

COMMANDS = {"ollm --version": ("--version",), "ollm sessions list": ("sessions", "list")}
START = {name: Promise(f"{name}, CPU", NOTHING, 6) for name in COMMANDS}
LEAN = {
    name: Promise(f"{name}, heavy modules loaded", "none (a count, no ratio)", 0)
    for name in COMMANDS
}
PROMISES = (*START.values(), *LEAN.values())


def main() -> list[Outcome]:
    """Measure in an empty home."""
    with scratch_home() as home:
        variables = environment(home)
        commands = {NOTHING: (PYTHON, "-c", "pass")}
        commands |= {name: (OLLM, *arguments) for name, arguments in COMMANDS.items()}
        costs = cost_of_commands(commands, dict.fromkeys(commands, variables), ROUNDS)
        for name, cost in costs.items():
            print(f"{name}: {milliseconds(cost.cpu)} CPU, {milliseconds(cost.wall)} wall")
        outcomes = [
            Outcome(promise, costs[name].cpu / costs[NOTHING].cpu)
            for name, promise in START.items()
        ]
        for name, promise in LEAN.items():
            heavy = _heavy_modules(COMMANDS[name], variables)
            print(f"{name} loads of the heavy modules: {', '.join(heavy) or 'none'}")
            outcomes.append(Outcome(promise, len(heavy)))
    return outcomes


def _heavy_modules(arguments: tuple[str, ...], variables: dict[str, str]) -> list[str]:
    command = (PYTHON, "-X", "importtime", OLLM, *arguments)
    ended = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    loaded = [line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()]
    return sorted(name for name in loaded if HEAVY.match(name))
