"""What other programs store, built by hand after their formats: the same short talk in each."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

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
        base.execute("CREATE TABLE session (id, project_id, parent_id, directory, title, revert)")
        base.execute("CREATE TABLE message (id, session_id, time_created, data)")
        base.execute("CREATE TABLE part (id, message_id, session_id, time_created, data)")
        base.execute("CREATE TABLE credential (secret)")
        title = "Looking for the carrot"
        row = (title, json.dumps({"messageID": "m4"}))
        base.execute("INSERT INTO session VALUES ('s', 'p', NULL, '/work/shop', ?, ?)", row)
        base.execute("INSERT INTO session VALUES ('sub', 'p', 's', '/work/shop', 'agent', NULL)")
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
            ("m4", {"role": "user"}, [{"type": "text", "text": "taken back"}]),
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


def opencode_files(home: Path) -> Path:
    """As an older version stored it: a file for the session, each message and each part."""
    root = home / ".local/share/opencode/storage"
    path = root / "session/p/ses_1.json"
    state = {"status": "completed", "input": {"path": "."}, "output": "carrot.py"}
    files: dict[str, Any] = {
        "session/p/ses_1": {
            "id": "ses_1",
            "directory": "/work/shop",
            "title": "Looking for the carrot",
        },
        "session/p/ses_2": {"id": "ses_2", "parentID": "ses_1", "title": "agent"},
        "message/ses_1/msg_1": {"id": "msg_1", "role": "user", "time": {"created": 1777629600000}},
        "message/ses_1/msg_2": {"id": "msg_2", "role": "assistant", "modelID": "open-x"},
        "message/ses_1/msg_3": {"id": "msg_3", "role": "assistant", "modelID": "open-x"},
        "part/msg_1/prt_1": {"type": "text", "text": "Where is the carrot?"},
        "part/msg_2/prt_2": {"type": "tool", "callID": "c", "tool": "list", "state": state},
        "part/msg_3/prt_3": {"type": "text", "text": "In carrot.py."},
    }
    for name, tree in files.items():
        lines(root / f"{name}.json", tree)
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


def llm_with_tools(home: Path) -> Path:
    """As `llm` stores calls of tools, beside the responses that asked for them and got them."""
    path = llm(home)
    with closing(sqlite3.connect(path)) as base, base:
        base.executescript(
            """
            DELETE FROM responses;
            INSERT INTO responses VALUES
                ('r1', 'c', 'is the carrot?', '', 'llm-x', '2026-05-01T10:00:00'),
                ('r2', 'c', '', 'In carrot.py.', 'llm-x', '2026-05-01T10:00:01');
            CREATE TABLE tool_calls (id, response_id, tool_call_id, name, arguments);
            CREATE TABLE tool_results (id, response_id, tool_call_id, name, output);
            CREATE TABLE fragments (id, content);
            CREATE TABLE prompt_fragments (response_id, fragment_id, "order");
            INSERT INTO tool_calls VALUES (1, 'r1', NULL, 'list', '{"path": "."}');
            INSERT INTO tool_results VALUES (1, 'r2', NULL, 'list', 'carrot.py');
            INSERT INTO fragments VALUES (7, 'Where');
            INSERT INTO prompt_fragments VALUES ('r1', 7, 0);
            """
        )
    return path


def llm_threads(home: Path) -> Path:
    """As a newer `llm` stores it: messages by their hash, text of files as fragments."""
    path = home / ".config/io.datasette.llm/logs.db"
    path.parent.mkdir(parents=True)
    borrowed = {"text_ref": [{"literal": "Where "}, {"fragment": 7}]}
    call = {"name": "list", "arguments": {"path": "."}, "tool_call_id": "c"}
    result = {"name": "list", "output": "carrot.py", "tool_call_id": "c"}
    said: tuple[tuple[Any, ...], ...] = (
        ("h1", None, "user", "text", None, borrowed),
        ("h2", "h1", "assistant", "tool_call", None, call),
        ("h3", "h2", "tool", "tool_result", None, result),
        ("h4", "h3", "assistant", "text", "In carrot.py.", {}),
    )
    with closing(sqlite3.connect(path)) as base, base:
        base.executescript(
            """
            CREATE TABLE threads (id, name, tip_message_hash);
            CREATE TABLE turns (id, tip_message_hash, model, datetime_utc);
            CREATE TABLE messages (hash, parent_hash, role);
            CREATE TABLE parts (id, message_hash, position, type, text, payload);
            CREATE TABLE fragments (id, content);
            INSERT INTO fragments VALUES (7, 'is the carrot?');
            INSERT INTO threads VALUES ('t', 'Looking for the carrot', 'h4');
            INSERT INTO turns VALUES ('u1', 'h2', 'llm-x', '2026-05-01T10:00:00+00:00');
            INSERT INTO turns VALUES ('u2', 'h4', 'llm-x', '2026-05-01T10:00:01+00:00');
            """
        )
        for key, before, role, kind, text, payload in said:
            base.execute("INSERT INTO messages VALUES (?, ?, ?)", (key, before, role))
            row = (key, key, kind, text, json.dumps(payload))
            base.execute("INSERT INTO parts VALUES (?, ?, 0, ?, ?, ?)", row)
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


SAMPLES: Sequence[tuple[str, Callable[[Path], Path]]] = (
    ("claude-code", claude_code),
    ("codex", codex),
    ("gemini-cli", gemini),
    ("opencode", opencode),
    ("opencode", opencode_files),
    ("llm", llm),
    ("llm", llm_with_tools),
    ("llm", llm_threads),
    ("chatgpt", chatgpt),
)
