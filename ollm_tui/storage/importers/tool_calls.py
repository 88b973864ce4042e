"""Tool calls kept in a list of their own, and their way back between the messages."""

from __future__ import annotations

import json

from ollm_tui.core.session.session import ToolCall, ToolResult
from ollm_tui.storage.importers.foreign_fields import ForeignObject, Tree, derived_id, fresh_id


def read_tool_calls(items: list[tuple[int, Tree]], session_id: str) -> list[Tree]:
    """Tool calls in today's shape and the file's order; a time may be missing still."""
    taken: set[str] = set()
    return [
        _read_call(ForeignObject(item), derived_id(session_id, "call", place), taken)
        for place, item in items
    ]


def interleave(messages: list[Tree], calls: list[Tree], session_id: str) -> list[Tree]:
    """The messages with each call that is not among them put in at its time.

    A call stands before the first message that is later than it.
    """
    called, answered = _held(messages, "tool-call"), _held(messages, "tool-result")
    missing = [call for call in calls if call["id"] not in answered]
    missing.sort(key=lambda call: call["timestamp"])
    ids = {message["id"] for message in messages}
    result: list[Tree] = []
    at = 0
    for message in messages:
        while at < len(missing) and missing[at]["timestamp"] < message["timestamp"]:
            result += _as_messages(missing[at], called, session_id, ids)
            at += 1
        result.append(message)
    for call in missing[at:]:
        result += _as_messages(call, called, session_id, ids)
    return result


def _read_call(fields: ForeignObject, derived: str, taken: set[str]) -> Tree:
    tree: Tree = {
        "id": fields.own_id(derived, taken),
        "name": fields.text("name") or "unknown",
        "args": fields.tree("args") or {},
        "result": _read_result(fields),
    }
    moment = fields.time("timestamp")
    if moment:
        tree["timestamp"] = moment
    return fields.rest(ToolCall) | tree


def _read_result(fields: ForeignObject) -> Tree:
    words = fields.text("result")
    if words is not None:
        return {"llmContent": words}
    result = fields.tree("result")
    if result is None:
        return {"llmContent": ""}
    if not isinstance(result.get("llmContent"), str):
        # An answer in a shape of its own: the model saw it as JSON.
        return {"llmContent": json.dumps(result, ensure_ascii=False)}
    inner = ForeignObject(result)
    content = inner.text("llmContent") or ""
    display = inner.valid(ToolResult, "returnDisplay")
    return inner.rest(ToolResult) | display | {"llmContent": content}


def _held(messages: list[Tree], kind: str) -> set[str]:
    parts = (part for message in messages for part in message["parts"])
    ids = (part.get("callId") for part in parts if part["type"] == kind)
    return {call_id for call_id in ids if isinstance(call_id, str)}


def _as_messages(call: Tree, called: set[str], session_id: str, ids: set[str]) -> list[Tree]:
    """The question and the answer, or the answer alone where the question is there already."""
    part = {"callId": call["id"], "name": call["name"]}
    content = call["result"]["llmContent"]
    parts: list[tuple[str, Tree]] = [
        ("tool", {"type": "tool-result", **part, "content": content}),
    ]
    if call["id"] not in called:
        parts.insert(0, ("assistant", {"type": "tool-call", **part, "args": call["args"]}))
    return [
        {
            "id": fresh_id(derived_id(session_id, role, call["id"]), ids),
            "role": role,
            "parts": [each],
            "timestamp": call["timestamp"],
        }
        for role, each in parts
    ]
