"""Sessions of gemini-cli: one JSON object a line, or one file in its older shape."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from ollm_tui.core.session.encoding import CannotDecode
from ollm_tui.core.session.message import Part
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

NAME = "gemini-cli"
_CONTEXT = "<session_context>"


def find(home: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the files of chats."""
    root = Path(environ.get("GEMINI_CLI_HOME") or home) / ".gemini" / "tmp"
    newer = sorted(root.glob("*/chats/session-*.jsonl"))
    yield from newer
    # A chat that was moved to the newer shape stays in the older one too.
    moved = {path.with_suffix(".json") for path in newer}
    yield from (path for path in sorted(root.glob("*/chats/session-*.json")) if path not in moved)


def read(path: Path, data: bytes) -> Iterator[ForeignTalk]:
    """Yield the one session of a file."""
    reading = ForeignTalk(NAME, path.stem)
    facts, messages = _folded(path, data, reading)
    if facts.get("kind") == "subagent":
        return
    talk = ForeignTalk(NAME, str(facts.get("sessionId") or path.stem))
    talk.skipped = reading.skipped
    talk.title = str(facts.get("summary") or "")
    talk.project = _project(path)
    for message in messages:
        _take(talk, message)
    yield talk


def _folded(path: Path, data: bytes, talk: ForeignTalk) -> tuple[Tree, list[Tree]]:
    """What is known of a chat, and its messages: later lines replace and rewind earlier ones.
    What a compression replaced stays: it was said."""
    if path.suffix == ".json":
        try:
            tree: object = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise CannotDecode("not JSON") from error
        if not isinstance(tree, dict):
            raise CannotDecode("not a chat")
        whole = cast(Tree, tree)
        return whole, trees_in(whole, "messages")
    facts: dict[str, object] = {}
    messages: dict[str, Tree] = {}
    for number, line in enumerate(lines_of(data, talk)):
        if "$rewindTo" in line:
            keys = list(messages)
            target = str(line["$rewindTo"])
            for key in keys[keys.index(target) :] if target in messages else ():
                del messages[key]
        elif "$set" in line:
            facts |= {
                key: value for key, value in tree_in(line, "$set").items() if key != "messages"
            }
        elif "type" in line:
            messages[str(line.get("id") or number)] = line
        else:
            facts |= line
    return facts, list(messages.values())


def _take(talk: ForeignTalk, message: Tree) -> None:
    at, kind = message.get("timestamp"), message.get("type")
    text = text_of(message.get("content"))
    if kind == "user":
        if not text.lstrip().startswith(_CONTEXT):
            talk.say("user", [said(text)], at=at)
        return
    if kind != "gemini":
        return
    thoughts = trees_in(message, "thoughts")
    words = (f"{each.get('subject', '')}: {each.get('description', '')}" for each in thoughts)
    parts: list[Part] = [*map(thought, words)]
    parts.append(said(text))
    calls = trees_in(message, "toolCalls")
    parts += [talk.call(each.get("id"), each.get("name"), each.get("args")) for each in calls]
    talk.say("assistant", parts, at=at, model=str(message.get("model") or ""))
    for each in calls:
        failed = each.get("status") == "error"
        talk.answer(each.get("id"), _result(each.get("result")), is_error=failed, at=at)


def _result(result: object) -> object:
    """The text inside of the answer of a tool: a list of function responses."""
    answers = trees_in({"result": result}, "result")
    if not answers:
        return result
    response = tree_in(tree_in(answers[0], "functionResponse"), "response")
    return response.get("output", response.get("error")) if response else result


def _project(path: Path) -> str | None:
    """The folder of a project, which a file beside its chats names."""
    try:
        return (path.parent.parent / ".project_root").read_text("utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None
