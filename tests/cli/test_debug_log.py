"""--debug logs what the services do, without secrets and without a word on the screen."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run

KEY = "sk-proj-Zx81mQ7LwT4vN2bYc6Rf9HdKp3Js5Ug0"
CALL = {"tool": "exec", "args": {"code": "seq 3"}}
SCRIPT = [[CALL, {"finish": "tool_calls"}], [{"text": "Yes."}]]


def lines(home: Path) -> list[dict[str, str]]:
    log = home / "logs" / "ollm.log"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def test_debug_logs_operations_and_names_of_withheld_variables(run_ollm: Run, home: Path) -> None:
    done = run_ollm(
        *("--debug", "-p", "hello", "--output", "json"), script=SCRIPT, WORK_API_KEY=KEY
    )
    session_id = json.loads(done.stdout)["sessionId"]
    assert done.stderr == "ollm: exec: seq 3\n"
    said = [line["message"] for line in lines(home)]
    for words in ("session saved: 4 messages", "started: shell", "ended: completed, exit 0"):
        assert any(words in message for message in said), (words, said)
    assert any("WORK_API_KEY" in message for message in said if "withheld" in message)
    assert {"info", "debug"} <= {line["level"] for line in lines(home)}
    assert any(line.get("session") == session_id for line in lines(home))
    assert KEY not in (home / "logs" / "ollm.log").read_text()
    done = run_ollm("--debug", "sessions", "delete", session_id, "--yes")
    assert (done.stdout, done.stderr) == ("", "")
    assert lines(home)[-1]["message"] == "session deleted"


def test_without_it_nothing_is_logged_that_went_well(run_ollm: Run, home: Path) -> None:
    assert run_ollm("-p", "hello", script=SCRIPT).returncode == 0
    assert lines(home) == []
