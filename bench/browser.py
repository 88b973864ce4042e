"""Opening the browser: a store of many sessions and snapshots against one of a few."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from bench.chat_programs import configure, ollm, opened
from bench.measure import Cost, Outcome, Promise, interleaved, milliseconds
from bench.sample_sessions import fill_store, sample_session
from bench.scratch_home import scratch_home
from bench.terminal_program import ANSWER_SECONDS
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import snapshot_of
from ollm_tui.services.snapshots.snapshot_library import SnapshotLibrary
from ollm_tui.storage.snapshots.snapshot_file import file_name
from ollm_tui.storage.store_layout import StoreLayout

FEW, MANY = 10, 10_000
EACH = 5
"""Snapshots of a session."""
ROUNDS = 7
SIZE = (120, 40)
OPEN, TITLE = "\x1bOR", "A sample of 4 messages"
"""F3, and what the first line of the list is called."""
_STORES = f"{MANY:,} sessions and {MANY * EACH:,} snapshots"
CPU = Promise(f"browser with {_STORES} to its first paint, CPU", f"with {FEW}", 1.5)
WALL = Promise(f"browser with {_STORES} to its first paint, wall", f"with {FEW}", 1.5)
PROMISES = (CPU, WALL)


def main() -> list[Outcome]:
    """Open both in turns; the first time does not count, it makes what is derived."""
    with scratch_home() as small, scratch_home() as large:
        for home, sessions in ((small, FEW), (large, MANY)):
            configure(home)
            with (home / "config.yaml").open("a") as settings:
                settings.write("sessions:\n  maxSessions: 0\n")  # else most go to the trash
            fill_store(home, sessions)
            _fill_with_snapshots(home)
        runs = interleaved({"few": partial(_open, small), "many": partial(_open, large)}, ROUNDS)
    few, many = (Cost(*map(min, zip(*runs[name], strict=True))) for name in ("few", "many"))
    for number, cost in ((FEW, few), (MANY, many)):
        print(f"{number:,} sessions: {milliseconds(cost.cpu)} CPU, {milliseconds(cost.wall)} wall")
    return [Outcome(CPU, many.cpu / few.cpu), Outcome(WALL, many.wall / few.wall)]


def _open(home: Path) -> Cost:
    """From the key to the first lines of the list."""
    with opened(ollm(home), home, SIZE) as terminal:
        shown, before = terminal.expect(TITLE), terminal.cpu()
        pressed = terminal.type(OPEN)
        moment = shown.result(ANSWER_SECONDS)
        terminal.settled()
        return Cost(moment.cpu - before, moment.wall - pressed)


def _fill_with_snapshots(home: Path) -> None:
    """Files of snapshots beside every session, unsynced and without an index."""
    layout = StoreLayout(home / "sessions")
    sample = sample_session(4, characters=200)
    state = SessionState(sample)
    library = SnapshotLibrary.at(layout)
    taken = library.create(snapshot_of(state, 200, reason="threshold"), EACH).summary
    folder = layout.snapshot_folders(sample.session_id)[0]
    data = (folder / file_name(taken.id)).read_bytes()
    for path in layout.sessions.glob("*.json"):
        folder = layout.snapshot_folders(path.stem)[0]
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(EACH):
            key = f"{path.stem[:8]}-{number:04}"
            copied = data.replace(taken.id.encode(), key.encode())
            copied = copied.replace(sample.session_id.encode(), path.stem.encode())
            (folder / file_name(key)).write_bytes(copied)
