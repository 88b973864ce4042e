"""A good snapshot rescues a damaged session: by restoring, by forking and by repairing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.snapshots.closed_sessions import ClosedSessions
from ollm_tui.services.snapshots.snapshot_library import SnapshotLibrary
from ollm_tui.settings.schema import Snapshots
from ollm_tui.storage.store_layout import StoreLayout
from tests.cases import some
from tests.cli.conftest import Run
from tests.crash.samples import begin, texts, user_message

NAME = "subject"
SAID = ["m0", "m1", "m2", "m3"]


@pytest.fixture
def library(home: Path) -> SessionLibrary:
    """A session with a snapshot, whose file breaks off in its second message."""
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    messages = [
        user_message(name, parent_id=before)
        for name, before in zip(SAID, (None, *SAID), strict=False)
    ]
    begin(library.store, NAME, *messages)
    library.change(NAME, title="a title")
    ClosedSessions(library, SnapshotLibrary.beside(library.store), Snapshots()).take(NAME, "good")
    path = library.store.layout.session(NAME)
    path.write_bytes(path.read_bytes().partition(b'"id":"m1"')[0])
    return library


def snapshot_id(run_ollm: Run) -> str:
    [found] = json.loads(run_ollm("snapshots", "list", NAME, "--json").stdout)
    return found["id"]


@some(1, "fork", ((), ("--fork",)))
def test_a_snapshot_of_a_damaged_session_is_restored_in_a_copy(
    run_ollm: Run, library: SessionLibrary, fork: tuple[str, ...]
) -> None:
    before = library.store.layout.session(NAME).read_bytes()
    done = run_ollm("snapshots", "restore", snapshot_id(run_ollm), *fork)
    assert done.returncode == 0, done.stderr
    copy = done.stdout.split()[-1]
    assert list(texts(library.load(copy).state)) == SAID
    assert library.store.layout.session(NAME).read_bytes() == before


@some(1, "is_empty", (False, True))
def test_repairing_uses_what_only_the_snapshots_know(
    run_ollm: Run, library: SessionLibrary, is_empty: bool
) -> None:
    if is_empty:
        library.store.layout.session(NAME).write_bytes(b"")
    done = run_ollm("doctor", "--repair", NAME)
    assert done.returncode == 0, done.stderr
    state = library.load(done.stdout.split()[-1]).state
    assert [message.id for message in state.branch()] == SAID
    assert state.header.title.endswith("(repaired)")
