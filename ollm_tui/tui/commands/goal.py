"""What the conversation is for: its goal, and decisions the model has to keep to."""

from __future__ import annotations

from ollm_tui.core.errors import UsageError
from ollm_tui.core.goals import Goal
from ollm_tui.core.intake import visible
from ollm_tui.tui.dialogs.picker import Picker
from ollm_tui.tui.screens.chat import ChatScreen
from ollm_tui.tui.widgets.choice_list import Choice

EMPTY = "No goal yet. /goal and some words set one; the model is told of it in every prompt."
KEYS = "Enter go on with it   Up Down move   Esc close"
BECAUSE = " because "


async def goal(chat: ChatScreen, argument: str) -> None:
    """Set the goal; `done` and `pause` end it; without words, show all goals there were."""
    goals, word = chat.conversation.goals, argument.strip()
    if not word:
        _show(chat)
        return
    _check_free(chat)
    if word == "done":
        await goals.complete_goal()
        told = "the goal is reached"
    elif word == "pause":
        await goals.pause_goal()
        told = "the goal is laid aside; /goal shows it"
    else:
        await goals.set_goal(word)
        told = "the goal is set: the model is told of it in every prompt"
    _tell(chat, told)


async def decide(chat: ChatScreen, argument: str) -> None:
    """Settle something the model has to keep to, with a reason or without."""
    text, _, reason = argument.partition(BECAUSE)
    if not text.strip():
        raise UsageError("what is decided?", "/decide tabs it is because the linter wants them")
    _check_free(chat)
    await chat.conversation.goals.decide(text, reason, locked=True)
    _tell(chat, "decided and locked: the model is told of it in every prompt")


def _show(chat: ChatScreen) -> None:
    goals = chat.conversation.goals

    async def resume(goal_id: str | None) -> None:
        if goal_id:
            await chat.attempt(lambda: _resume(chat, goal_id))

    def describe(choice: Choice | None) -> None:
        found = next((each for each in goals.all if choice and each.id == choice.key), None)
        picker.say(_about(found) if found else "")

    choices = [
        Choice(each.id, visible(each.text), each.status, "✓" if each.status == "done" else "")
        for each in reversed(goals.all)
    ]
    active = goals.active.id if goals.active else None
    picker = Picker("Goals", choices, highlight=active, empty=EMPTY, keys=KEYS, watcher=describe)
    chat.app.push_screen(picker, resume)


async def _resume(chat: ChatScreen, goal_id: str) -> None:
    _check_free(chat)
    await chat.conversation.goals.resume_goal(goal_id)
    _tell(chat, "this is the goal again")


def _about(found: Goal) -> str:
    """Its steps and what was decided for it."""
    steps = [f"{'done' if step.done else 'to do'}: {step.text}" for step in found.subtasks]
    decided = [f"decided: {decision.text}" for decision in found.decisions]
    return "   ".join((*steps, *decided))


def _check_free(chat: ChatScreen) -> None:
    if chat.is_busy:
        raise UsageError("the model is still answering", "Esc stops it")


def _tell(chat: ChatScreen, text: str) -> None:
    chat.lines.show_facts()
    chat.lines.tell(text)
