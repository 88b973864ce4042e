"""Loading and saving whole sessions, against the standard library and a bare synced write."""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.measure import Outcome, Promise, interleaved, milliseconds
from bench.sample_sessions import sample_session
from bench.scratch_home import scratch_home
from ollm_tui.core.session.session import Session
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout

LONG, TYPICAL = 10_000, 200
ROUNDS = 15
LOAD = Promise(f"loading a session of {LONG:,} messages", "json.loads of its bytes", 1.5)
SAVE = Promise(f"saving a session of {LONG:,} messages", "writing its bytes with fsync", 5)
PROMISES = (LOAD, SAVE)

TARGET_SECONDS = 0.1
"""What saving and loading a typical session may take, whatever the machine."""


def main() -> list[Outcome]:
    """Measure a long session, then a typical one for information."""
    with scratch_home() as home:
        library = SessionLibrary.at(StoreLayout(home / "sessions"))
        long = _measure(library, home, sample_session(LONG))
        typical = _measure(library, home, sample_session(TYPICAL))
        library.close()
    for what in ("load", "save"):
        within = "within" if typical[what] < TARGET_SECONDS else "OVER"
        target = f"{within} {milliseconds(TARGET_SECONDS)}"
        print(f"{what} {TYPICAL} messages: {milliseconds(typical[what])}, {target}")
    return [Outcome(LOAD, long["load"] / long["json"]), Outcome(SAVE, long["save"] / long["write"])]


def _measure(library: SessionLibrary, home: Path, session: Session) -> dict[str, float]:
    """The median seconds of loading, saving and their references."""
    session_id = library.add(session)
    data = library.store.layout.session(session_id).read_bytes()
    writer = library.store.create(session_id)
    writer.lock()
    runs = interleaved(
        {
            "json": _timed(lambda: json.loads(data)),
            "load": _timed(lambda: library.store.load(session_id)),
            "write": _timed(lambda: _write_synced(home / "bare", data)),
            "save": _timed(lambda: writer.fold(session)),
        },
        ROUNDS,
    )
    writer.close()
    middle = {name: median(seconds) for name, seconds in runs.items()}
    times = ", ".join(f"{name} {milliseconds(seconds)}" for name, seconds in middle.items())
    print(f"{len(session.messages):,} messages, {len(data):,} bytes: {times}")
    return middle


def _timed(work: Callable[[], object]) -> Callable[[], float]:
    def run() -> float:
        gc.collect()
        start = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - start
        del result
        return seconds

    return run


def _write_synced(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        os.write(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
