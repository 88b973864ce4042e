"""The commands of goals: the goal of the conversation with its steps, and what is decided."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.goals import Decision, Goal
from ollm_tui.engine.conversation.conversation_goals import ConversationGoals
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.goals import goal_lists

BECAUSE = " because "
"""Separates a decision from its reason."""
OPEN = "--open"
"""Before a decision: it is noted, but not locked."""
AHEAD = "--ahead"
"""Before a milestone: it is not reached yet."""
TAKE_BACK = "/decide undo takes it back"


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
            raise UsageError(f"/goal {first} needs words", f"/goal {first} and what it is")
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
        goal_lists.tell(chat, f"taken back: “{visible(taken.text)}”")
        return
    is_open = first == OPEN
    text, _, reason = (rest if is_open else words).partition(BECAUSE)
    if not text.strip():
        raise UsageError("what is decided?", "/decide tabs it is because the linter wants them")
    await goals.decide(text, reason, locked=not is_open)
    goal_lists.tell(
        chat,
        "decided, not locked: /decide locks it"
        if is_open
        else f"decided and locked: the model is told of it in every prompt · {TAKE_BACK}",
    )


def _chosen(decided: Sequence[Decision], number: str) -> Decision:
    if not decided:
        raise UsageError("nothing is decided", "/decide and some words")
    return decided[_index(number, len(decided), "decision")]


async def _set(goals: ConversationGoals, words: str) -> str:
    await goals.set_goal(words)
    return "the goal is set: the model is told of it in every prompt"


async def _add_step(goals: ConversationGoals, words: str) -> str:
    await goals.add_subtask(words)
    steps = goals.active.subtasks if goals.active else ()
    return f"step {len(steps)} is noted: /goal tick {len(steps)} when it is done"


async def _add_blocker(goals: ConversationGoals, words: str) -> str:
    await goals.add_blocker(words)
    blockers = goals.active.blockers if goals.active else ()
    return f"the model knows what is in the way: /goal unblock {len(blockers)} when it is gone"


async def _add_milestone(goals: ConversationGoals, words: str) -> str:
    first, _, rest = words.strip().partition(" ")
    if first == AHEAD:
        await goals.add_milestone(rest, reached=False)
        return "a milestone ahead: /goal milestone and the same words when it is reached"
    await goals.add_milestone(words)
    return "a milestone is reached"


async def _add_artifact(goals: ConversationGoals, words: str) -> str:
    await goals.add_artifact(words)
    return "noted as made for the goal"


async def _tick(chat: ChatPort, number: str) -> None:
    """Mark a step as done, or as still to do; without a number, a list of several asks which."""
    active = _active(chat)
    unfinished = [step for step in active.subtasks if not step.done]
    if not active.subtasks:
        raise UsageError("the goal has no steps", "/goal step and some words")
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
        raise UsageError("nothing is in the way", "/goal blocker and some words")
    if not number and len(active.blockers) > 1:
        goal_lists.show_goal(chat, active)
        return
    await goal_lists.unblock(
        chat, active.blockers[_index(number or "1", len(active.blockers), "blocker")]
    )


def _active(chat: ChatPort) -> Goal:
    if chat.conversation.goals.active is None:
        raise UsageError("there is no active goal", "set one with /goal")
    return chat.conversation.goals.active


def _index(number: str, count: int, what: str) -> int:
    if not 1 <= int(number) <= count:
        raise UsageError(f"there is no {what} {number}", f"there are {count}; F5 numbers them")
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
