"""The exact prompt for people to read: as text, or as the whole request in JSON."""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec

from ollm_tui.core.provider import ChatRequest, PromptMessage

_EMPTY: tuple[object, ...] = (None, "", [], ())


def readable(request: ChatRequest) -> str:
    """A prompt to be read by people, message by message."""
    return "\n\n".join(map(_readable_message, request.messages))


def as_json(request: ChatRequest) -> str:
    """A whole request as JSON, without what it leaves open."""
    return json.dumps(_without_empty(msgspec.to_builtins(request)), indent=2, ensure_ascii=False)


def _readable_message(message: PromptMessage) -> str:
    about = f" {message.tool_name or ''} {message.tool_call_id}" if message.tool_call_id else ""
    lines = [f"── {message.role}{about} ──", message.text]
    lines += [f"[image {image.media_type}]" for image in message.images]
    lines += [
        f"→ {call.name} {call.call_id} {json.dumps(call.args, ensure_ascii=False)}"
        for call in message.tool_calls
    ]
    return "\n".join(line for line in lines if line)


def _without_empty(request: dict[str, Any]) -> dict[str, Any]:
    """Arguments of tools stay as they are: there, empty is not the same as missing."""
    kept = {key: value for key, value in request.items() if value not in _EMPTY}
    messages = cast(list[dict[str, Any]], request["messages"])
    kept["messages"] = [
        {key: value for key, value in message.items() if value not in _EMPTY}
        for message in messages
    ]
    return kept
