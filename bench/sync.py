"""Syncing ten thousand sessions: with nothing new, and with one new message."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import msgspec

from bench.measure import Outcome, Promise, interleaved, milliseconds
from bench.sample_sessions import fill_store, sample_messages
from bench.scratch_home import scratch_home
from ollm_tui.core import clock
from ollm_tui.core.session.message import new_id
from ollm_tui.core.session.record import MessageAdded
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.sync.open_remote import opened, use_key
from ollm_tui.settings.schema import Settings, Sync
from ollm_tui.storage.store_layout import StoreLayout

SESSIONS = 10_000
ROUNDS = 15
MOST_BYTES = 5000
IDLE = Promise(f"a sync of {SESSIONS:,} sessions, nothing new", "git fetch alone", 2)
MOVED = Promise("bytes on the remote for one new message", f"{MOST_BYTES:,} bytes", 1)
PROMISES = (IDLE, MOVED)


def main() -> list[Outcome]:
    """Sync a full store with a bare repository in a folder."""
    with scratch_home() as home:
        fill_store(home, SESSIONS)
        remote = home / "remote.git"
        subprocess.run(("git", "init", "-q", "--bare", str(remote)), check=True)
        settings = Settings(sync=Sync(remote=str(remote)))
        library = SessionLibrary.at(StoreLayout(home / "sessions"))
        use_key(settings, library, os.environ, None)
        with opened(settings, library, os.environ) as syncing:
            first = _seconds(syncing.once)
            print(f"{SESSIONS:,} sessions for the first time: {milliseconds(first)}")
            repository = next((home / "sync").glob("*/memory/repository.git"))
            fetch = ("git", f"--git-dir={repository}", "fetch", "--quiet", "--no-tags", "--")
            fetch += (str(remote), "+refs/heads/ollm/*:refs/theirs/*")
            times = interleaved(
                {
                    "fetch": lambda: _seconds(lambda: subprocess.run(fetch, check=True)),
                    "sync": lambda: _seconds(syncing.once),
                },
                ROUNDS,
            )
            before = _bytes(remote)
            _say_something(library)
            syncing.once()
            moved = _bytes(remote) - before
    alone, whole = median(times["fetch"]), median(times["sync"])
    print(f"git fetch {milliseconds(alone)}, sync {milliseconds(whole)}; a message {moved:,} bytes")
    return [Outcome(IDLE, whole / alone), Outcome(MOVED, moved / MOST_BYTES)]


def _say_something(library: SessionLibrary) -> None:
    """Add a message to one session."""
    session_id = next(iter(library.store.directory.fingerprints()))
    writer, loaded = library.store.open(session_id)
    message = msgspec.structs.replace(next(sample_messages()), id=new_id())
    writer.append(
        [(loaded.state.header.journal_seq + 1, MessageAdded(at=clock.now(), message=message))]
    )
    writer.close()


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _bytes(folder: Path) -> int:
    """Return the size of all objects of a repository: what was pushed, as it arrived."""
    return sum(path.stat().st_size for path in (folder / "objects").rglob("*") if path.is_file())
