"""Listing sessions: ten thousand against ten, with an index that knows them."""

from __future__ import annotations

from bench.measure import Outcome, Promise, cost_of_command, cost_of_commands, milliseconds
from bench.sample_sessions import fill_store
from bench.scratch_home import OLLM, environment, scratch_home

FEW, MANY = 10, 10_000
ROUNDS = 15
CPU = Promise(f"listing {MANY:,} sessions, CPU", f"listing {FEW}", 3)
WALL = Promise(f"listing {MANY:,} sessions, wall", f"listing {FEW}", 3)
PROMISES = (CPU, WALL)

LIST = (OLLM, "sessions", "list")


def main() -> list[Outcome]:
    """Measure two stores side by side."""
    with scratch_home() as small, scratch_home() as large:
        environments = {"few": environment(small), "many": environment(large)}
        fill_store(small, FEW)
        fill_store(large, MANY)
        cold = cost_of_command(LIST, environments["many"])
        print(f"{MANY:,} sessions for the first time, no index: {milliseconds(cold.wall)}")
        costs = cost_of_commands(dict.fromkeys(environments, LIST), environments, ROUNDS)
    few, many = costs["few"], costs["many"]
    for number, cost in ((FEW, few), (MANY, many)):
        print(f"{number:,} sessions: {milliseconds(cost.cpu)} CPU, {milliseconds(cost.wall)} wall")
    return [Outcome(CPU, many.cpu / few.cpu), Outcome(WALL, many.wall / few.wall)]
