"""Files that another program wrote are read, and never moved, counted or altered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

SEED: dict[str, Any] = {
    "sessionId": "550e8400-e29b-41d4-a716-446655440000",
    "startTime": "2026-01-27T10:00:00Z",
    "lastActivity": "2026-01-27T11:30:00Z",
    "model": "llama3.2:3b",
    "provider": "ollama",
    "messages": [
        {
            "role": role,
            "parts": [{"type": "text", "text": text}],
            "timestamp": "2026-01-27T10:00:00Z",
        }
        for role, text in (("user", "Where is the harbour?"), ("assistant", "By the sea."))
    ],
    "toolCalls": [
        {
            "id": "call_1",
            "name": "read_file",
            "args": {"path": "file.ts"},
            "result": {"llmContent": "..."},
            "timestamp": "2026-01-27T10:00:20Z",
        }
    ],
    "metadata": {"tokenCount": 8500, "compressionCount": 2, "modeHistory": []},
}
"""A session file as an earlier program wrote it."""


@pytest.fixture
def theirs(home: Path) -> dict[Path, bytes]:
    """The folder of the earlier program is the data folder, as its own settings said."""
    folder = home / "session-data"
    folder.mkdir(parents=True)
    (home / "config.yaml").write_text(
        f"sessions:\n  dataDir: {folder}\n  maxSessions: 1\nretention:\n  maxAge: 1d\n"
    )
    (folder / f"{SEED['sessionId']}.json").write_text(json.dumps(SEED))
    (folder / "pretty.json").write_text(json.dumps(SEED, indent=2))
    (folder / "package.json").write_text('{"name": "no session at all"}')
    (folder / "notes.journal").write_text("dear diary")
    return {path: path.read_bytes() for path in folder.iterdir()}


def test_no_command_moves_or_alters_them(run_ollm: Run, theirs: dict[Path, bytes]) -> None:
    for text in ("one", "two"):
        run_ollm("-p", text, script=[[{"text": "Yes."}]])
    assert run_ollm("sessions", "cleanup").stdout.endswith("trash restore ID\n")
    for name in ("550e8400", "pretty", "package"):
        done = run_ollm("sessions", "delete", name, "--yes")
        assert done.returncode == 1
        assert "belongs to another program" in done.stderr and done.stderr.count("\n") == 1
    assert run_ollm("sessions", "clear", "--all", "--yes").stdout == "2 deleted.\n"
    assert {path: path.read_bytes() for path in theirs} == theirs


def test_they_are_listed_by_what_was_said_first_and_with_the_messages_they_have(
    run_ollm: Run, theirs: dict[Path, bytes]
) -> None:
    listed = json.loads(run_ollm("sessions", "list", "--json").stdout)
    shown = {each["sessionId"]: (each["title"], each["messageCount"]) for each in listed}
    assert shown["550e8400-e29b-41d4-a716-446655440000"] == ("Where is the harbour?", 2)
    assert shown["pretty"] == ("Where is the harbour?", 2)
    assert run_ollm("sessions", "view", "pretty").stdout.startswith("Where is the harbour?\n")
    # Both say the same, so one of them stands for both.
    found = run_ollm("sessions", "search", "sea").stdout
    assert found.startswith(
        ("pretty  Where is the harbour?  (", "550e8400  Where is the harbour?  (")
    )
    assert {path: path.read_bytes() for path in theirs} == theirs
