"""Several conversations: what answers behind cost the one shown, and open ones in memory."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

from bench.answer_server import WITHOUT_END, AnswerServer
from bench.chat_programs import configure, ollm, opened
from bench.measure import Outcome, Promise, milliseconds
from bench.sample_sessions import fill_store
from bench.scratch_home import scratch_home
from bench.screen_keys import echo, p95
from bench.terminal_program import TerminalProgram

BEHIND = 3
ROUNDS = 3
BEHIND_PER_SECOND, PER_SECOND = 30, 200
"""Tokens a second of an answer behind, as a local model has it, and of the one that is shown."""
TOKENS = 2_000
REST_SECONDS = 10
OPEN, MESSAGES = 20, 100
STILL = 0.01
"""Tokens a second of an answer that only keeps its conversation open."""
MEGABYTES = 20
CTRL_N = "\x0e"
KEYS = Promise(f"key echo with {BEHIND} answers behind, p95", "with none", 1.3)
SHOWN = Promise(f"CPU of the answer shown, {BEHIND} more behind", "alone", 1.3)
IDLE = Promise(f"CPU at rest, each of {BEHIND} answers behind", "the same one shown", 1)
MEMORY = Promise(f"{OPEN} open conversations beyond one", f"{MEGABYTES} MB", 1)
PROMISES = (KEYS, SHOWN, IDLE, MEMORY)


def main() -> list[Outcome]:
    """Measure keys and a stream, with answers behind and without; then rest, and the memory."""
    alone: list[tuple[float, float]] = []
    beside: list[tuple[float, float]] = []
    with scratch_home() as home, AnswerServer() as server:
        _configure(home, server.url)
        for _ in range(ROUNDS):
            for found, behind in ((alone, 0), (beside, BEHIND)):
                found.append(_measured(home, server, behind))
        rest = _at_rest(home)
        for name, found in (("alone", alone), (f"{BEHIND} behind", beside)):
            keys, cpu = zip(*found, strict=True)
            print(f"{name}: p95 {', '.join(map(milliseconds, keys))}; {median(cpu):.2f} CPU s")
    keys_alone, cpu_alone = (min(each) for each in zip(*alone, strict=True))
    keys_beside, cpu_beside = (min(each) for each in zip(*beside, strict=True))
    return [
        Outcome(KEYS, keys_beside / keys_alone),
        Outcome(SHOWN, cpu_beside / cpu_alone),
        Outcome(IDLE, rest),
        Outcome(MEMORY, _memory() / MEGABYTES),
    ]


def _configure(home: Path, url: str) -> None:
    configure(home, url)
    with (home / "config.yaml").open("a") as settings:
        settings.write(f"    parallel: {OPEN + 1}\n")


def _measured(home: Path, server: AnswerServer, behind: int) -> tuple[float, float]:
    """The p95 of keys, and the CPU seconds of an answer that is shown, without those behind."""
    with opened(ollm(home), home, (120, 40)) as terminal:
        for number in range(behind):
            _ask(terminal, BEHIND_PER_SECOND, number)
            terminal.type(CTRL_N)
            time.sleep(1)
        times, _ = echo(terminal)
        terminal.type("\x15")
        time.sleep(1)
        seconds = TOKENS / PER_SECOND
        before = terminal.cpu()
        time.sleep(seconds)
        without = terminal.cpu() - before
        terminal.type("mixed text\r")
        time.sleep(1)
        before = terminal.cpu()
        server.stream(TOKENS, PER_SECOND)
        shown = terminal.cpu() - before - without
        server.end()
        time.sleep(1)
        terminal.type("\x11")  # the first time it asks, where answers run behind
        return p95(times), shown


def _at_rest(home: Path) -> float:
    """The CPU of an answer behind while nobody types, as a share of what it takes to show it."""
    with opened(ollm(home), home, (120, 40)) as terminal:
        nothing = _cpu(terminal)
        _ask(terminal, BEHIND_PER_SECOND, 0)
        shown = _cpu(terminal) - nothing
        for number in range(1, BEHIND):
            terminal.type(CTRL_N)
            time.sleep(1)
            _ask(terminal, BEHIND_PER_SECOND, number)
        terminal.type(CTRL_N)
        time.sleep(1)
        behind = _cpu(terminal) - nothing
        terminal.type("\x11")
    each = behind / BEHIND
    print(f"CPU at rest: {nothing:.1%}; answer shown: {shown:.1%} more; each behind: {each:.1%}")
    return each / shown


def _cpu(terminal: TerminalProgram) -> float:
    """The CPU seconds of a second, while nobody types."""
    before = terminal.cpu()
    time.sleep(REST_SECONDS)
    return (terminal.cpu() - before) / REST_SECONDS


def _memory() -> float:
    """The megabytes of all open conversations but the first."""
    with scratch_home() as home, AnswerServer() as server:
        _configure(home, server.url)
        fill_store(home, OPEN, MESSAGES)
        ids = [path.name.partition(".")[0] for path in (home / "sessions").glob("*.json")]
        with opened(ollm(home), home, (120, 40)) as terminal:
            used: list[int] = []
            for number, session_id in enumerate(ids):
                terminal.type(f"/load {session_id}\r")
                terminal.settled()
                _ask(terminal, STILL, number)
                terminal.settled()
                used.append(terminal.status("VmRSS"))
            terminal.type("\x11")
    print(f"{len(used)} open: {used[0] / 1024:.1f} MB with one, {used[-1] / 1024:.1f} MB with all")
    return (used[-1] - used[0]) / 1024


def _ask(terminal: TerminalProgram, speed: float, number: int) -> None:
    words = f"question {number} {WITHOUT_END} {speed}"
    terminal.type_until(f"{words}\r", f"question {number}")
    time.sleep(1)
