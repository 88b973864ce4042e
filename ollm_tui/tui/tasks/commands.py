"""The command of tasks: pin one to the session, choose from the list, or let go of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.context_entry import TASK, pinned_task
from ollm_tui.core.task import TaskBoard
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.context.context_entries import cost_of
from ollm_tui.tui.kit.choice_list import Choice
from ollm_tui.tui.kit.picker import Picker
from ollm_tui.tui.kit.words import STILL_ANSWERING, STOP_FIRST
from ollm_tui.tui.tasks.words import (
    MARKS,
    NO_SECTION,
    NO_TASKS,
    TASK_REMOVED,
    TITLE,
    pinned,
    progress,
)


async def choose(chat: ChatPort, argument: str) -> None:
    """Pin a task by its id, let go of it with `off`, or choose one from the list."""
    word = argument.strip()
    if word == "off":
        _check_free(chat)
        await chat.app.workspace.task.unpin(chat.conversation.notes)
        chat.lines.show_facts()
        chat.tell(TASK_REMOVED)
    elif word and word != "list":
        await _pin(chat, word)
    else:
        await _show_list(chat)


async def _pin(chat: ChatPort, name: str) -> None:
    _check_free(chat)
    conversation = chat.conversation
    found = await chat.app.workspace.task.pin(conversation.notes, name)
    entry = next(each for each in conversation.notes.all if each.key == TASK)
    chat.lines.show_facts()
    chat.tell(pinned(visible(found.title), cost_of(conversation, entry)))


async def _show_list(chat: ChatPort) -> None:
    tasks = chat.app.workspace.task.tasks
    board = await asyncio.to_thread(tasks.board)
    now = pinned_task(chat.conversation.notes.all)
    known = {task.id: task for task in board.tasks}

    async def take(task_id: str | None) -> None:
        if task_id:
            await chat.attempt(lambda: _pin(chat, task_id))

    def describe(choice: Choice | None) -> None:
        task = known.get(choice.key) if choice else None
        words = " ".join((task.description or task.source_file).split()) if task else ""
        picker.say(words[:200])

    choices = list(_choices(board, now))
    picker = Picker(TITLE, choices, highlight=now or None, empty=NO_TASKS, watcher=describe)
    chat.ask(picker, take)


def _choices(board: TaskBoard, now: str) -> Iterator[Choice]:
    """Yield the sections with their progress, and below each its tasks."""
    by_section: dict[str, list[Choice]] = {}
    for task in board.tasks:
        note = "now" if task.id == now else task.status.replace("_", " ")
        choice = Choice(
            task.id,
            f"{visible(task.id)}  {visible(task.title)}",
            note,
            MARKS.get(task.status, ""),
            words=task.status,
        )
        by_section.setdefault(task.section_id, []).append(choice)
    names = {section.id: section.name for section in board.sections}
    for section_id in dict.fromkeys((*names, *by_section)):
        if section_id in by_section:
            name = visible(names.get(section_id) or section_id or NO_SECTION)
            yield Choice("", f"{name}  {progress(*board.progress(section_id))}", heading=True)
            yield from by_section[section_id]


def _check_free(chat: ChatPort) -> None:
    if chat.is_busy:
        raise UsageError(STILL_ANSWERING, STOP_FIRST)


ACTIONS: Mapping[str, Action] = {"task.choose": choose}
