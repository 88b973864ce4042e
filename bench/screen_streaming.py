"""Streaming: an answer next to the floor, and a token late in it next to an early one."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from bench.answer_server import LAST_WORD, AnswerServer
from bench.chat_programs import configure, ollm, opened, plain_lines
from bench.measure import Outcome, Promise, interleaved
from bench.scratch_home import scratch_home
from bench.terminal_program import ANSWER_SECONDS, Program

PER_SECOND = 200
ROUNDS = 1
"""An answer takes 40 seconds; over them the noise of a machine evens out."""
ANSWER_TOKENS = 8_000
EARLY, LATE, MEASURED = 500, 20_000, 1_000
"""Where the cost of a token is measured, and over how many."""
KINDS = ("mixed text", "one code block", "one table", "one paragraph")
SIZE = (120, 40)
TOTAL = Promise(
    f"streaming {ANSWER_TOKENS:,} tokens at {PER_SECOND}/s, CPU", "drawing them as plain lines", 2
)
FLAT = {
    kind: Promise(f"a token of {kind} on screen at {LATE:,}", f"at {EARLY}", 1.3) for kind in KINDS
}
PROMISES = (TOTAL, *FLAT.values())


def main() -> list[Outcome]:
    """Measure a whole answer, then the four kinds."""
    with scratch_home() as home, AnswerServer() as server:
        configure(home, server.url)
        outcomes = [_total(home, server)]
        for kind, promise in FLAT.items():
            early, late = _tokens(home, server, kind)
            print(f"{kind}: {early * 1e6:.0f} µs a token at {EARLY}, {late * 1e6:.0f} at {LATE:,}")
            outcomes.append(Outcome(promise, late / early))
    return outcomes


def _total(home: Path, server: AnswerServer) -> Outcome:
    programs = {"floor": plain_lines(home, server.url), "ollm": ollm(home)}
    costs = interleaved(
        {name: partial(_answer, program, home, server) for name, program in programs.items()},
        ROUNDS,
        warm_up=0,
    )
    floor, full = min(costs["floor"]), min(costs["ollm"])
    print(f"{ANSWER_TOKENS:,} tokens at {PER_SECOND}/s: {full:.2f} CPU s, floor {floor:.2f}")
    return Outcome(TOTAL, full / floor)


def _answer(program: Program, home: Path, server: AnswerServer) -> float:
    """The CPU seconds of one answer, from the question to rest."""
    with opened(program, home, SIZE) as terminal:
        before = terminal.settled()
        terminal.type("mixed text\r")
        server.stream(ANSWER_TOKENS, PER_SECOND)
        shown = terminal.expect(LAST_WORD)
        server.end()
        shown.result(ANSWER_SECONDS)
        return terminal.settled() - before


def _tokens(home: Path, server: AnswerServer, kind: str) -> tuple[float, float]:
    """The CPU seconds of a token at the same speed, early and late in one answer."""
    with opened(ollm(home), home, SIZE) as terminal:

        def cost_from(sent: int, start: int) -> float:
            server.stream(start - sent)
            before = terminal.settled()
            server.stream(MEASURED, PER_SECOND)
            return (terminal.settled() - before) / MEASURED

        terminal.type(f"{kind}\r")
        early = cost_from(0, EARLY)
        late = cost_from(EARLY + MEASURED, LATE - MEASURED)
        server.end()
        terminal.settled()
        return early, late
