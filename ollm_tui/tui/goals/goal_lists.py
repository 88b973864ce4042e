"""Lists of goals and decisions, and what can be done with each; the commands use these, too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import NamedTuple

from ollm_tui.core.counts import counted
from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.goals import Decision, Goal, Subtask
from ollm_tui.engine.conversation.conversation_goals import ConversationGoals
from ollm_tui.tui.chat.port import ChatPort
from ollm_tui.tui.goals.words import (
    DECISIONS_EMPTY,
    GOAL_RESUMED,
    GOALS_EMPTY,
    LOCK,
    MARK_AS_REACHED,
    PAUSE,
    REMOVE,
    UNLOCK,
    keys,
)
from ollm_tui.tui.kit.choice_list import Choice
from ollm_tui.tui.kit.picker import Picker
from ollm_tui.tui.kit.words import STILL_ANSWERING, STOP_FIRST

GoalAction = Callable[[], Awaitable[None]]


class _Offer(NamedTuple):
    """A line to choose, and what is done then; `note` says at the right edge what it is."""

    text: str
    note: str
    action: GoalAction
    mark: str = ""
    verb: str = "choose"
    """What Enter does with it, as it is shown among the keys."""


def show_goals(chat: ChatPort) -> None:
    """List all goals there were: go on with one, or do something with the active one."""
    goals = chat.conversation.goals

    async def choose(goal_id: str | None) -> None:
        found = next((each for each in goals.all if each.id == goal_id), None)
        if found and found.status == "active":
            show_goal(chat, found)
        elif found:
            await chat.attempt(lambda: _resume(chat, found))

    def describe(choice: Choice | None) -> None:
        found = next((each for each in goals.all if choice and each.id == choice.key), None)
        picker.say(_about(found) if found else "")
        picker.say_keys(keys("open" if found and found.status == "active" else "resume"))

    choices = [
        Choice(each.id, visible(each.text), each.status, "✓" if each.status == "done" else "")
        for each in reversed(goals.all)
    ]
    active = goals.active.id if goals.active else None
    picker = Picker("Goals", choices, highlight=active, empty=GOALS_EMPTY, watcher=describe)
    chat.ask(picker, choose)


def show_goal(chat: ChatPort, goal: Goal) -> None:
    """List what can be done with the active goal and all that belongs to it."""
    offers = [
        *(_step_offer(chat, step) for step in goal.subtasks),
        *(
            _Offer(text, "blocker", lambda text=text: unblock(chat, text), verb="resolve")
            for text in goal.blockers
        ),
        *(
            _Offer(each.text, "milestone", lambda each=each: _pass(chat, each.text), verb="reach")
            for each in goal.milestones
            if each.reached_at is None
        ),
        *(_decision_offer(chat, each) for each in goal.decisions),
        _Offer(MARK_AS_REACHED, "goal", lambda: _end(chat, reach)),
        _Offer(PAUSE, "goal", lambda: _end(chat, pause)),
    ]
    _offer(chat, visible(goal.text), offers)


def show_decisions(chat: ChatPort) -> None:
    """List everything that is decided, to lock it, unlock it or take it back."""
    decided = chat.conversation.goals.decisions
    offers = [_decision_offer(chat, each, f"{n}. ") for n, each in enumerate(decided, 1)]
    _offer(chat, "Decisions", offers, DECISIONS_EMPTY)


async def reach(goals: ConversationGoals) -> str:
    """Mark the active goal as reached; returns the notice, which counts the decisions kept."""
    stand = sum(each.locked for each in goals.active.decisions) if goals.active else 0
    await goals.complete_goal()
    kept = f" · {counted(stand, 'decision')} still in force: /decide" if stand else ""
    return f"Goal reached{kept}"


async def pause(goals: ConversationGoals) -> str:
    """Lay the active goal aside; returns the notice."""
    await goals.pause_goal()
    return "Goal paused · /goal lists it"


async def tick(chat: ChatPort, step: Subtask) -> None:
    """Mark a step as done, or one that was done as still to do."""
    check_free(chat)
    await chat.conversation.goals.finish_subtask(step.id, not step.done)
    done = "To do" if step.done else "Done"
    tell(chat, f"{done}: “{visible(step.text)}”")


async def unblock(chat: ChatPort, blocker: str) -> None:
    """Remove a blocker from the active goal."""
    check_free(chat)
    await chat.conversation.goals.remove_blocker(blocker)
    tell(chat, f"Resolved “{visible(blocker)}”")


def check_free(chat: ChatPort) -> None:
    """Raise UsageError while the model answers: what it was asked with stays as it is."""
    if chat.is_busy:
        raise UsageError(STILL_ANSWERING, STOP_FIRST)


def tell(chat: ChatPort, text: str) -> None:
    """Show a notice, and the facts: goals and decisions are part of the prompt."""
    chat.lines.show_facts()
    chat.tell(text)


def _show_decision(chat: ChatPort, decision: Decision) -> None:
    turn = UNLOCK if decision.locked else LOCK
    offers = [
        _Offer(REMOVE, "", lambda: _take_back(chat, decision)),
        _Offer(turn, "", lambda: _lock(chat, decision, not decision.locked)),
    ]
    _offer(chat, visible(decision.text), offers)


def _offer(chat: ChatPort, title: str, offers: Sequence[_Offer], empty: str = "") -> None:
    """Show a list whose lines do something when they are chosen."""

    async def choose(key: str | None) -> None:
        if key is not None:
            await chat.attempt(offers[int(key)].action)

    def describe(choice: Choice | None) -> None:
        picker.say_keys(keys(offers[int(choice.key)].verb if choice else "choose"))

    choices = [
        Choice(str(number), visible(each.text), each.note, each.mark)
        for number, each in enumerate(offers)
    ]
    picker = Picker(title, choices, empty=empty, watcher=describe)
    chat.ask(picker, choose)


def _step_offer(chat: ChatPort, step: Subtask) -> _Offer:
    if step.done:
        return _Offer(step.text, "step, done", lambda: tick(chat, step), "✓", "untick")
    return _Offer(step.text, "step", lambda: tick(chat, step), verb="tick")


def _decision_offer(chat: ChatPort, decision: Decision, number: str = "") -> _Offer:
    async def show() -> None:
        _show_decision(chat, decision)

    note = "decision, locked" if decision.locked else "decision, open"
    return _Offer(number + decided_words(decision), note, show, verb="open")


def decided_words(decision: Decision) -> str:
    """Return a decision with its reason."""
    return f"{decision.text} because {decision.reason}" if decision.reason else decision.text


async def _resume(chat: ChatPort, goal: Goal) -> None:
    check_free(chat)
    await chat.conversation.goals.resume_goal(goal.id)
    tell(chat, GOAL_RESUMED)


async def _end(chat: ChatPort, end: Callable[[ConversationGoals], Awaitable[str]]) -> None:
    check_free(chat)
    tell(chat, await end(chat.conversation.goals))


async def _pass(chat: ChatPort, milestone: str) -> None:
    check_free(chat)
    await chat.conversation.goals.add_milestone(milestone)
    tell(chat, f"Reached: “{visible(milestone)}”")


async def _take_back(chat: ChatPort, decision: Decision) -> None:
    check_free(chat)
    await chat.conversation.goals.take_back(decision.id)
    tell(chat, f"Removed “{visible(decision.text)}”")


async def _lock(chat: ChatPort, decision: Decision, locked: bool) -> None:
    check_free(chat)
    await chat.conversation.goals.lock(decision.id, locked)
    notice = "Locked, included in every prompt" if locked else "Unlocked"
    tell(chat, notice)


def _about(found: Goal) -> str:
    """Return the steps of a goal, what is in its way and what was decided for it."""

    def rows() -> Iterable[str]:
        yield from (f"{'done' if step.done else 'to do'}: {step.text}" for step in found.subtasks)
        yield from (f"blocker: {blocker}" for blocker in found.blockers)
        yield from (f"decision: {decision.text}" for decision in found.decisions)

    return "   ".join(rows())
