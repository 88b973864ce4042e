"""Messages of earlier programs: without ids, with `content`, with roles of their own."""

from __future__ import annotations

from typing import Any, cast

from ollm_tui.core.session.message import EXTRA_KEY, Message
from ollm_tui.storage.importers.foreign_fields import ForeignObject, Tree, derived_id

_ROLES = {
    **{role: role for role in ("user", "assistant", "system", "tool")},
    **dict.fromkeys(("model", "ai", "bot"), "assistant"),
    "human": "user",
    "function": "tool",
    "developer": "system",
}
UNREADABLE = "unreadable"
"""The type of a part that carries a value which is no part."""


def read_messages(items: list[tuple[int, Tree]], session_id: str) -> list[Tree]:
    """Read messages into today's shape, in the file's order; times may still be missing."""
    taken: set[str] = set()
    # The tool of each call: a result may name only the call.
    names: dict[str, str] = {}
    return [
        _read_message(ForeignObject(item), derived_id(session_id, "message", index), taken, names)
        for index, item in items
    ]


def _read_message(
    fields: ForeignObject, derived: str, taken: set[str], names: dict[str, str]
) -> Tree:
    tree: Tree = {"id": fields.own_id(derived, taken)}
    tree["role"], known = _read_role(fields)
    tree["parts"] = _read_parts(fields)
    if tree["role"] == "tool" or not known:
        _distrust(tree["parts"])
    tree["parts"] += _read_calls(fields, names)
    if tree["role"] == "tool":
        tree["parts"] = _as_result(fields, tree["parts"], names)
    moment = fields.time("timestamp")
    if moment:
        tree["timestamp"] = moment
    tree |= fields.valid(Message, "model", "provider", "usage", "status", "error")
    return fields.rest(Message) | tree


def _read_role(fields: ForeignObject) -> tuple[str, bool]:
    """Return today's role, and whether the one in the file is known; `system` if it is not."""
    role = fields.text("role")
    known = _ROLES.get(role.strip().lower()) if role else None
    if known:
        return known, True
    if role:
        fields.keep("role", role)
    return "system", False


def _read_parts(fields: ForeignObject) -> list[Tree]:
    for name in ("parts", "content"):
        items = fields.items(name)
        if items:
            return [_as_part(item) for item in items]
        part = fields.tree(name) or fields.text(name)
        if part:
            return [_as_part(part)]
    return []


def _as_part(item: Any) -> Tree:
    if isinstance(item, str):
        return {"type": "text", "text": item}
    if isinstance(item, dict):
        part = cast(Tree, item)
        # Our own mark inside foreign data would be taken for fields set aside.
        if isinstance(part.get("type"), str) and EXTRA_KEY not in part:
            return part
        if isinstance(part.get("text"), str) and "type" not in part:
            return {"type": "text", **part}
    return {"type": UNREADABLE, "value": item}


def _distrust(parts: list[Tree]) -> None:
    """Mark text as data that is not the user's, the model's or our own, whatever its role."""
    for index, part in enumerate(parts):
        if part["type"] == "text":
            parts[index] = {"trusted": False, **part}


def _read_calls(fields: ForeignObject, names: dict[str, str]) -> list[Tree]:
    """Read the calls beside the content; if one of them is not understood, none is taken."""
    items = fields.items("toolCalls") or []
    calls = [_as_call(cast(Tree, item)) for item in items if isinstance(item, dict)]
    understood = [call for call in calls if call]
    if len(understood) < len(items):
        fields.keep("toolCalls", items)
        return []
    names.update((call["callId"], call["name"]) for call in understood)
    return understood


def _as_call(item: Tree) -> Tree | None:
    fields = ForeignObject(item)
    identifier, name, args = fields.text("id"), fields.text("name"), fields.tree("args")
    if identifier is None or name is None:
        return None
    rest = {key: value for key, value in item.items() if key not in ("id", "name", "args")}
    call = {"type": "tool-call", "callId": identifier, "name": name, "args": args or {}}
    return None if rest.keys() & {*call, EXTRA_KEY} else rest | call


def _as_result(fields: ForeignObject, parts: list[Tree], names: dict[str, str]) -> list[Tree]:
    """Turn the text of a tool message into the result of the call it names."""
    if len(parts) != 1 or parts[0].keys() != {"type", "text", "trusted"}:
        return parts
    call_id = fields.text("toolCallId")
    if call_id is None:
        return parts
    name = fields.text("name") or names.get(call_id, "unknown")
    return [{"type": "tool-result", "callId": call_id, "name": name, "content": parts[0]["text"]}]
