"""Snapshots of earlier programs: version "1.0" in its variants, and the snapshot data before it.

The user's messages may stand apart, among the others, or both.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, cast

from ollm_tui.core.session.encoding import CannotDecode
from ollm_tui.core.session.goals import Goal
from ollm_tui.core.session.titles import title_of
from ollm_tui.core.snapshot import ArchivedMessage, ContextSnapshot, SnapshotMetadata
from ollm_tui.core.snapshot_encoding import snapshot_from_tree
from ollm_tui.storage.importers.foreign_fields import ForeignObject, Tree, derived_id, time_of
from ollm_tui.storage.importers.older_messages import read_messages

_VERSION = "1.0"
_ROLE_ORDER = {"system": 0, "user": 1}
_FACTS = (
    *("model", "contextSize", "compressionRatio", "totalUserMessages", "activeGoalId"),
    *("totalGoalsCompleted", "totalCheckpoints", "isReasoningModel", "totalThinkingTokens"),
)

_TEXTS = ("text", "title", "description", "goal")
_STATUS = {
    **dict.fromkeys(("done", "completed", "complete", "finished", "abandoned"), "done"),
    **dict.fromkeys(("paused", "pending", "blocked", "todo", "inactive"), "paused"),
}
_PARTS = ("subtasks", "milestones", "decisions", "artifacts", "blockers")


def older_snapshot(
    tree: dict[str, Any], session_id: str, snapshot_id: str, modified: str
) -> ContextSnapshot | None:
    """Read a snapshot of an earlier program into today's shape; None if it has that already.

    Its path says which one it is; `modified` is the file's own time. Reading the same file
    twice gives equal values. CannotDecode if it has no list of messages.
    """
    if "order" in tree:
        return None
    try:
        return snapshot_from_tree(_todays_tree(dict(tree), session_id, snapshot_id, modified))
    except RecursionError as error:
        raise CannotDecode("nested too deeply") from error


def _todays_tree(tree: Tree, session_id: str, snapshot_id: str, modified: str) -> Tree:
    fields = ForeignObject(_with_its_state(tree))
    moment = fields.time("timestamp", "createdAt") or time_of(modified) or modified
    messages = _read_messages(fields, session_id, moment)
    facts = ForeignObject(fields.tree("metadata") or {})
    ids = [message["id"] for message in messages]
    read: Tree = {
        "id": _own(fields, "id", snapshot_id),
        "sessionId": _own(fields, "sessionId", session_id),
        "version": fields.text("version") or _VERSION,
        "timestamp": moment,
        "tokenCount": fields.count("tokenCount") or facts.count("tokenCount") or 0,
        "summary": fields.text("summary") or fields.text("purpose") or _said_last(messages),
        "userMessages": [message for message in messages if message["role"] == "user"],
        "messages": [message for message in messages if message["role"] != "user"],
        "archivedUserMessages": _read_archived(fields),
        "order": ids,
        "head": ids[-1] if ids else None,
        "reason": "older",
    }
    read |= fields.valid(ContextSnapshot, "reasoningStorage", "provider")
    read |= read_goals(fields, session_id, moment)
    read["metadata"] = _read_facts(facts)
    return fields.rest(ContextSnapshot) | read


def _with_its_state(tree: Tree) -> Tree:
    """Lift messages, checkpoints and goals, which stood one level below before version 1.0."""
    state = tree.get("conversationState")
    if not isinstance(state, dict):
        return tree
    inner = cast(Tree, state)
    del tree["conversationState"]
    taken = {name: value for name, value in inner.items() if name not in tree}
    left = {name: value for name, value in inner.items() if name in tree}
    return tree | taken | ({"conversationState": left} if left else {})


def _own(fields: ForeignObject, name: str, by_path: str) -> str:
    """Return the id the path says; another one inside the file is kept, but not used."""
    own = fields.text(name)
    if own and own != by_path:
        fields.keep(name, own)
    return by_path


def _read_messages(fields: ForeignObject, session_id: str, otherwise: str) -> list[Tree]:
    """Read all messages, each once, in the order of time."""
    rest = fields.objects("messages")
    users = fields.objects("userMessages")
    if rest is None and users is None:
        raise CannotDecode("no list of messages")
    others, own = _objects(rest), _objects(users)
    users_among = any(_is_user(item) for item in others)
    items = _each_once([*others, *own] if users_among else [*own, *others])
    messages = read_messages(list(enumerate(items)), session_id)
    _fill_in_times(messages, otherwise)
    # Two lists do not tell the order of equal times: what the user said then precedes replies.
    if users_among:
        messages.sort(key=lambda message: message["timestamp"])
    else:
        messages.sort(key=lambda each: (each["timestamp"], _ROLE_ORDER.get(each["role"], 2)))
    notes = _notes(fields, session_id, messages[0]["timestamp"] if messages else otherwise)
    first = next((n for n, each in enumerate(messages) if each["role"] != "system"), len(messages))
    messages[first:first] = notes
    for before, message in pairwise(messages):
        message["parentId"] = before["id"]
    return messages


def _objects(items: list[tuple[int, Tree]] | None) -> list[Tree]:
    return [item for _, item in items or ()]


def _is_user(item: Tree) -> bool:
    return str(item.get("role")).strip().lower() in ("user", "human")


def _each_once(items: list[Tree]) -> list[Tree]:
    found: dict[str, Tree] = {}
    for item in items:
        found.setdefault(_identity(item), item)
    return list(found.values())


def _identity(item: Tree) -> str:
    """Return the id of a message or, where it has none, its role, content and time."""
    own = item.get("id")
    if isinstance(own, str | int) and own:
        return f"id {own}"
    said = item.get("parts") or item.get("content")
    return json.dumps([item.get("role"), said, item.get("timestamp")])


def _fill_in_times(messages: list[Tree], otherwise: str) -> None:
    """Fill in missing times with the one before; at the beginning with the first there is."""
    known = (message["timestamp"] for message in messages if "timestamp" in message)
    time = next(known, otherwise)
    for message in messages:
        time = message.setdefault("timestamp", time)


def _notes(fields: ForeignObject, session_id: str, time: str) -> list[Tree]:
    """Turn the texts of checkpoints into notes before the conversation; the field stays too."""
    items = fields.items("checkpoints") or []
    if items:
        fields.keep("checkpoints", items)
    texts = [_checkpoint_text(item) for item in items]
    return [
        {
            "id": derived_id(session_id, "checkpoint", text),
            "role": "system",
            "parts": [{"type": "text", "text": text, "trusted": False}],
            "timestamp": time,
        }
        for text in dict.fromkeys(filter(None, texts))
    ]


def _checkpoint_text(item: object) -> str:
    while isinstance(item, dict):
        tree = cast(Tree, item)
        item = tree.get("summary") or tree.get("content") or tree.get("text")
    return item if isinstance(item, str) else ""


def _said_last(messages: list[Tree]) -> str:
    parts = [
        part for each in reversed(messages) if each["role"] == "user" for part in each["parts"]
    ]
    texts = (part.get("text") for part in parts if part["type"] == "text")
    return title_of(next((text for text in texts if isinstance(text, str)), ""))


def _read_archived(fields: ForeignObject) -> list[Tree]:
    items = fields.items("archivedUserMessages") or []
    read = [_read_one_archived(item) for item in items]
    odd = [item for item, one in zip(items, read, strict=True) if one is None]
    if odd:
        fields.keep("archivedUserMessages", odd)
    return [one for one in read if one]


def _read_one_archived(item: object) -> Tree | None:
    if not isinstance(item, dict):
        return None
    fields = ForeignObject(cast(Tree, item))
    found = fields.valid(ArchivedMessage, "id", "summary", "fullMessageAvailable")
    moment = fields.time("timestamp")
    if moment is None or not found.keys() >= {"id", "summary"}:
        return None
    return fields.rest(ArchivedMessage) | found | {"timestamp": moment}


def _read_facts(facts: ForeignObject) -> Tree:
    found = facts.valid(SnapshotMetadata, *_FACTS)
    return facts.rest(SnapshotMetadata) | found


def read_goals(fields: ForeignObject, session_id: str, moment: str) -> Tree:
    """Read the goals of a snapshot into today's shape.

    Goals that had to be converted stay in their field too. Of several active ones only the
    first stays active.
    """
    valid = fields.valid(ContextSnapshot, "goalStack")
    if valid and valid["goalStack"].get("goals"):
        return valid
    stack = fields.tree("goalStack")
    items: object = fields.items("goals")
    if stack:
        fields.keep("goalStack", stack)
        items = items or stack.get("goals")
    if not isinstance(items, list) or not items:
        return valid
    if not stack:
        fields.keep("goals", items)
    found = [_read_goal(item, session_id, moment) for item in cast(list[Any], items)]
    goals = [goal for goal in found if goal]
    # Today at most one goal is active.
    for goal in [goal for goal in goals if goal["status"] == "active"][1:]:
        goal["status"] = "paused"
    return {"goalStack": {"goals": goals}} if goals else valid


def _read_goal(item: object, session_id: str, moment: str) -> Tree | None:
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, dict):
        return None
    goal = ForeignObject(cast(Tree, item))
    text = next(filter(None, map(goal.text, _TEXTS)), None)
    if text is None:
        return None
    return {
        "id": goal.text("id") or derived_id(session_id, "goal", text),
        "text": text,
        "createdAt": goal.time("createdAt", "timestamp", "created") or moment,
        "status": _STATUS.get((goal.text("status") or "").lower(), "active"),
        **goal.valid(Goal, *_PARTS),
    }
