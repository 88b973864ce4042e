"""Opening a session of one gigabyte: the time to its first screen, and its memory."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, wait
from math import inf
from pathlib import Path

from msgspec.structs import replace

from bench.answer_server import LAST_WORD, MODEL
from bench.chat_programs import configure, ollm
from bench.measure import Outcome, Promise
from bench.sample_sessions import sample_messages, sample_session
from bench.scratch_home import scratch_home
from bench.terminal_program import ANSWER_SECONDS, TerminalProgram
from ollm_tui.core.session.encoding import encode
from ollm_tui.core.session.message import Message, Text
from ollm_tui.storage.files.side_files import SideFiles
from ollm_tui.storage.sessions.session_file import session_chunks
from ollm_tui.storage.store_layout import StoreLayout, make_directory

BYTES = 1_000_000_000
CHARACTERS = 50_000
SECONDS, MEGABYTES = 2, 300
FIRST = Promise("first screen of a session of 1 GB", f"{SECONDS} s", 1)
MEMORY = Promise("memory with a session of 1 GB", f"{MEGABYTES} MB", 1)
PROMISES = (FIRST, MEMORY)
REFUSED = "too large"


def main() -> list[Outcome]:
    """Open it once; what says plainly that it is too large to be opened need not be quick."""
    with scratch_home() as home:
        configure(home)
        with (home / "config.yaml").open("a") as settings:
            settings.write("sessions:\n  maxSessions: 0\n")
        program = ollm(home, "--resume", _stored(home))
        with TerminalProgram(program, home, (120, 40)) as terminal:
            answers = {terminal.expect(REFUSED): "refused", terminal.expect(LAST_WORD): "opened"}
            done, _ = wait(answers, ANSWER_SECONDS, FIRST_COMPLETED)
            seconds = min((each.result().wall - terminal.begun for each in done), default=inf)
            megabytes = terminal.status("VmHWM") / 1024
    what = ", ".join(answers[each] for each in done) or "no answer"
    print(f"{what}: {seconds:.1f} s to the first screen, {megabytes:,.0f} MB at most")
    share = 0 if what == "refused" else seconds / SECONDS
    return [Outcome(FIRST, share), Outcome(MEMORY, megabytes / MEGABYTES)]


def _stored(home: Path) -> str:
    """Write the session piece by piece: built in memory it would take several gigabytes."""
    layout = StoreLayout(home / "sessions")
    make_directory(layout.sessions)
    session = replace(sample_session(0), provider="bench", model=MODEL)
    whole = b"".join(session_chunks(session, SideFiles(layout.side_files(session.session_id))))
    start, empty, end = whole.partition(b'"messages":[]')
    if not empty:
        raise RuntimeError("the session file has another form now")
    with layout.session(session.session_id).open("wb") as file:
        file.write(start + b'"messages":[')
        for number, message in enumerate(_messages()):
            file.write(b"," * bool(number) + encode(message))
        file.write(b"]" + end)
    return session.session_id


def _messages() -> Iterator[Message]:
    """Messages of one gigabyte, the last of which is known."""
    source, left = sample_messages(CHARACTERS), BYTES
    sample = next(source)
    yield sample
    while left > 0:
        message = replace(next(source), parts=sample.parts)
        left -= CHARACTERS
        yield message
    yield replace(next(source), parts=(Text(LAST_WORD),))
