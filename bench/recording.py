"""Recording a message: as fast in a long session as in a short one, and near a bare write."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean, median, quantiles

from bench.measure import Outcome, Promise, interleaved, milliseconds, watch_turns
from bench.sample_sessions import sample_messages, sample_session
from bench.scratch_home import scratch_home
from ollm_tui.core import clock
from ollm_tui.core.session.encoding import encode
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.record import Created, MessageAdded
from ollm_tui.services.sessions.recording import Recorder, Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.sessions.journal import journal_line
from ollm_tui.storage.store_layout import StoreLayout

SHORT, LONG = 10, 50_000
ROUNDS = 5_000
"""Enough for the journals to reach the size at which they are folded."""
MESSAGES = 10_000
FLAT = Promise(f"recording a message in a session of {LONG:,}", f"in one of {SHORT}", 1.5)
DURABLE = Promise(f"recording a message in a session of {LONG:,}", "os.write + os.fdatasync", 2)
AMOUNT = Promise(f"bytes given to write() for {MESSAGES:,} messages", "their JSON", 3)
LATE = Promise(f"saving a record, p99 of {ROUNDS:,}", "20 ms", 1)
GAP = Promise("the loop meanwhile: its longest gap, CPU", "50 ms", 1)
PROMISES = (FLAT, DURABLE, AMOUNT, LATE, GAP)


def main() -> list[Outcome]:
    """Measure the time of single records, then the bytes of a whole session."""
    with scratch_home() as home, asyncio.Runner() as runner:
        library = SessionLibrary.at(StoreLayout(home / "sessions"))
        recording = Recording(library.store, library.index)
        outcomes = [
            *_times(home, library, recording, runner),
            _amount(home, recording, runner),
            Outcome(GAP, runner.run(_longest_gap(recording)) / 0.050),
        ]
        runner.run(recording.close())
    return outcomes


def _times(
    home: Path, library: SessionLibrary, recording: Recording, runner: asyncio.Runner
) -> list[Outcome]:
    recorders: dict[str, Recorder] = {}
    for name, length in (("short", SHORT), ("long", LONG)):
        session_id = library.add(sample_session(length))
        recorders[name], _ = runner.run(recording.open(session_id))
    descriptor = os.open(home / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    subjects = {name: _recording(runner, recorder) for name, recorder in recorders.items()}
    runs = interleaved({"bare": _bare(descriptor), **subjects}, ROUNDS, warm_up=20)
    os.close(descriptor)
    for recorder in recorders.values():
        runner.run(recorder.close())
    for name, seconds in runs.items():
        late = quantiles(seconds, n=100)[98]
        numbers = (median(seconds), mean(seconds), late, max(seconds))
        print(f"{name}: median, mean, p99, max {', '.join(map(milliseconds, numbers))}")
    bare, short, long = (median(runs[name]) for name in ("bare", "short", "long"))
    late = quantiles(runs["long"], n=100)[98]
    return [
        Outcome(FLAT, long / short),
        Outcome(DURABLE, long / bare),
        Outcome(LATE, late / 0.020),
    ]


def _recording(runner: asyncio.Runner, recorder: Recorder) -> Callable[[], float]:
    messages = sample_messages()

    async def record() -> float:
        added = _added(next(messages))
        start = time.perf_counter()
        await recorder.record(added)
        return time.perf_counter() - start

    return lambda: runner.run(record())


def _bare(descriptor: int) -> Callable[[], float]:
    messages = sample_messages()

    def write() -> float:
        line = journal_line(LONG, encode(_added(next(messages))))
        start = time.perf_counter()
        os.write(descriptor, line)
        os.fdatasync(descriptor)
        return time.perf_counter() - start

    return write


def _added(message: Message) -> MessageAdded:
    return MessageAdded(at=clock.now(), message=message)


def _amount(home: Path, recording: Recording, runner: asyncio.Runner) -> Outcome:
    """Counted by the kernel (/proc/self/io): what was handed to write(), SQLite's share too.

    Its other number, whole pages to the disk, depends on the size of a page: it is printed
    beside that of bare appending, which has the same pages.
    """
    messages = [message for message, _ in zip(sample_messages(), range(MESSAGES), strict=False)]
    content = sum(len(encode(message)) for message in messages)
    before = _io()
    runner.run(_record_all(recording, messages))
    after = _io()
    handed = after["wchar"] - before["wchar"]
    pages = after["write_bytes"] - before["write_bytes"]
    bare = _pages_of_appending(home, messages)
    print(f"{content:,} bytes of messages: {handed:,} to write(), {pages:,} in pages")
    print(
        f"appended and synced one by one: {bare:,} in pages; ours are {pages / bare:.2f} times that"
    )
    return Outcome(AMOUNT, handed / content)


async def _longest_gap(recording: Recording) -> float:
    """Record beside something else that wants its turn."""
    gaps: list[float] = []
    watching = asyncio.create_task(watch_turns(gaps))
    messages = [message for message, _ in zip(sample_messages(), range(MESSAGES), strict=False)]
    await _record_all(recording, messages)
    watching.cancel()
    print(f"the longest gap of the loop while {MESSAGES:,} are saved: {milliseconds(max(gaps))}")
    return max(gaps)


async def _record_all(recording: Recording, messages: list[Message]) -> None:
    session = sample_session(0)
    recorder = recording.create(session)
    await recorder.record(Created(at=clock.now(), session=session))
    for message in messages:
        await recorder.record(_added(message))
    await recorder.close()


def _pages_of_appending(home: Path, messages: list[Message]) -> int:
    before = _io()
    descriptor = os.open(home / "appended", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for message in messages:
        os.write(descriptor, encode(message))
        os.fdatasync(descriptor)
    os.close(descriptor)
    return _io()["write_bytes"] - before["write_bytes"]


def _io() -> dict[str, int]:
    lines = Path("/proc/self/io").read_text().splitlines()
    return {name: int(value) for name, _, value in (line.partition(": ") for line in lines)}
