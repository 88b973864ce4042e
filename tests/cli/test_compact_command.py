"""`ollm sessions compact`: the same compression as in the chat, without a screen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

ANSWER = " ".join(f"Raised bed {n} warms up early and drains well." for n in range(0, 75, 3))
SUMMARY = "The user plans a garden with raised beds; three of them were agreed on."


@pytest.fixture
def session_id(run_ollm: Run, home: Path) -> str:
    """A conversation that is worth compressing, on a window of 2,048 tokens."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.yaml").write_text("context:\n  window: 2048\n")
    script = [[{"text": ANSWER}]]
    done = run_ollm("-p", "Which soil?", "--output", "json", script=script)
    found = json.loads(done.stdout)["sessionId"]
    for question in ("How deep?", "How wide?", "And water?"):
        run_ollm("-p", question, "--resume", found, script=script)
    return found


def test_a_session_is_compressed_and_the_compression_undone(run_ollm: Run, session_id: str) -> None:
    before = json.loads(run_ollm("sessions", "view", session_id, "--json").stdout)
    done = run_ollm("sessions", "compact", session_id, script=[[{"text": SUMMARY}]])
    assert done.returncode == 0, done.stderr
    assert "folded into a checkpoint" in done.stdout
    after = json.loads(run_ollm("sessions", "view", session_id, "--json").stdout)
    assert after["messages"] == before["messages"]
    assert after["metadata"]["compressionCount"] == 1
    [entry] = after["metadata"]["compressionHistory"]
    assert entry["created"][0]["summary"] == SUMMARY
    again = run_ollm("sessions", "compact", session_id, script=[])
    assert again.returncode == 0 and "not compressed" in again.stderr
    undone = run_ollm("sessions", "compact", session_id, "--undo", script=[])
    assert undone.returncode == 0 and "undone" in undone.stdout
    assert run_ollm("sessions", "compact", session_id, "--undo", script=[]).returncode != 0


def test_a_preview_changes_nothing(run_ollm: Run, session_id: str) -> None:
    done = run_ollm("sessions", "compact", session_id, "--preview", script=[[{"text": SUMMARY}]])
    assert done.returncode == 0, done.stderr
    assert "fold" in done.stdout and SUMMARY in done.stdout
    tree = json.loads(run_ollm("sessions", "view", session_id, "--json").stdout)
    assert tree["metadata"]["compressionCount"] == 0


def test_an_unknown_session_is_told_in_one_line(run_ollm: Run) -> None:
    done = run_ollm("sessions", "compact", "ffff", script=[])
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("ollm: ")
