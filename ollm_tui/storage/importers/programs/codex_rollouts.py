"""Sessions of the Codex CLI: rollouts, one JSON object a line, also in their older shapes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from ollm_tui.core.session.encoding import CannotDecode
from ollm_tui.storage.importers.programs.foreign_talk import (
    ForeignTalk,
    Tree,
    lines_of,
    said,
    text_of,
    thought,
    tree_in,
    trees_in,
)

NAME = "codex"
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""The id of a thread in the name of its file; that of a part of it may follow."""
_INJECTED = re.compile(r"\s*<(?:environment_context|user_instructions|turn_aborted)\b")
"""How user messages begin that the program wrote itself."""


def find(home: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the rollouts, archived ones too; compressed ones are named when they are read."""
    root = Path(environ.get("CODEX_HOME") or home / ".codex")
    for folder in ("sessions", "archived_sessions"):
        yield from sorted((root / folder).rglob("rollout-*.json*"))


def read(path: Path, data: bytes) -> Iterator[ForeignTalk]:
    """Yield the one session of a rollout."""
    if path.suffix == ".zst":
        raise CannotDecode("it is compressed (zstd); codex resume unpacks it")
    stem = path.name.partition(".")[0]
    named = _ID.search(stem)
    talk = ForeignTalk(NAME, named[0] if named else stem[-36:])
    talk.title = _title(path, talk.identifier)
    model, is_first = "", True
    for line in _lines(path, data, talk):
        at = line.get("timestamp")
        payload = tree_in(line, "payload") or line
        kind = line.get("type") if "payload" in line else "response_item"
        if kind == "session_meta" and is_first:  # forks copy the one of where they came from
            is_first = False
            talk.project = str(payload.get("cwd") or "") or None
        elif kind == "turn_context":
            model = str(payload.get("model") or model)
        elif kind == "event_msg" and payload.get("type") == "thread_rolled_back":
            talk.skipped += 1
        elif kind == "response_item":
            _take(talk, payload, at, model)
    yield talk


def _lines(path: Path, data: bytes, talk: ForeignTalk) -> Iterator[Tree]:
    if path.suffix != ".json":
        yield from lines_of(data, talk)
        return
    try:
        tree: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CannotDecode("not JSON") from error
    if isinstance(tree, dict):
        yield from trees_in(cast(Tree, tree), "items")


def _take(talk: ForeignTalk, item: Tree, at: object, model: str) -> None:
    match item.get("type"):
        case "message":
            role, text = item.get("role"), text_of(item.get("content"))
            if role == "user" and not _INJECTED.match(text):
                talk.say("user", [said(text)], at=at)
            elif role == "assistant":
                talk.say("assistant", [said(text)], at=at, model=model)
        case "reasoning":
            if words := text_of(item.get("summary")):
                talk.say("assistant", [thought(words)], at=at, model=model)
        case "function_call" | "custom_tool_call":
            given = item.get("arguments", item.get("input"))
            part = talk.call(item.get("call_id"), item.get("name"), given)
            talk.say("assistant", [part], at=at, model=model)
        case "local_shell_call":
            part = talk.call(item.get("call_id"), "shell", item.get("action"))
            talk.say("assistant", [part], at=at, model=model)
        case "function_call_output" | "custom_tool_call_output":
            talk.answer(item.get("call_id"), item.get("output"), at=at)
        case _:
            pass


def _title(path: Path, identifier: str) -> str:
    """The name of a thread as the index beside the sessions has it; the last one counts."""
    kept_in = ("sessions", "archived_sessions")
    root = next((each.parent for each in path.parents if each.name in kept_in), None)
    title = ""
    try:
        lines = (root / "session_index.jsonl").read_bytes().split(b"\n") if root else []
    except OSError:
        return ""
    for line in lines:
        try:
            tree: object = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(tree, dict) and cast(Tree, tree).get("id") == identifier:
            title = str(cast(Tree, tree).get("thread_name") or title)
    return title
