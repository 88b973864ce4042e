"""What the model is told before anything else, in parts: who it is, how it works, what for.

The first part is frozen when a session begins; the others change only when the user does.
"""

from __future__ import annotations

from ollm_tui.core.context_entry import by_priority
from ollm_tui.core.goals import Goal, active_goal, locked_decisions
from ollm_tui.core.session import Session
from ollm_tui.engine.context import Section
from ollm_tui.engine.modes import Mode

DEFAULT_PROMPT = "You are a helpful assistant. Answer briefly and to the point."
"""Short on purpose: small local models follow one sentence better than a page."""


def sections(header: Session, mode: Mode) -> tuple[Section, ...]:
    """The parts of the system prompt in their order, those that change least first."""
    parts = (
        Section("system", header.system_prompt),
        Section("mode", mode.prompt),
        Section("notes", _notes(header)),
        Section("goals", _goals(header)),
    )
    return tuple(section for section in parts if section.text.strip())


def _notes(header: Session) -> str:
    entries = by_priority(header.metadata.context_entries)
    return "\n\n".join(f"## {entry.key}\n{entry.content}" for entry in entries)


def _goals(header: Session) -> str:
    goals = header.metadata.goals
    goal = active_goal(goals)
    lines = _goal_lines(goal) if goal else []
    for decision in locked_decisions(goals):
        reason = f" (because {decision.reason})" if decision.reason else ""
        lines.append(f"Decided, keep to it: {decision.text}{reason}")
    return "\n".join(lines)


def _goal_lines(goal: Goal) -> list[str]:
    lines = [f"The user's goal: {goal.text}"]
    open_steps = [subtask.text for subtask in goal.subtasks if not subtask.done]
    if open_steps:
        lines.append(f"Still to do: {'; '.join(open_steps)}")
    if goal.blockers:
        lines.append(f"In the way: {'; '.join(goal.blockers)}")
    return lines
