"""The task a session is about: a block about it stands in every prompt, as data."""

from __future__ import annotations

import asyncio

from ollm_tui.core.session.context_entry import TASK
from ollm_tui.core.task import Task
from ollm_tui.engine.conversation.conversation_notes import ConversationNotes
from ollm_tui.services.tasks.project_tasks import ProjectTasks

PRIORITY = 80


class PinnedTask:
    """Pins a task of the project to sessions."""

    def __init__(self, tasks: ProjectTasks) -> None:
        self.tasks = tasks

    async def pin(self, notes: ConversationNotes, name: str) -> Task:
        """Put the block about a task into every prompt, in the place of an earlier one. UsageError
        if there is no such task."""
        found = await asyncio.to_thread(self.tasks.find, name)
        block = await asyncio.to_thread(self.tasks.block, found)
        await notes.add(TASK, block, PRIORITY, source="system", origin=f"{TASK}:{found.id}")
        return found

    async def unpin(self, notes: ConversationNotes) -> None:
        """Take the block out again. UsageError if there is none."""
        await notes.remove(TASK)
