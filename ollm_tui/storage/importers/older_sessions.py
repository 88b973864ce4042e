"""Sessions of earlier programs: three shapes, none of them with a schema version.

The seed's shape (tool calls in a list of their own), messages with ids and `content`, and
the session history whose times stand in its metadata.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, cast

from msgspec.structs import replace

from ollm_tui.core.session.encoding import CannotDecode, session_from_tree
from ollm_tui.core.session.session import (
    SCHEMA_VERSION,
    Metadata,
    ModeChange,
    Session,
    ToolCall,
    ToolResult,
)
from ollm_tui.core.session.titles import title_of
from ollm_tui.storage.importers.foreign_fields import (
    ForeignObject,
    Tree,
    derived_id,
    fresh_id,
    time_of,
)
from ollm_tui.storage.importers.older_messages import read_messages

_UNKNOWN = "unknown"
_KEPT_FIELDS = ("title", "project", "pinned", "archived", "tags")


def older_session(tree: dict[str, Any], session_id: str, modified: str) -> Session | None:
    """Read a session of an earlier program into today's shape; None if it has that already.

    `modified` is the file's own time, for a session that tells none. Reading the same file
    twice gives equal values. CannotDecode if it holds no list of messages.
    """
    if "schemaVersion" in tree:
        return None
    try:
        session = session_from_tree(_todays_tree(ForeignObject(tree), session_id, modified))
    except RecursionError as error:
        raise CannotDecode("nested too deeply") from error
    first = (each.text for each in session.messages if each.role == "user")
    return session if session.title else replace(session, title=title_of(next(first, "")))


def _todays_tree(fields: ForeignObject, session_id: str, modified: str) -> Tree:
    items = fields.objects("messages")
    if items is None:
        raise CannotDecode("no list of messages")
    metadata = ForeignObject(fields.tree("metadata") or {})
    calls = fields.objects("toolCalls") or []
    tree = _header(fields, session_id)
    start = fields.time("startTime") or metadata.time("startTime")
    end = fields.time("lastActivity", "lastUpdate") or metadata.time("lastUpdate")
    otherwise = start or end or time_of(modified) or modified
    messages = _timed(read_messages(items, session_id), otherwise)
    last = messages[-1]["timestamp"] if messages else otherwise
    tool_calls = _timed(read_tool_calls(calls, session_id), last)
    times = sorted(each["timestamp"] for each in (*messages, *tool_calls))
    tree["startTime"] = start or (times[0] if times else otherwise)
    tree["lastActivity"] = end or (times[-1] if times else otherwise)
    tree["messages"] = _chained(interleave(messages, tool_calls, session_id))
    tree["toolCalls"] = tool_calls
    tree["head"] = tree["messages"][-1]["id"] if tree["messages"] else None
    tree["metadata"] = _read_metadata(metadata, fields)
    return fields.rest(Session) | tree


def _header(fields: ForeignObject, session_id: str) -> Tree:
    own = fields.text("sessionId")
    # The name of the file decides; another id inside it is kept, but not used.
    if own and own != session_id:
        fields.keep("sessionId", own)
    return {
        "sessionId": session_id,
        "schemaVersion": SCHEMA_VERSION,
        "model": fields.text("model") or _UNKNOWN,
        "provider": fields.text("provider") or _UNKNOWN,
    } | fields.valid(Session, *_KEPT_FIELDS)


def _timed(values: list[Tree], otherwise: str) -> list[Tree]:
    """Fill in missing times with the one before; at the beginning with the first there is."""
    known = (value["timestamp"] for value in values if "timestamp" in value)
    time = next(known, otherwise)
    for value in values:
        time = value.setdefault("timestamp", time)
    return values


def _chained(messages: list[Tree]) -> list[Tree]:
    for before, message in pairwise(messages):
        message["parentId"] = before["id"]
    return messages


def _read_metadata(metadata: ForeignObject, fields: ForeignObject) -> Tree:
    tree: Tree = {
        "tokenCount": metadata.count("tokenCount") or metadata.count("totalTokens") or 0,
        "compressionCount": metadata.count("compressionCount") or 0,
    }
    changes = metadata.items("modeHistory") or []
    read = [_read_mode_change(item) for item in changes]
    tree["modeHistory"] = [change for change in read if change]
    odd = [item for item, change in zip(changes, read, strict=True) if not change]
    if odd:
        metadata.keep("modeHistory", odd)
    rest = metadata.rest(Metadata)
    if "checkpointRecords" not in rest:
        records = fields.items("checkpointRecords")
        rest |= {"checkpointRecords": records} if records else {}
    return rest | tree


def _read_mode_change(item: object) -> Tree | None:
    if not isinstance(item, dict):
        return None
    fields = ForeignObject(cast(Tree, item))
    change = fields.valid(ModeChange, "from", "to", "trigger", "confidence")
    moment = fields.time("timestamp")
    if moment is None or not change.keys() >= {"from", "to", "trigger"}:
        return None
    return fields.rest(ModeChange) | change | {"timestamp": moment}


def read_tool_calls(items: list[tuple[int, Tree]], session_id: str) -> list[Tree]:
    """Read tool calls into today's shape, in the file's order; times may still be missing."""
    taken: set[str] = set()
    return [
        _read_call(ForeignObject(item), derived_id(session_id, "call", index), taken)
        for index, item in items
    ]


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
        # A result in a shape of its own: the model saw it as JSON.
        return {"llmContent": json.dumps(result, ensure_ascii=False)}
    inner = ForeignObject(result)
    content = inner.text("llmContent") or ""
    display = inner.valid(ToolResult, "returnDisplay")
    return inner.rest(ToolResult) | display | {"llmContent": content}


def interleave(messages: list[Tree], calls: list[Tree], session_id: str) -> list[Tree]:
    """Insert each call that no message answers at its time: before the first later message."""
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


def _held(messages: list[Tree], kind: str) -> set[str]:
    parts = (part for message in messages for part in message["parts"])
    ids = (part.get("callId") for part in parts if part["type"] == kind)
    return {call_id for call_id in ids if isinstance(call_id, str)}


def _as_messages(call: Tree, called: set[str], session_id: str, ids: set[str]) -> list[Tree]:
    """Return the messages of a call and its result; only the result if the call is there."""
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
