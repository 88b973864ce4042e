"""retention.storeToolOutputs in the settings decides what of a tool's output is in the session."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize("is_kept", (True, False))
def test_the_whole_output_of_a_tool_is_stored_only_if_the_settings_want_it(
    run_ollm: Run, home: Path, is_kept: bool
) -> None:
    much = "".join(f"{number} of many lines\n" for number in range(3000))
    Path("long.txt").write_text(f"{much}zebrafish\n{much}")
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(
        f"retention:\n  storeToolOutputs: {json.dumps(is_kept)}\n"
        "models:\n  scripted:\n    window: 8192\n"
    )
    call = {"tool": "exec", "args": {"code": "cat long.txt"}}
    script = [[call, {"finish": "tool_calls"}], [{"text": "Read."}]]
    done = run_ollm("-p", "read it", "--output", "json", script=script)
    assert done.returncode == 0, done.stderr
    session_id = json.loads(done.stdout)["sessionId"]
    session = json.loads((home / "sessions" / f"{session_id}.json").read_text())
    [recorded] = session["toolCalls"]
    assert "cut here" in recorded["result"]["llmContent"]
    assert ("zebrafish" in recorded["result"].get("returnDisplay", "")) is is_kept
