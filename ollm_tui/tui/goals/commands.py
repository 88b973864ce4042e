"""The commands of goals: the goal of the conversation with its steps, and what is decided."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.goals import Decision, Goal
from ollm_tui.engine.conversation.conversation_goals import ConversationGoals
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.goals import goal_lists
from ollm_tui.tui.goals.words import (
    BLOCKER_USAGE,
    DECIDE_EXAMPLE,
    DECIDE_USAGE,
    DECISION_NOTED,
    GOAL_USAGE,
    NO_ACTIVE_GOAL,
    NO_BLOCKERS,
    NO_DECISIONS,
    NO_STEPS,
    NOTHING_TO_RECORD,
    STEP_USAGE,
)

BECAUSE = " because "
"""Separates a decision from its reason."""
OPEN = "--open"
"""Before a decision: it is noted, but not locked."""
AHEAD = "--ahead"
"""Before a milestone: it is not reached yet."""
TAKE_BACK = "/decide undo reverts it"


async def goal(chat: ChatPort, argument: str) -> None:
    """Set the goal, or change what belongs to it; without words, show all goals there were."""
    words = argument.strip()
    first, _, rest = words.partition(" ")
    if words in ("", "list"):
        goal_lists.show_goals(chat)
        return
    goal_lists.check_free(chat)
    if first in _NUMBERED and (not rest or rest.strip().isdecimal()):
        await _NUMBERED[first](chat, rest.strip())
        return
    goals = chat.conversation.goals
    if words in ("done", "pause"):
        notice = await (goal_lists.reach(goals) if words == "done" else goal_lists.pause(goals))
    elif first in _WORDED:
        if not rest.strip():
            raise UsageError(f"/goal {first} needs a text", f"/goal {first} TEXT")
        notice = await _WORDED[first](goals, rest)
    else:
        notice = await _set(goals, words)
    goal_lists.tell(chat, notice)


async def decide(chat: ChatPort, argument: str) -> None:
    """Decide something, take a decision back, or show what is decided."""
    words = argument.strip()
    first, _, rest = words.partition(" ")
    if not words:
        goal_lists.show_decisions(chat)
        return
    goal_lists.check_free(chat)
    goals = chat.conversation.goals
    if first == "undo" and (not rest or rest.strip().isdecimal()):
        taken = _chosen(goals.decisions, rest.strip() or str(len(goals.decisions)))
        await goals.take_back(taken.id)
        goal_lists.tell(chat, f"Removed “{visible(taken.text)}”")
        return
    is_open = first == OPEN
    text, _, reason = (rest if is_open else words).partition(BECAUSE)
    if not text.strip():
        raise UsageError(NOTHING_TO_RECORD, DECIDE_EXAMPLE)
    await goals.decide(text, reason, locked=not is_open)
    goal_lists.tell(
        chat,
        DECISION_NOTED if is_open else f"Decision locked, included in every prompt · {TAKE_BACK}",
    )


def _chosen(decided: Sequence[Decision], number: str) -> Decision:
    if not decided:
        raise UsageError(NO_DECISIONS, DECIDE_USAGE)
    return decided[_index(number, len(decided), "decision")]


async def _set(goals: ConversationGoals, words: str) -> str:
    await goals.set_goal(words)
    return "Goal set, included in every prompt"


async def _add_step(goals: ConversationGoals, words: str) -> str:
    await goals.add_subtask(words)
    steps = goals.active.subtasks if goals.active else ()
    return f"Step {len(steps)} added · /goal tick {len(steps)} when done"


async def _add_blocker(goals: ConversationGoals, words: str) -> str:
    await goals.add_blocker(words)
    blockers = goals.active.blockers if goals.active else ()
    return f"Blocker added · /goal unblock {len(blockers)} when resolved"


async def _add_milestone(goals: ConversationGoals, words: str) -> str:
    first, _, rest = words.strip().partition(" ")
    if first == AHEAD:
        await goals.add_milestone(rest, reached=False)
        return "Milestone added · repeat /goal milestone TEXT when reached"
    await goals.add_milestone(words)
    return "Milestone reached"


async def _add_artifact(goals: ConversationGoals, words: str) -> str:
    await goals.add_artifact(words)
    return "Artifact recorded"


async def _tick(chat: ChatPort, number: str) -> None:
    """Mark a step as done, or as still to do; without a number, a list of several asks which."""
    active = _active(chat)
    unfinished = [step for step in active.subtasks if not step.done]
    if not active.subtasks:
        raise UsageError(NO_STEPS, STEP_USAGE)
    if not number and len(unfinished) != 1:
        goal_lists.show_goal(chat, active)
        return
    step = (
        active.subtasks[_index(number, len(active.subtasks), "step")] if number else unfinished[0]
    )
    await goal_lists.tick(chat, step)


async def _unblock(chat: ChatPort, number: str) -> None:
    """Remove a blocker; without a number, a list of several asks which."""
    active = _active(chat)
    if not active.blockers:
        raise UsageError(NO_BLOCKERS, BLOCKER_USAGE)
    if not number and len(active.blockers) > 1:
        goal_lists.show_goal(chat, active)
        return
    await goal_lists.unblock(
        chat, active.blockers[_index(number or "1", len(active.blockers), "blocker")]
    )


def _active(chat: ChatPort) -> Goal:
    if chat.conversation.goals.active is None:
        raise UsageError(NO_ACTIVE_GOAL, GOAL_USAGE)
    return chat.conversation.goals.active


def _index(number: str, count: int, what: str) -> int:
    if not 1 <= int(number) <= count:
        raise UsageError(f"No {what} {number}", f"there are {count}; F5 shows the numbers")
    return int(number) - 1


_WORDED: Mapping[str, Callable[[ConversationGoals, str], Awaitable[str]]] = {
    "set": _set,
    "step": _add_step,
    "blocker": _add_blocker,
    "milestone": _add_milestone,
    "artifact": _add_artifact,
}
_NUMBERED: Mapping[str, Callable[[ChatPort, str], Awaitable[None]]] = {
    "tick": _tick,
    "unblock": _unblock,
}

ACTIONS: Mapping[str, Action] = {
    "goal.goal": goal,
    "goal.decide": decide,
}
