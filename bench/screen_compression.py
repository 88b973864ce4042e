"""Typing: how long a key takes to be seen, at rest and while the context is compressed."""

from __future__ import annotations

import time
from concurrent.futures import Future
from pathlib import Path
from statistics import median, quantiles
from threading import Thread
from typing import NamedTuple

from msgspec.structs import replace

from bench.answer_server import MODEL, AnswerServer
from bench.chat_programs import configure, ollm, opened
from bench.compression import talk
from bench.measure import Outcome, Promise, milliseconds
from bench.scratch_home import scratch_home
from bench.terminal_program import Moment, Program, TerminalProgram
from ollm_tui.core.session.message import Text
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout

ROUNDS = 5
MESSAGES = 100
KIND = "one list"
"""What the server writes as a summary; the conversation has to name it."""
TOKENS, PER_SECOND = 600, 100
KEYS = 50
PAUSE_SECONDS = 0.083
"""Between two keys: a fast typist, and no multiple of a frame."""
FRAME_SECONDS = 0.033
LOST_SECONDS = 3
LETTERS = [chr(code) for code in range(0x410, 0x410 + KEYS)]
"""Each stands nowhere on the screen before it is typed."""
SIZE = (120, 40)
TYPICAL = Promise(f"key echo while {MESSAGES} messages are compressed, p50", "at rest", 2)
SLOW = Promise("key echo while compressing, p95 beyond that at rest", "33 ms", 1)
LOST = Promise("keys lost while compressing", "none (a count, no ratio)", 0)
PROMISES = (TYPICAL, SLOW, LOST)


def main() -> list[Outcome]:
    """Type the same letters at rest and while compressing, each time in a new program: what is
    loaded for the first compression takes its time too."""
    rounds = [_round() for _ in range(ROUNDS)]
    beyond = [(_p95(typed.busy) - _p95(typed.idle)) / FRAME_SECONDS for typed in rounds]
    return [
        Outcome(TYPICAL, median(median(typed.busy) / median(typed.idle) for typed in rounds)),
        Outcome(SLOW, median(beyond)),
        Outcome(LOST, sum(typed.lost for typed in rounds)),
    ]


class Typed(NamedTuple):
    """The seconds of every key that was seen, and how many were not."""

    idle: list[float]
    busy: list[float]
    lost: int


def _round() -> Typed:
    with scratch_home() as home, AnswerServer() as server:
        configure(home, server.url)
        with opened(_stored(home), home, SIZE) as terminal:
            idle, _ = _echo(terminal)
            terminal.type("\x15")
            terminal.settled()
            streaming = Thread(target=server.stream, args=(TOKENS, PER_SECOND))
            streaming.start()
            terminal.type("/compact\r")
            busy, lost = _echo(terminal)
            streaming.join()
            server.end()
            terminal.settled()
    for name, times in (("at rest", idle), ("while compressing", busy)):
        print(f"{name}: p50 {milliseconds(median(times))}, p95 {milliseconds(_p95(times))}")
    return Typed(idle, busy, lost)


def _stored(home: Path) -> Program:
    """A conversation that names what the server shall write, and the command that opens it."""
    session = talk(MESSAGES)
    first, answer, *others = session.messages
    answer = replace(answer, parts=(Text(f"You get {KIND}."), *answer.parts))
    session = replace(session, messages=(first, answer, *others), provider="bench", model=MODEL)
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    session_id = library.add(session)
    library.close()
    return ollm(home, "--resume", session_id)


def _echo(terminal: TerminalProgram) -> tuple[list[float], int]:
    """The seconds of every key that was seen, and how many were not."""
    pressed: list[tuple[float, Future[Moment]]] = []
    for letter in LETTERS:
        seen = terminal.expect(letter)
        pressed.append((terminal.type(letter), seen))
        time.sleep(PAUSE_SECONDS)
    time.sleep(LOST_SECONDS)
    times = [seen.result().wall - at for at, seen in pressed if seen.done()]
    return times, KEYS - len(times)


def _p95(times: list[float]) -> float:
    return quantiles(times, n=20)[18]
