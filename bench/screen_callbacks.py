"""Keys never wait long: the longest callback on the event loop in everyday steps of a long session,
in CPU time of its thread."""

from __future__ import annotations

import time
from pathlib import Path

from msgspec.structs import replace

from bench.answer_server import MODEL, AnswerServer
from bench.chat_programs import OLLM_READY, configure
from bench.measure import Outcome, Promise
from bench.sample_sessions import sample_session
from bench.scratch_home import PYTHON, REPOSITORY, environment, scratch_home
from bench.terminal_program import Program, TerminalProgram
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout

MESSAGES, CHARACTERS = 10_000, 200
"""All of it fits into the window: what is compressed is measured elsewhere."""
SIZE = (120, 40)
ESCAPE, PASTE = "\x1b", "\x1b[200~{}\x1b[201~"
LONG = Promise("the longest callback of a step taken before", "50 ms of CPU", 1)
FIRST = Promise("the longest callback when a screen is first used", "100 ms of CPU", 1)
COLLECTION = Promise("the longest garbage collection", "40 ms of CPU", 1)
PROMISES = (LONG, FIRST, COLLECTION)
STEPS = {
    "a message": ("hello there\r", ""),
    "F5": ("\x1b[15~", ESCAPE),
    "find": ("\x06" + "journal", ESCAPE),
    "F3": ("\x1bOR", ESCAPE),
    "F4 and words": ("\x1bOS" + "journal line", ESCAPE),
    "F8": ("\x1b[19~", ESCAPE),
    "palette": ("\x10mod", ESCAPE),
    "a command that prints a megabyte": ("!yes some words of output | head -c 1000000\r", ""),
    "a megabyte pasted": (PASTE.format("some pasted words\n" * 55_000), "\x15"),
    "settings": ("\x1b[21~", ESCAPE),
}
"""The keys of a step, and those that end it."""


def main() -> list[Outcome]:
    """Open a long session, take every step twice, and look at what held up the loop."""
    with scratch_home() as home, AnswerServer() as server:
        configure(home, server.url)
        session = replace(sample_session(MESSAGES, CHARACTERS), model=MODEL, provider="bench")
        library = SessionLibrary.at(StoreLayout(home / "sessions"))
        library.add(session)
        library.close()
        report = home / "callbacks"
        command = (PYTHON, "-m", "bench.reference_apps.watched", str(report), "--continue")
        surroundings = {**environment(home), "PYTHONPATH": str(REPOSITORY)}
        with TerminalProgram(Program(command, surroundings, OLLM_READY), home, SIZE) as terminal:
            terminal.wait_until_ready()
            report.write_text("")  # before there is a prompt nobody types; screen_start has that
            terminal.settled()
            collections: list[float] = [0]
            first, again = [_longest(report, "opening", collections)], [0.0]
            for round_ in (first, again):
                for name, (keys, ending) in STEPS.items():
                    terminal.type(keys)
                    terminal.settled()
                    terminal.type(ending)
                    time.sleep(0.2)
                    terminal.settled()
                    round_.append(_longest(report, name, collections))
            terminal.quit()
    return [
        Outcome(LONG, max(again) / 50),
        Outcome(FIRST, max(first) / 100),
        Outcome(COLLECTION, max(collections) / 40),
    ]


def _longest(report: Path, step: str, collections: list[float]) -> float:
    """Tell of the callbacks of a step, and forget them; garbage collections are noted apart."""
    lines = report.read_text().splitlines() if report.exists() else []
    report.write_text("")
    found = sorted(((float(line.split()[0]), line) for line in lines), reverse=True)
    print(f"{step}: " + (", ".join(line for _, line in found[:3]) or "nothing over 10 ms"))
    collections += [took for took, line in found if line.endswith("garbage collection")]
    return max((took for took, line in found if not line.endswith("collection")), default=0)
