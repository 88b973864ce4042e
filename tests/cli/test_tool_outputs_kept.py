"""retention.storeToolOutputs in the settings decides whether outputs of tools reach the disk."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.cases import some
from tests.cli.conftest import Run
from tests.folders import everything_in

CODE = "seq 70000000 70010000"
NOTE = re.compile(r"\[output not kept: [\d.]+ kB, sha256:[0-9a-f]{12}…\]\n\[exit 0 · [\d.]+ m?s\]")


@some(1, "is_kept", (True, False))
def test_an_output_is_on_disk_only_if_the_settings_want_it(
    run_ollm: Run, home: Path, is_kept: bool
) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(
        f"retention:\n  storeToolOutputs: {json.dumps(is_kept)}\n"
        "models:\n  scripted:\n    window: 65536\n"
    )
    call = {"tool": "exec", "args": {"code": CODE}}
    script = [[call, {"finish": "tool_calls"}], [{"text": "Counted."}]]
    done = run_ollm("-p", "count", "--output", "json", script=script)
    assert done.returncode == 0, done.stderr
    session_id = json.loads(done.stdout)["sessionId"]
    run_ollm("snapshots", "create", session_id)
    run_ollm("sessions", "fork", session_id)
    assert run_ollm("sessions", "search", "count").returncode == 0
    stored = everything_in(home)
    exported = run_ollm("sessions", "export", session_id, "--bundle").stdout.encode()
    for data in (stored, exported):
        assert (b"70000001" in data) is is_kept and (b"70009999" in data) is is_kept
    shown = json.loads(run_ollm("sessions", "view", session_id, "--json").stdout)
    recorded = shown["toolCalls"][0]
    assert (recorded["name"], recorded["args"]) == ("exec", {"code": CODE})
    if not is_kept:
        assert NOTE.fullmatch(recorded["result"]["llmContent"]), recorded["result"]
        assert recorded["result"]["size"] > 90_000
        assert len(recorded["result"]["sha256"]) == 64


def test_an_error_amid_a_long_output_is_seen_and_the_rest_can_be_read(
    run_ollm: Run, home: Path
) -> None:
    lines = [f"step {number} went well" for number in range(1, 40_001)]
    lines[19_999] = "src/parse.c:12:3: error: unknown type name 'lenght'"
    Path("build.log").write_text("\n".join(lines))
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text("models:\n  scripted:\n    window: 8192\n")
    look = {"tool": "exec", "args": {"code": "cat build.log"}}
    read = {"tool": "read_output", "args": {"start": 30_000, "end": 30_001}}
    script = [*([each, {"finish": "tool_calls"}] for each in (look, read)), [{"text": "Read."}]]
    done = run_ollm("-p", "what fails?", "--output", "json", script=script)
    session_id = json.loads(done.stdout)["sessionId"]
    session = json.loads((home / "sessions" / f"{session_id}.json").read_text())
    parts = (part for message in session["messages"] for part in message["parts"])
    built, rest = (part["content"] for part in parts if part["type"] == "tool-result")
    assert f"{lines[19_998]}\n{lines[19_999]}\n{lines[20_000]}" in built
    assert rest.startswith("[lines 30000-30001 of 4000")
    assert rest.endswith(f"{lines[29_999]}\n{lines[30_000]}")
