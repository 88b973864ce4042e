"""`ollm sessions import --from`: what other programs stored, built by hand after their formats."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.cases import some
from tests.cli.conftest import Run

AT = "2026-05-01T10:00:0{}.000Z"


def lines(path: Path, *trees: Any, end: str = "") -> None:
    """A file with one JSON object a line; `end` may be a torn last one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(tree) + "\n" for tree in trees) + end)


def claude_code(home: Path) -> Path:
    path = home / ".claude/projects/-work-shop/3c0c5f7a-0000-4000-8000-000000000001.jsonl"
    base: dict[str, Any] = {"sessionId": path.stem, "isSidechain": False, "cwd": "/work/shop"}

    def line(number: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
        message = {"role": role, "content": content, "id": f"m{number // 2}", "model": "claude-x"}
        facts = {"type": role, "uuid": f"u{number}", "parentUuid": None, "message": message}
        return {**base, **facts, "timestamp": AT.format(number), **more}

    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [{"type": "text", "text": "carrot.py"}],
    }
    lines(
        path,
        {"type": "file-history-snapshot"},
        line(0, "user", "<command-name>/clear</command-name>"),
        line(1, "user", "Where is the carrot?"),
        line(2, "assistant", [{"type": "thinking", "thinking": "hm", "signature": "x"}]),
        line(3, "assistant", [{"type": "text", "text": "Looking \x1b[2J."}, call]),
        line(3, "assistant", [{"type": "text", "text": "a line that is there twice"}]),
        line(4, "user", [result], toolUseResult="carrot.py"),
        line(5, "assistant", [{"type": "text", "text": "In carrot.py."}]),
        line(6, "user", "of a subagent", isSidechain=True),
        {"type": "ai-title", "aiTitle": "Looking for the carrot", "sessionId": path.stem},
        end='{"type": "user", "torn',
    )
    (path.parent / "agent-1.jsonl").write_text("{}")
    return path


def codex(home: Path) -> Path:
    name = "rollout-2026-05-01T10-00-00-3c0c5f7a-0000-4000-8000-000000000002.jsonl"
    path = home / ".codex/sessions/2026/05/01" / name

    def item(number: int, kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": AT.format(number), "type": kind, "payload": payload}

    def text(number: int, role: str, words: str) -> dict[str, Any]:
        content = [{"type": "input_text", "text": words}]
        return item(number, "response_item", type="message", role=role, content=content)

    lines(
        path,
        item(0, "session_meta", id=path.stem[-36:], cwd="/work/shop"),
        item(0, "session_meta", id="copied", cwd="/elsewhere"),
        item(0, "turn_context", model="gpt-x"),
        text(1, "user", "<environment_context>x</environment_context>"),
        text(1, "user", "Where is the carrot?"),
        item(2, "event_msg", type="user_message", message="Where is the carrot?"),
        item(
            3, "response_item", type="reasoning", summary=[{"type": "summary_text", "text": "hm"}]
        ),
        item(
            3,
            "response_item",
            type="function_call",
            call_id="c",
            name="shell",
            arguments='{"command": "ls"}',
        ),
        item(4, "response_item", type="function_call_output", call_id="c", output="carrot.py"),
        text(5, "assistant", "In carrot.py."),
    )
    index = {"id": path.stem[-36:], "thread_name": "Looking for the carrot"}
    lines(home / ".codex/session_index.jsonl", index)
    return path


def gemini(home: Path) -> Path:
    path = home / ".gemini/tmp/shop/chats/session-2026-05-01T10-00-abcdef12.jsonl"
    call: dict[str, Any] = {"id": "c", "name": "list", "args": {"path": "."}, "status": "success"}
    call["result"] = [{"functionResponse": {"response": {"output": "carrot.py"}}}]
    lines(
        path,
        {"sessionId": "g1", "projectHash": "h", "startTime": AT.format(0)},
        {"id": "0", "timestamp": AT.format(0), "type": "user", "content": "<session_context>…"},
        {
            "id": "1",
            "timestamp": AT.format(1),
            "type": "user",
            "content": [{"text": "Where is the carrot?"}],
        },
        {"id": "2", "timestamp": AT.format(2), "type": "gemini", "content": "half"},
        {
            "id": "2",
            "timestamp": AT.format(2),
            "type": "gemini",
            "content": "",
            "toolCalls": [call],
            "thoughts": [{"subject": "hm", "description": "so"}],
            "model": "gemini-x",
        },
        {
            "id": "3",
            "timestamp": AT.format(3),
            "type": "gemini",
            "content": "In carrot.py.",
            "model": "gemini-x",
        },
        {"id": "4", "timestamp": AT.format(4), "type": "user", "content": "taken back"},
        {"$rewindTo": "4"},
        {"$set": {"summary": "Looking for the carrot"}},
    )
    (path.parents[1] / ".project_root").write_text("/work/shop\n")
    return path


def opencode(home: Path) -> Path:
    path = home / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True)
    state = {"status": "completed", "input": {"path": "."}, "output": "carrot.py"}
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("CREATE TABLE session (id, project_id, parent_id, directory, title)")
        base.execute("CREATE TABLE message (id, session_id, time_created, data)")
        base.execute("CREATE TABLE part (id, message_id, session_id, time_created, data)")
        base.execute("CREATE TABLE credential (secret)")
        title = "Looking for the carrot"
        base.execute("INSERT INTO session VALUES ('s', 'p', NULL, '/work/shop', ?)", (title,))
        base.execute("INSERT INTO session VALUES ('sub', 'p', 's', '/work/shop', 'agent')")
        said = (
            (
                "m1",
                {"role": "user"},
                [
                    {"type": "text", "text": "Where is the carrot?"},
                    {"type": "text", "text": "hidden", "synthetic": True},
                ],
            ),
            (
                "m2",
                {"role": "assistant", "modelID": "open-x"},
                [{"type": "tool", "callID": "c", "tool": "list", "state": state}],
            ),
            (
                "m3",
                {"role": "assistant", "modelID": "open-x"},
                [{"type": "text", "text": "In carrot.py."}],
            ),
        )
        for number, (key, data, parts) in enumerate(said):
            moment = 1777629600000 + number * 1000
            base.execute(
                "INSERT INTO message VALUES (?, 's', ?, ?)", (key, moment, json.dumps(data))
            )
            for place, part in enumerate(parts):
                row = (f"{key}{place}", key, moment, json.dumps(part))
                base.execute("INSERT INTO part VALUES (?, ?, 's', ?, ?)", row)
    return path


def llm(home: Path) -> Path:
    path = home / ".config/io.datasette.llm/logs.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("CREATE TABLE conversations (id, name, model)")
        base.execute(
            "CREATE TABLE responses (id, conversation_id, prompt, response, model, datetime_utc)"
        )
        base.execute("INSERT INTO conversations VALUES ('c', 'Looking for the carrot', 'm')")
        row = ("Where is the carrot?", "In carrot.py.", "llm-x", "2026-05-01T10:00:00")
        base.execute("INSERT INTO responses VALUES ('r', 'c', ?, ?, ?, ?)", row)
    return path


def chatgpt(home: Path) -> Path:
    path = home / "Downloads" / "export.zip"
    path.parent.mkdir()

    def node(parent: str | None, role: str, words: str, **more: Any) -> dict[str, Any]:
        content = {"content_type": "text", "parts": [words]}
        message = {
            "author": {"role": role},
            "content": content,
            "create_time": 1777629600.5,
            **more,
        }
        return {"message": message, "parent": parent}

    mapping = {
        "root": {"message": None, "parent": None},
        "h": node("root", "system", "", metadata={"is_visually_hidden_from_conversation": True}),
        "q": node("h", "user", "Where is the carrot?"),
        "old": node("q", "assistant", "another branch"),
        "a": node("q", "assistant", "In carrot.py.", metadata={"model_slug": "gpt-x"}),
    }
    tree = [{"id": "x", "title": "Looking for the carrot", "current_node": "a", "mapping": mapping}]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps(tree))
        archive.writestr("user.json", "{}")
    return path


PROGRAMS: Sequence[tuple[str, Callable[[Path], Path]]] = (
    ("claude-code", claude_code),
    ("codex", codex),
    ("gemini-cli", gemini),
    ("opencode", opencode),
    ("llm", llm),
    ("chatgpt", chatgpt),
)


@some(2, ("program", "build"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
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
    assert words[0] == "Where is the carrot?" and words[-1] == "In carrot.py."
    assert "\x1b" not in json.dumps(tree) and "hidden" not in words
    roles = [each["role"] for each in tree["messages"]]
    assert roles in (["user", "assistant"], ["user", "assistant", "tool", "assistant"])
    found = run_ollm("sessions", "search", "carrot", "role:user")
    assert found.returncode == 0 and "Where is the" in found.stdout
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


def test_a_history_that_was_taken_in_pushes_no_own_session_out(run_ollm: Run, home: Path) -> None:
    codex(home.parent)
    run_ollm("sessions", "import", "--from", "codex")
    kept = run_ollm("sessions", "cleanup", "--keep", "1")
    assert "0 moved to the trash" in kept.stdout


def test_import_without_a_file_or_a_program_says_what_it_needs(run_ollm: Run) -> None:
    assert run_ollm("sessions", "import").returncode == 2
    assert run_ollm("sessions", "import", "--from", "chatgpt").returncode == 2
