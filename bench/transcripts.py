"""Transcripts of real conversations as messages: the form that benchmarks of compression read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from ollm_tui.core.session.message import Message, Part, Text, ToolCallPart, ToolResultPart

FORM = """A FILE is a transcript as JSON: a list of {role, text, calls: [{id, name, args}], call_id,
name, content, is_error}."""


def messages_in(path: Path) -> list[Message]:
    """Read a transcript."""
    said = [_message(place, raw) for place, raw in enumerate(json.loads(path.read_text("utf-8")))]
    return [message for message in said if message.parts]


def text_of(message: Message) -> str:
    """Return everything a message says, calls or answers."""
    texts: list[str] = []
    for part in message.parts:
        match part:
            case Text():
                texts.append(part.text)
            case ToolCallPart():
                texts.append(f"{part.name} {json.dumps(part.args, ensure_ascii=False)}")
            case ToolResultPart():
                texts.append(part.content)
            case _:
                pass
    return "\n".join(texts)


def whole(messages: Sequence[Message]) -> str:
    """Return the full text of messages."""
    return "\n".join(map(text_of, messages))


def _message(place: int, raw: dict[str, Any]) -> Message:
    parts: list[Part] = []
    if raw.get("text"):
        parts.append(Text(raw["text"]))
    for call in raw.get("calls") or ():
        args: object = call.get("args")
        given = cast(dict[str, Any], args) if isinstance(args, dict) else {}
        parts.append(ToolCallPart(call["id"], call["name"], given))
    if raw["role"] == "tool":
        content, failed = raw.get("content") or "", bool(raw.get("is_error"))
        name = raw.get("name") or ""
        parts = [ToolResultPart(raw.get("call_id") or "", name, content, is_error=failed)]
    return Message(f"m{place}", raw["role"], tuple(parts), "")
