"""`--events FILE` and `ollm extensions`, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run

SCRIPT = [[{"text": "Paris."}]] * 2


def test_all_events_of_a_turn_are_written_one_a_line(run_ollm: Run, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    done = run_ollm("-p", "Capital of France?", "--events", str(file), script=SCRIPT)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in file.read_text().splitlines()]
    names = [event["event"] for event in events]
    wanted = {
        "session-created",
        "message-recorded",
        "turn-started",
        "turn-finished",
        "session-saved",
    }
    assert wanted <= set(names) and "text" not in names
    assert names.index("turn-started") < names.index("turn-finished")
    assert all(event["at"] and event["sessionId"] for event in events)
    refused = run_ollm("-p", "Again?", "--events", str(tmp_path), script=SCRIPT)
    assert refused.returncode == 2 and "cannot write events" in refused.stderr


def test_extensions_are_listed_and_an_unknown_one_is_refused(run_ollm: Run) -> None:
    assert "No extensions installed" in run_ollm("extensions", "list").stdout
    assert json.loads(run_ollm("extensions", "list", "--json").stdout) == []
    gone = run_ollm("extensions", "disable", "nothing")
    assert gone.returncode == 2 and "no extension" in gone.stderr
