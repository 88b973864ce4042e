"""`ollm sessions import --from`: what other programs stored, built by hand after their formats."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from tests.cases import some
from tests.cli.conftest import Run
from tests.storage.importers.program_samples import SAMPLES, codex, opencode_files


@some(2, ("program", "build"), SAMPLES, ids=[each.__name__ for _, each in SAMPLES])
def test_sessions_of_a_program_are_read_searched_and_taken_in_once(
    run_ollm: Run, home: Path, program: str, build: Callable[[Path], Path]
) -> None:
    path = build(home.parent)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    beside = sorted(path.parent.iterdir())
    files = [str(path)] if program == "chatgpt" else []
    done = run_ollm("sessions", "import", "--from", program, *files)
    assert done.returncode == 0 and f"1 session imported from {program}." in done.stdout, (
        done.stderr
    )
    (session,) = json.loads(run_ollm("sessions", "list", "--json").stdout)
    assert session["title"] == "Looking for the carrot"
    assert session["tags"] == ["imported", program]
    tree = json.loads(run_ollm("sessions", "view", session["sessionId"], "--json").stdout)
    words = [part.get("text", "") for each in tree["messages"] for part in each["parts"]]
    assert words[0].split() == ["Where", "is", "the", "carrot?"] and words[-1] == "In carrot.py."
    assert "\x1b" not in json.dumps(tree) and "hidden" not in words
    roles = [each["role"] for each in tree["messages"]]
    assert roles in (["user", "assistant"], ["user", "assistant", "tool", "assistant"])
    found = run_ollm("sessions", "search", "carrot", "role:user")
    assert found.returncode == 0 and "Where" in found.stdout
    again = run_ollm("sessions", "import", "--from", program, *files)
    assert f"0 sessions imported from {program}, 1 already imported." in again.stdout
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert sorted(path.parent.iterdir()) == beside


def test_only_the_sessions_of_a_folder_are_taken_and_what_is_unreadable_is_named(
    run_ollm: Run, home: Path
) -> None:
    codex(home.parent)
    broken = home.parent / ".codex/sessions/2026/05/01/rollout-x.jsonl.zst"
    broken.write_bytes(b"\x28\xb5\x2f\xfd")
    nothing = run_ollm("sessions", "import", "--from", "codex", "--project", "/elsewhere")
    assert (
        nothing.returncode == 1
        and "0 sessions" in nothing.stdout
        and "compressed" in nothing.stderr
    )
    some = run_ollm("sessions", "import", "--from", "codex", "--project", "/work/shop")
    assert "1 session imported from codex, 1 file could not be read." in some.stdout


def test_a_file_without_a_conversation_is_named(run_ollm: Run, home: Path) -> None:
    other = home.parent / "notes.jsonl"
    other.write_text('{"type": "note"}\n')
    for program in ("claude-code", "codex", "gemini-cli", "opencode", "llm", "chatgpt"):
        done = run_ollm("sessions", "import", "--from", program, str(other))
        assert (done.returncode, "notes.jsonl: " in done.stderr) == (1, True), program
        assert "0 sessions" in done.stdout and "1 file could not be read" in done.stdout
    torn = codex(home.parent)
    torn.write_text('{"type": "session_meta"\n{"torn')
    done = run_ollm("sessions", "import", "--from", "codex")
    assert "none of it could be read" in done.stderr and done.returncode == 1


def test_an_exported_session_of_opencode_is_the_one_of_its_files(run_ollm: Run, home: Path) -> None:
    root = opencode_files(home.parent).parents[2]
    files = {path.stem: json.loads(path.read_text()) for path in root.rglob("*.json")}
    parts = {"msg_1": ["prt_1"], "msg_2": ["prt_2"], "msg_3": ["prt_3"]}
    messages = [
        {"info": files[name], "parts": [files[part] for part in of_it]}
        for name, of_it in parts.items()
    ]
    export = home.parent / "export.json"
    export.write_text(json.dumps({"info": files["ses_1"], "messages": messages}))
    done = run_ollm("sessions", "import", "--from", "opencode", str(export))
    assert "1 session imported from opencode." in done.stdout, done.stderr
    again = run_ollm("sessions", "import", "--from", "opencode")
    assert "0 sessions imported from opencode, 1 already imported." in again.stdout


def test_a_history_that_was_taken_in_pushes_no_own_session_out(run_ollm: Run, home: Path) -> None:
    codex(home.parent)
    run_ollm("sessions", "import", "--from", "codex")
    kept = run_ollm("sessions", "cleanup", "--keep", "1")
    assert "0 moved to the trash" in kept.stdout


def test_import_without_a_file_or_a_program_says_what_it_needs(run_ollm: Run) -> None:
    assert run_ollm("sessions", "import").returncode == 2
    assert run_ollm("sessions", "import", "--from", "chatgpt").returncode == 2
