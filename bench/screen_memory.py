"""Memory after an answer: of the screen's process alone, and with the one that counts tokens."""

from __future__ import annotations

from bench.answer_server import LAST_WORD, AnswerServer
from bench.chat_programs import configure, ollm, opened
from bench.measure import Outcome, Promise
from bench.scratch_home import scratch_home
from bench.terminal_program import ANSWER_SECONDS, TerminalProgram

TOKENS = 500
SIZE = (120, 40)
MEGABYTES, COUNTING_MEGABYTES = 90, 130
BREAKDOWN = "\x1b[15~"
"""F5, which shows exact numbers: they need a vocabulary."""
AFTER_ANSWER = Promise("memory of the screen after an answer", f"{MEGABYTES} MB", 1)
AFTER_COUNTING = Promise(
    "memory of the screen once a vocabulary counted", f"{COUNTING_MEGABYTES} MB", 1
)
PROMISES = (AFTER_ANSWER, AFTER_COUNTING)


def main() -> list[Outcome]:
    """Have one answer, then exact numbers; the vocabulary is in a process of its own."""
    with scratch_home() as home, AnswerServer() as server:
        configure(home, server.url)
        with opened(ollm(home), home, SIZE) as terminal:
            shown = terminal.expect(LAST_WORD)
            terminal.type("mixed text\r")
            server.stream(TOKENS)
            server.end()
            shown.result(ANSWER_SECONDS)
            answered = _megabytes(terminal)
            terminal.type(BREAKDOWN)
            counted, children = _megabytes(terminal), terminal.children_memory() / 1024
            terminal.type("\x1b")
            terminal.settled()
    print(
        f"{answered:.0f} MB after an answer; {counted:.0f} MB after the numbers of its context, "
        f"and {children:.0f} MB in processes beside it"
    )
    return [
        Outcome(AFTER_ANSWER, answered / MEGABYTES),
        Outcome(AFTER_COUNTING, counted / COUNTING_MEGABYTES),
    ]


def _megabytes(terminal: TerminalProgram) -> float:
    terminal.settled()
    return terminal.status("VmRSS") / 1024
