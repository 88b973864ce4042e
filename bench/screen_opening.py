"""Opening a long session: to its first paint, its memory, and moving about in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from bench.answer_server import LAST_WORD, MODEL, AnswerServer
from bench.chat_programs import configure, ollm, opened
from bench.measure import Outcome, Promise, interleaved, milliseconds
from bench.sample_sessions import sample_session
from bench.scratch_home import scratch_home
from bench.terminal_program import Program, TerminalProgram
from ollm_tui.core.session.message import Text
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout

FEW, MANY = 10, 10_000
ROUNDS = 5
MOVES = 5
MEGABYTES = 30
SIZE, OTHER_SIZE = (120, 40), (80, 24)
PAGE_UP, TOP, END = "\x1b[5~", "\x1b[1;5H", "\x1b[1;5F"
"""Page up, Ctrl+Home, Ctrl+End."""
OPEN = Promise(f"opening a session of {MANY:,} messages, CPU", f"opening one of {FEW}", 1.5)
MEMORY = Promise(f"memory of {MANY:,} messages beyond that of {FEW}", f"{MEGABYTES} MB", 1)
MOVING = {
    "to the top": Promise(f"going to the top of {MANY:,} messages, CPU", "a page up", 3),
    "to the end": Promise(f"going to the end of {MANY:,} messages, CPU", "a page up", 3),
    "resize": Promise(f"another window size with {MANY:,} messages, CPU", "a page up", 5),
}
PROMISES = (OPEN, MEMORY, *MOVING.values())


class Opening(NamedTuple):
    """CPU seconds to the last message on screen, and kB of memory at rest."""

    cpu: float
    memory: int


def main() -> list[Outcome]:
    """Open both in turns, then move about in the long one."""
    with scratch_home() as home, AnswerServer() as server:
        configure(home, server.url)
        programs = {name: _stored(home, length) for name, length in (("few", FEW), ("many", MANY))}
        runs = interleaved(
            {name: partial(_open, program, home) for name, program in programs.items()}, ROUNDS
        )
        moves = _move(programs["many"], home)
    few, many = (Opening(*map(min, zip(*runs[name], strict=True))) for name in ("few", "many"))
    for number, opening in ((FEW, few), (MANY, many)):
        memory = f"{opening.memory / 1024:.0f} MB"
        print(f"{number:,} messages: {milliseconds(opening.cpu)} CPU, {memory}")
    print("CPU of a move: " + ", ".join(f"{name} {milliseconds(s)}" for name, s in moves.items()))
    return [
        Outcome(OPEN, many.cpu / few.cpu),
        Outcome(MEMORY, (many.memory - few.memory) / 1024 / MEGABYTES),
        *(Outcome(promise, moves[name] / moves["a page up"]) for name, promise in MOVING.items()),
    ]


def _stored(home: Path, messages: int) -> Program:
    """A session whose last message is known, and the command that opens it."""
    session = sample_session(messages)
    *before, last = session.messages
    last = replace(last, parts=(Text(LAST_WORD),))
    session = replace(session, messages=(*before, last), provider="bench", model=MODEL)
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    session_id = library.add(session)
    library.close()
    return ollm(home, "--resume", session_id)


def _open(program: Program, home: Path) -> Opening:
    program = program._replace(ready=LAST_WORD)
    with TerminalProgram(program, home, SIZE) as terminal:
        painted = terminal.wait_until_ready()
        terminal.settled()
        memory = terminal.status("VmRSS")
        terminal.quit()
        return Opening(painted.cpu, memory)


def _move(program: Program, home: Path) -> dict[str, float]:
    """The least CPU seconds of each kind of move, taken in turns."""
    with opened(program._replace(ready=LAST_WORD), home, SIZE) as terminal:
        sizes = [SIZE, OTHER_SIZE]

        def resize() -> None:
            sizes.reverse()
            terminal.resize(*sizes[0])

        moves: dict[str, Callable[[], object]] = {
            "to the top": lambda: terminal.type(TOP),
            "to the end": lambda: terminal.type(END),
            "a page up": lambda: terminal.type(PAGE_UP),
            "resize": resize,
        }
        costs: dict[str, list[float]] = {name: [] for name in moves}
        for _ in range(MOVES):
            for name, move in moves.items():
                costs[name].append(_cost_of(terminal, name, move))
    return {name: min(seconds) for name, seconds in costs.items()}


def _cost_of(terminal: TerminalProgram, name: str, move: Callable[[], object]) -> float:
    before, drawn = terminal.settled(), terminal.drawn
    move()
    seconds = terminal.settled() - before
    if terminal.drawn == drawn:
        raise RuntimeError(f"{name}: nothing was drawn; are the keys still the same?")
    return seconds
