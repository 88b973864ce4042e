"""What is deleted for good is gone from every file of the data folder, word by word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ollm_tui.services.sessions.prompt_memory import PromptMemory
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.snapshots.closed_sessions import ClosedSessions
from ollm_tui.services.snapshots.snapshot_library import SnapshotLibrary
from ollm_tui.settings.schema import Snapshots
from ollm_tui.storage.store_layout import StoreLayout
from tests.cases import some
from tests.cli.conftest import Run
from tests.folders import everything_in

SAID = "does the xylophonist whistle"
WORDS = ("xylophonist", "marzipan", "7000042", "quicksilver", "velociraptor", "porcupine")


def talk(run_ollm: Run, home: Path) -> str:
    """A session with everything that can be left of one: tools, snapshots, prompts, search."""
    call = {"tool": "exec", "args": {"code": "seq 7000000 7000050"}}
    script = [[call, {"finish": "tool_calls"}], [{"text": "Only marzipan does."}]]
    done = run_ollm("-p", SAID, "--output", "json", script=script)
    session_id: str = json.loads(done.stdout)["sessionId"]
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    library.change(session_id, title="quicksilver", tags=["porcupine"])
    snapshots = SnapshotLibrary.beside(library.store)
    ClosedSessions(library, snapshots, Snapshots()).take(session_id, "velociraptor")
    assert snapshots.counts()[session_id] == 2
    library.close()
    assert run_ollm("sessions", "search", "marzipan").returncode == 0
    assert "quicksilver" in run_ollm("sessions", "list").stdout
    memory = PromptMemory(home, Path.cwd())
    memory.remember(SAID)  # as earlier versions did, without a session
    memory.remember("/goal catch the velociraptor", session_id)
    memory.keep_draft(session_id, "and the porcupine?")
    return session_id


def left_in(home: Path) -> list[str]:
    data = everything_in(home)
    return [word for word in WORDS if word.encode() in data]


@pytest.fixture
def other(run_ollm: Run, home: Path) -> str:
    """Another session, which stays."""
    done = run_ollm("-p", "hello", "--output", "json", script=[[{"text": "Bonjour."}]])
    PromptMemory(home, Path.cwd()).remember("hello", "another")
    return json.loads(done.stdout)["sessionId"]


def test_no_word_of_a_deleted_session_is_left(run_ollm: Run, home: Path, other: str) -> None:
    session_id = talk(run_ollm, home)
    assert left_in(home) == list(WORDS)
    assert run_ollm("sessions", "delete", session_id[:8], "--yes").returncode == 0
    assert left_in(home) == []
    assert session_id.encode() not in everything_in(home / "context-snapshots")
    assert other in run_ollm("sessions", "search", "bonjour", "--json").stdout
    assert PromptMemory(home, Path.cwd()).history() == ["hello"]


@some(
    1,
    "command",
    (("delete", "ID", "--yes"), ("trash", "empty", "--yes"), ("clear", "--all", "--yes")),
)
def test_no_word_is_left_of_what_was_in_the_trash(
    run_ollm: Run, home: Path, command: tuple[str, ...]
) -> None:
    session_id = talk(run_ollm, home)
    run_ollm("-p", "hello", script=[[{"text": "Bonjour."}]])
    assert run_ollm("sessions", "cleanup", "--keep", "1").returncode == 0
    run_ollm("sessions", "search", "bonjour")  # the index forgets the session before it is deleted
    PromptMemory(home, Path.cwd()).remember("/rename marzipan", session_id)
    assert "quicksilver" in run_ollm("sessions", "trash", "list").stdout
    given = [session_id[:8] if word == "ID" else word for word in command]
    done = run_ollm("sessions", *given)
    assert done.returncode == 0, done.stderr
    assert left_in(home) == []


def test_emptying_the_trash_asks_first(run_ollm: Run, home: Path) -> None:
    assert run_ollm("sessions", "trash", "empty").stdout == "The trash is empty.\n"
    run_ollm("-p", SAID, script=[[{"text": "Bonjour."}]])
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    library.discard(library.all_own()[0], "a test")
    done = run_ollm("sessions", "trash", "empty")
    assert done.returncode == 2
    assert "Delete 1 session in the trash permanently?" in done.stderr
    assert "xylophonist" in left_in(home)
