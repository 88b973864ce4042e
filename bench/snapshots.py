"""Taking, reading and comparing snapshots of long contexts, against bare bytes and difflib."""

from __future__ import annotations

import difflib
import gc
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from msgspec.structs import replace

from bench.measure import Outcome, Promise, interleaved, milliseconds
from bench.sample_sessions import sample_session
from bench.scratch_home import scratch_home
from ollm_tui.core import clock
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import ContextSnapshot, snapshot_of
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.snapshots.restore_plan import restoration
from ollm_tui.services.snapshots.snapshot_diff import diff
from ollm_tui.services.snapshots.snapshot_library import SnapshotLibrary
from ollm_tui.storage.snapshots.snapshot_file import file_name
from ollm_tui.storage.store_layout import StoreLayout

TOKENS = 100_000
CHARACTERS_PER_TOKEN = 4
CHARACTERS_PER_MESSAGE = 850
KEPT = 5
ROUNDS = 80
RECORD = b"x" * 400 + b"\n"
"""As long as what going back records."""
LONG, SHARED = 1_000, 500
"""Messages of each context that is compared, and how many of them both have."""

CREATE = Promise(f"a snapshot of {TOKENS:,} tokens", "writing its bytes with fsync", 3)
RESTORE = Promise(f"going back to {TOKENS:,} tokens", "reading its bytes with fsync", 3)
DIFF = Promise(f"comparing two contexts of {LONG:,} messages", "difflib on their ids", 2)
PROMISES = (CREATE, RESTORE, DIFF)


def main() -> list[Outcome]:
    """Measure the disk first, then the comparison."""
    with scratch_home() as home:
        outcomes = _disk(home)
    return [*outcomes, _comparison()]


def _disk(home: Path) -> list[Outcome]:
    layout = StoreLayout(home / "sessions")
    messages = TOKENS * CHARACTERS_PER_TOKEN // CHARACTERS_PER_MESSAGE
    sessions = SessionLibrary.at(layout)
    session_id = sessions.add(sample_session(messages, CHARACTERS_PER_MESSAGE))
    writer, loaded = sessions.store.open(session_id)
    state = loaded.state
    library = SnapshotLibrary.at(layout)
    kept = library.create(replace(_snapshot(state), name="kept"), KEPT).summary
    data = (layout.snapshot_folders(session_id)[0] / file_name(kept.id)).read_bytes()

    def create() -> None:
        library.create(_snapshot(state), KEPT)

    def restore() -> None:
        record = restoration(library.get(session_id, kept.id, state), state).record(clock.now())
        seq = state.header.journal_seq + 1
        state.apply(record, seq)
        writer.append([(seq, record)])

    journal = os.open(home / "journal", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    runs = interleaved(
        {
            "write": _timed(lambda: _write_synced(home / "bare", data)),
            "create": _timed(create),
            "read": _timed(lambda: _read_synced(home / "bare", journal)),
            "restore": _timed(restore),
        },
        ROUNDS,
        warm_up=KEPT,
    )
    os.close(journal)
    writer.close()
    sessions.close()
    middle = _told(runs, median, f"{len(state):,} messages, {len(data):,} bytes")
    return [
        Outcome(CREATE, middle["create"] / middle["write"]),
        Outcome(RESTORE, middle["restore"] / middle["read"]),
    ]


def _comparison() -> Outcome:
    session = sample_session(2 * LONG - SHARED, characters=100)
    left, right = (
        _snapshot(SessionState(replace(session, messages=messages, head=messages[-1].id)))
        for messages in (session.messages[:LONG], session.messages[-LONG:])
    )

    def reference() -> None:
        difflib.SequenceMatcher(None, left.order, right.order, autojunk=False).get_opcodes()

    runs = interleaved(
        {"difflib": _timed(reference), "diff": _timed(lambda: diff(left, right))}, ROUNDS
    )
    # No disk has a part in this: others on the machine only ever add to it.
    least = _told(runs, min, f"{LONG:,} messages a side, {SHARED:,} in both")
    return Outcome(DIFF, least["diff"] / least["difflib"])


def _told(
    runs: dict[str, list[float]], pick: Callable[[list[float]], float], what: str
) -> dict[str, float]:
    picked = {name: pick(seconds) for name, seconds in runs.items()}
    times = ", ".join(f"{name} {milliseconds(seconds)}" for name, seconds in picked.items())
    print(f"{what}: {times}")
    return picked


def _snapshot(state: SessionState) -> ContextSnapshot:
    return snapshot_of(state, TOKENS, reason="threshold")


def _timed(work: Callable[[], object]) -> Callable[[], float]:
    def run() -> float:
        gc.collect()
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return run


def _write_synced(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        os.write(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_synced(path: Path, journal: int) -> None:
    """Going back ends with a record in the journal, so its reference has one as well."""
    path.read_bytes()
    os.write(journal, RECORD)
    os.fdatasync(journal)
