"""Measuring on a noisy machine: subjects take turns, and only ratios within one run count."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Promise(NamedTuple):
    """What is measured, against what, and how many times the reference it may cost."""

    what: str
    reference: str
    limit: float


class Outcome(NamedTuple):
    """A promise and the ratio that was measured."""

    promise: Promise
    ratio: float

    @property
    def kept(self) -> bool:
        """Whether the ratio is within the limit."""
        return self.ratio <= self.promise.limit


class Cost(NamedTuple):
    """What running a command took, in seconds; the CPU time includes its children's."""

    cpu: float
    wall: float


def interleaved(
    subjects: Mapping[str, Callable[[], T]], rounds: int, warm_up: int = 1
) -> dict[str, list[T]]:
    """Measure every subject once a round, each round beginning with another one."""
    names = list(subjects)
    measured: dict[str, list[T]] = {name: [] for name in names}
    for number in range(-warm_up, rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            value = subjects[name]()
            if number >= 0:
                measured[name].append(value)
    return measured


def cost_of_command(command: Sequence[str], environment: Mapping[str, str]) -> Cost:
    """Run a command to its end, its output thrown away. RuntimeError if it fails."""
    start = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, wall)


def cost_of_commands(
    commands: Mapping[str, Sequence[str]],
    environments: Mapping[str, Mapping[str, str]],
    rounds: int,
) -> dict[str, Cost]:
    """The least CPU and wall time of each command: others on the machine only ever add to it.

    The first run of each does not count; it writes the bytecode.
    """
    runs = interleaved(
        {name: _command(commands[name], environments[name]) for name in commands}, rounds
    )
    return {
        name: Cost(min(run.cpu for run in costs), min(run.wall for run in costs))
        for name, costs in runs.items()
    }


async def watch_turns(gaps: list[float], tick: float = 0.001) -> None:
    """Take a turn of the event loop every tick, as a key would; note how long others had theirs.

    By the clock of this thread: what other programs take of the machine is not counted.
    """
    while True:
        before = time.thread_time()
        await asyncio.sleep(tick)
        gaps.append(time.thread_time() - before)


def milliseconds(seconds: float) -> str:
    """A time for the eye."""
    return f"{seconds * 1000:,.{2 if seconds < 0.01 else 0}f} ms"


def table(outcomes: Iterable[Outcome]) -> str:
    """All promises, one a line: what, reference, ratio, limit, ok or OVER."""
    rows = [("promise", "reference", "ratio", "limit", "")]
    rows += [
        (
            outcome.promise.what,
            outcome.promise.reference,
            f"{outcome.ratio:.2f}",
            f"{outcome.promise.limit:g}",
            "ok" if outcome.kept else "OVER",
        )
        for outcome in outcomes
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        f"{what:<{widths[0]}}  {reference:<{widths[1]}}  "
        f"{ratio:>{widths[2]}}  {limit:>{widths[3]}}  {word}".rstrip()
        for what, reference, ratio, limit, word in rows
    ]
    return "\n".join(lines)


def _command(command: Sequence[str], environment: Mapping[str, str]) -> Callable[[], Cost]:
    return lambda: cost_of_command(command, environment)
