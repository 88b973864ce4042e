"""The line above the gauge that names the goal while one is active."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from ollm_tui.core.intake import visible
from ollm_tui.core.session.goals import Goal


class GoalLine(Static):
    """Shows the goal and how many of its steps are done; takes no room without one."""

    DEFAULT_CSS = """
    GoalLine {
        display: none; height: 1; padding: 0 2; color: $text-muted;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    def show(self, goal: Goal | None) -> None:
        """Show a goal, or none."""
        self.display = goal is not None
        self.update(Content(goal_words(goal) if goal else ""))


def goal_words(goal: Goal) -> str:
    """Return a goal in one line, with its progress and what is in its way."""
    done = sum(step.done for step in goal.subtasks)
    facts = [f"Goal: {' '.join(visible(goal.text).split())}"]
    if goal.subtasks:
        facts.append(f"{done} of {len(goal.subtasks)} steps done")
    if goal.blockers:
        facts.append("blocked")
    return " · ".join(facts)
