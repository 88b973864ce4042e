"""The goals of a session with their steps and decisions, and how they change.

At most one goal is active; the others are paused or done. Decisions made without a goal belong
to a goal that stands for the session and is never active.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec.structs import replace

from ollm_tui.core.session.message import Value

GoalStatus = Literal["active", "paused", "done"]
Goals = tuple["Goal", ...]
SESSION_GOAL = "session"
"""The id of the goal that stands for the session."""


class Subtask(Value, frozen=True):
    """A step of a goal."""

    id: str
    text: str
    done: bool = False


class Milestone(Value, frozen=True):
    """A mark of progress; without a time it is not reached yet."""

    id: str
    text: str
    reached_at: str | None = None


class Decision(Value, frozen=True):
    """Something that was decided. A locked one stands in every prompt until it is unlocked."""

    id: str
    text: str
    at: str
    reason: str = ""
    locked: bool = False


class Goal(Value, frozen=True):
    """What the user wants to reach."""

    id: str
    text: str
    created_at: str
    status: GoalStatus = "active"
    subtasks: tuple[Subtask, ...] = ()
    milestones: tuple[Milestone, ...] = ()
    decisions: tuple[Decision, ...] = ()
    artifacts: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()


def active_goal(goals: Goals) -> Goal | None:
    """Return the goal that is worked on; None if there is none."""
    return next((goal for goal in goals if goal.status == "active"), None)


def with_goal(goals: Goals, goal: Goal) -> Goals:
    """Add a goal and make it the active one."""
    return (*map(_paused, goals), replace(goal, status="active"))


def with_status(goals: Goals, goal_id: str, status: GoalStatus) -> Goals:
    """Make a goal active, paused or done; becoming active pauses the one that was."""
    others = tuple(map(_paused, goals)) if status == "active" else goals
    return tuple(
        replace(goal, status=status) if goal.id == goal_id else other
        for goal, other in zip(goals, others, strict=True)
    )


def changed(goals: Goals, goal_id: str, change: Callable[[Goal], Goal]) -> Goals:
    """Return the goals with one of them changed."""
    return tuple(change(goal) if goal.id == goal_id else goal for goal in goals)


def goals_of_user(goals: Goals) -> Goals:
    """Return the goals that were set: all but the one that stands for the session."""
    return tuple(goal for goal in goals if goal.id != SESSION_GOAL)


def decisions(goals: Goals) -> tuple[Decision, ...]:
    """Return the decisions of all goals, the oldest first."""
    found = (decision for goal in goals for decision in goal.decisions)
    return tuple(sorted(found, key=lambda decision: decision.at))


def locked_decisions(goals: Goals) -> tuple[Decision, ...]:
    """Return the locked decisions of all goals, in the order of the prompt."""
    return tuple(decision for goal in goals for decision in goal.decisions if decision.locked)


def with_decision(goals: Goals, decision: Decision) -> Goals:
    """Add a decision to the active goal, or to the session where there is none."""
    goal = active_goal(goals)
    if goal is None and all(each.id != SESSION_GOAL for each in goals):
        goals = (*goals, _session_goal(decision.at))
    goal_id = goal.id if goal else SESSION_GOAL
    return changed(
        goals, goal_id, lambda each: replace(each, decisions=(*each.decisions, decision))
    )


def with_lock(goals: Goals, decision_id: str, locked: bool) -> Goals:
    """Return the goals with one decision locked or unlocked."""

    def change(goal: Goal) -> Goal:
        decided = tuple(
            replace(each, locked=locked) if each.id == decision_id else each
            for each in goal.decisions
        )
        return replace(goal, decisions=decided)

    return tuple(map(change, goals))


def without_decision(goals: Goals, decision_id: str) -> Goals:
    """Remove a decision; the goal that stands for the session goes with its last one."""
    left = (
        replace(goal, decisions=tuple(each for each in goal.decisions if each.id != decision_id))
        for goal in goals
    )
    return tuple(goal for goal in left if goal.id != SESSION_GOAL or goal.decisions)


def _session_goal(moment: str) -> Goal:
    return Goal(id=SESSION_GOAL, text="decided without a goal", created_at=moment, status="paused")


def _paused(goal: Goal) -> Goal:
    return replace(goal, status="paused") if goal.status == "active" else goal
