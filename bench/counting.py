"""Counting tokens: tiktoken in its process against the same in the program itself, and how long
keys wait meanwhile."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from bench.measure import Outcome, Promise, interleaved, milliseconds
from ollm_tui.services.tokens.counting_process import COMMAND, CountingProcess
from ollm_tui.services.tokens.vocabulary_encoding import VocabularyEncoding

CHARACTERS = 400_000
ROUNDS = 11
VOCABULARY = "o200k_base"
TICK_SECONDS = 0.001
TEXTS = {
    "prose": "The harbour was quiet when the last ferry came in, and nobody was waiting for it. ",
    "code": "        if amount > self._balance:\n            raise ValueError(f'{amount:.2f}')\n",
    "base64": "c2VjcmV0IHdvcmRzIHRoYXQgbm9ib2R5IGNhbiByZWFk",
    "CJK": "港はとても静かで、最後の船が着いたときには誰も待っていなかった。没有人在等它。",
}
COUNTED = {
    kind: Promise(f"counting {kind} in the process", "in the program", 1.5) for kind in TEXTS
}
STARTED = Promise("starting the process with a vocabulary, wall", "loading it in the program", 2)
WAITED = Promise("longest wait of the event loop while it starts", "loading in a thread", 0.2)
TAKEN = Promise("memory the program gains by counting", "with the vocabulary in it", 0.1)
PROMISES = (*COUNTED.values(), STARTED, WAITED, TAKEN)


def main() -> list[Outcome]:
    """Measure both places to count in, taking turns."""
    here, process = VocabularyEncoding.shipped(VOCABULARY), CountingProcess()
    outcomes: list[Outcome] = []
    for kind, unit in TEXTS.items():
        text = (unit * (CHARACTERS // len(unit) + 1))[:CHARACTERS]
        runs = interleaved(
            {
                "process": lambda text=text: _seconds(lambda: process.count(VOCABULARY, [text])),
                "program": lambda text=text: _seconds(lambda: here.count(text)),
            },
            ROUNDS,
        )
        times = {place: min(seconds) for place, seconds in runs.items()}
        speeds = ", ".join(
            f"{place} {len(text.encode()) / seconds / 1e6:.1f} MB/s"
            for place, seconds in times.items()
        )
        print(f"{kind}: {speeds}")
        outcomes.append(Outcome(COUNTED[kind], times["process"] / times["program"]))
    print(f"the process takes {_resident(process.pid):.0f} MB, at most for a minute of rest")
    process.end()
    return [*outcomes, *_loading(), _memory()]


class _Loading(NamedTuple):
    """How long loading took, and how long the event loop stood still at most."""

    seconds: float
    longest_wait: float


def _loading() -> list[Outcome]:
    """Measure both ways to get a vocabulary."""
    process = CountingProcess()

    async def in_process() -> None:
        process.end()
        await asyncio.to_thread(process.count, VOCABULARY, [""])

    async def in_program() -> None:
        await asyncio.to_thread(VocabularyEncoding.shipped, VOCABULARY)

    runs = interleaved(
        {
            "process": lambda: asyncio.run(_watched(in_process)),
            "program": lambda: asyncio.run(_watched(in_program)),
        },
        ROUNDS,
    )
    process.end()
    least = {place: min(run.seconds for run in done) for place, done in runs.items()}
    waits = {place: min(run.longest_wait for run in done) for place, done in runs.items()}
    for place in runs:
        took, waited = milliseconds(least[place]), milliseconds(waits[place])
        print(f"a vocabulary in the {place}: {took}; the event loop waits up to {waited}")
    return [
        Outcome(STARTED, least["process"] / least["program"]),
        Outcome(WAITED, waits["process"] / waits["program"]),
    ]


async def _watched(load: Callable[[], Awaitable[None]]) -> _Loading:
    """Load, while the event loop is asked again and again whether it is still there."""
    start = before = time.perf_counter()
    longest, loading = 0.0, asyncio.ensure_future(load())
    while not loading.done():
        await asyncio.sleep(TICK_SECONDS)
        now = time.perf_counter()
        longest, before = max(longest, now - before - TICK_SECONDS), now
    await loading
    return _Loading(time.perf_counter() - start, longest)


MEMORY = """
import os, sys
from pathlib import Path
from ollm_tui.services.tokens.counting_process import CountingProcess

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

if sys.argv[1] == "process":
    before = resident()
    CountingProcess.shared().count("o200k_base", ["hello"])
else:
    before = resident()
    from ollm_tui.services.tokens.vocabulary_encoding import VocabularyEncoding
    kept = VocabularyEncoding.shipped("o200k_base")
    kept.count("hello")
print(resident() - before)
"""


def _memory() -> Outcome:
    gained: dict[str, int] = {}
    for place in ("process", "program"):
        command = [COMMAND[0], "-c", MEMORY, place]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        gained[place] = int(done.stdout)
    print(", ".join(f"counting in the {p}: +{b / 1e6:.1f} MB here" for p, b in gained.items()))
    return Outcome(TAKEN, gained["process"] / gained["program"])


def _resident(pid: int | None) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
