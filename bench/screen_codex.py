"""Next to codex, a chat program in Rust, where it is installed: an answer, keys while one comes.

`npm install --prefix DIRECTORY @openai/codex` installs it; `CODEX` names its binary.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from statistics import median
from threading import Thread

from bench.answer_server import AnswerServer
from bench.chat_programs import codex, configure, ollm
from bench.measure import Outcome, Promise, interleaved, milliseconds
from bench.scratch_home import scratch_home
from bench.screen_keys import KEYS, PAUSE_SECONDS, echo, p95
from bench.screen_streaming import ANSWER_TOKENS, PER_SECOND, SIZE
from bench.terminal_program import Program, TerminalProgram

ROUNDS = 1
BEGIN_SECONDS, ENTER_SECONDS = 5, 0.5
"""What it takes to be ready, and to tell an Enter from one in a paste."""
QUIET_CPU_SECONDS = 0.03
"""Less than this in a second, and an answer is drawn."""
COST = Promise(f"{ANSWER_TOKENS:,} tokens at {PER_SECOND}/s, CPU", "codex", 0.5)
ECHO = Promise(f"key echo while streaming at {PER_SECOND}/s, p95", "codex", 1.3)
PROMISES = (COST, ECHO)


def main() -> list[Outcome]:
    """Answers in turns, then keys in turns."""
    with scratch_home() as home, AnswerServer() as server:
        configure(home, server.url)
        other = codex(home, server.url, "--no-daemon")
        if other is None:
            print("codex is not installed")
            return []
        programs = {"ollm": ollm(home), "codex": other}
        answers = interleaved(
            {name: partial(_answer, each, home, server) for name, each in programs.items()},
            ROUNDS,
            warm_up=0,
        )
        keys = interleaved(
            {name: partial(_keys, each, home, server) for name, each in programs.items()},
            ROUNDS,
            warm_up=0,
        )
    costs = {name: min(costs) for name, costs in answers.items()}
    echoes = {name: [time for times in each for time in times] for name, each in keys.items()}
    for name, times in echoes.items():
        typical, slow = milliseconds(median(times)), milliseconds(p95(times))
        print(f"{name}: {costs[name]:.2f} CPU s an answer; echo p50 {typical}, p95 {slow}")
    return [
        Outcome(COST, costs["ollm"] / costs["codex"]),
        Outcome(ECHO, p95(echoes["ollm"]) / p95(echoes["codex"])),
    ]


def _asked(terminal: TerminalProgram) -> float:
    """Ask for an answer; returns the CPU seconds before it."""
    terminal.wait_until_ready()
    time.sleep(BEGIN_SECONDS)
    before = terminal.cpu()
    terminal.type("mixed text")
    time.sleep(ENTER_SECONDS)
    terminal.type("\r")
    return before


def _answer(program: Program, home: Path, server: AnswerServer) -> float:
    with TerminalProgram(program, home, SIZE) as terminal:
        before = _asked(terminal)
        server.stream(ANSWER_TOKENS, PER_SECOND)
        server.end()
        return _quiet(terminal) - before


def _quiet(terminal: TerminalProgram) -> float:
    """Wait until all is drawn. Codex is never quite idle, and draws the last word in pieces."""
    cpu = terminal.cpu()
    while True:
        time.sleep(1)
        before, cpu = cpu, terminal.cpu()
        if cpu - before < QUIET_CPU_SECONDS:
            return cpu


def _keys(program: Program, home: Path, server: AnswerServer) -> list[float]:
    with TerminalProgram(program, home, SIZE) as terminal:
        _asked(terminal)
        tokens = int(PER_SECOND * (KEYS * PAUSE_SECONDS + 3))
        streaming = Thread(target=server.stream, args=(tokens, PER_SECOND))
        streaming.start()
        time.sleep(1)
        times, lost = echo(terminal)
        streaming.join()
        server.end()
        if lost:
            print(f"{lost} keys were not seen")
        return times
