"""Doing nothing: after an answer the program must not use the processor."""

from __future__ import annotations

import time

from bench.answer_server import LAST_WORD, AnswerServer
from bench.chat_programs import configure, minimal, ollm, opened
from bench.measure import Outcome, Promise, milliseconds
from bench.scratch_home import scratch_home
from bench.terminal_program import ANSWER_SECONDS

SECONDS = 10
TOKENS = 500
IDLE = Promise(f"CPU ms in {SECONDS} s of rest after an answer", "none (ms, no ratio)", 5)
PROMISES = (IDLE,)


def main() -> list[Outcome]:
    """Have one answer, then wait; a minimal app waits beside it, for what is Textual's own."""
    with scratch_home() as home, AnswerServer() as server:
        configure(home, server.url)
        with opened(ollm(home), home) as terminal, opened(minimal(home), home) as floor:
            shown = terminal.expect(LAST_WORD)
            terminal.type("mixed text\r")
            server.stream(TOKENS)
            server.end()
            shown.result(ANSWER_SECONDS)
            before, woken = terminal.settled(), terminal.status("voluntary_ctxt_switches")
            floor_before = floor.cpu()
            time.sleep(SECONDS)
            used, floor_used = terminal.cpu() - before, floor.cpu() - floor_before
            woken = terminal.status("voluntary_ctxt_switches") - woken
            memory = terminal.status("VmRSS") / 1024
    print(f"{SECONDS} s at rest: {milliseconds(used)} CPU, main thread woken {woken} times")
    print(f"a minimal app beside it: {milliseconds(floor_used)} CPU; memory: {memory:.0f} MB")
    return [Outcome(IDLE, used * 1000)]
