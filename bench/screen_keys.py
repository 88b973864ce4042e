"""Typing: how long a key takes to be seen, at rest and while an answer is coming in."""

from __future__ import annotations

import time
from concurrent.futures import Future
from statistics import median, quantiles
from threading import Thread

from bench.answer_server import AnswerServer
from bench.chat_programs import configure, ollm, opened
from bench.measure import Outcome, Promise, milliseconds
from bench.scratch_home import scratch_home
from bench.terminal_program import Moment, TerminalProgram

PER_SECOND = 200
KEYS = 100
PAUSE_SECONDS = 0.083
"""Between two keys: a fast typist, and no multiple of a frame."""
FRAME_SECONDS = 0.033
LOST_SECONDS = 3
LETTERS = [chr(code) for code in range(0x410, 0x482)]
"""Each stands nowhere on the screen before it is typed, in whatever answer."""
TYPICAL = Promise(f"key echo while streaming at {PER_SECOND}/s, p50", "at rest", 2)
SLOW = Promise(f"key echo while streaming at {PER_SECOND}/s, p95 beyond that at rest", "33 ms", 1)
LOST = Promise("keys lost while streaming", "none (a count, no ratio)", 0)
PROMISES = (TYPICAL, SLOW, LOST)


def main() -> list[Outcome]:
    """Type the same letters twice."""
    with scratch_home() as home, AnswerServer() as server:
        configure(home, server.url)
        with opened(ollm(home), home) as terminal:
            idle, _ = echo(terminal)
            terminal.type("\x15")
            terminal.settled()
            terminal.type("mixed text\r")
            tokens = int(PER_SECOND * (KEYS * PAUSE_SECONDS + 3))
            streaming = Thread(target=server.stream, args=(tokens, PER_SECOND))
            streaming.start()
            time.sleep(1)
            busy, lost = echo(terminal)
            streaming.join()
            server.end()
            terminal.settled()
    for name, times in (("at rest", idle), ("while streaming", busy)):
        print(f"{name}: p50 {milliseconds(median(times))}, p95 {milliseconds(p95(times))}")
    return [
        Outcome(TYPICAL, median(busy) / median(idle)),
        Outcome(SLOW, (p95(busy) - p95(idle)) / FRAME_SECONDS),
        Outcome(LOST, lost),
    ]


def echo(terminal: TerminalProgram) -> tuple[list[float], int]:
    """Type letters; the seconds of every key that was seen, and how many were not."""
    pressed: list[tuple[float, Future[Moment]]] = []
    for letter in LETTERS[:KEYS]:
        seen = terminal.expect(letter)
        pressed.append((terminal.type(letter), seen))
        time.sleep(PAUSE_SECONDS)
    time.sleep(LOST_SECONDS)
    times = [seen.result().wall - at for at, seen in pressed if seen.done()]
    return times, KEYS - len(times)


def p95(times: list[float]) -> float:
    """The time that 19 of 20 keys stay below."""
    return quantiles(times, n=20)[18]
