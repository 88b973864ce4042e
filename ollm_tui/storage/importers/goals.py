"""Goals of earlier programs: in a stack or in a plain list, under other names for their parts."""

from __future__ import annotations

from typing import Any, cast

from ollm_tui.core.session.goals import Goal
from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.storage.importers.foreign_fields import ForeignObject, Tree, derived_id

_TEXTS = ("text", "title", "description", "goal")
_STATUS = {
    **dict.fromkeys(("done", "completed", "complete", "finished", "abandoned"), "done"),
    **dict.fromkeys(("paused", "pending", "blocked", "todo", "inactive"), "paused"),
}
_PARTS = ("subtasks", "milestones", "decisions", "artifacts", "blockers")


def read_goals(fields: ForeignObject, session_id: str, moment: str) -> Tree:
    """The goals of a snapshot in today's shape. What had to be rewritten stays in its field too;
    of several that are worked on the first one is."""
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
    found = [_read(item, session_id, moment) for item in cast(list[Any], items)]
    goals = [goal for goal in found if goal]
    for goal in [goal for goal in goals if goal["status"] == "active"][1:]:
        goal["status"] = "paused"
    return {"goalStack": {"goals": goals}} if goals else valid


def _read(item: object, session_id: str, moment: str) -> Tree | None:
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
