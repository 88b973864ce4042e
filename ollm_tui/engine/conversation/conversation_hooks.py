"""Hooks around the turns and compressions of one session; what they answer becomes context."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_tui.core.session.context_entry import ContextEntry
from ollm_tui.core.session.message import Message
from ollm_tui.engine.conversation.conversation_notes import ConversationNotes
from ollm_tui.engine.conversation.held_session import HeldSession
from ollm_tui.engine.conversation.stoppable import Stoppable
from ollm_tui.settings.schema import HookEvent

if TYPE_CHECKING:  # most users have no hooks, so nothing of them is loaded
    from ollm_tui.services.hooks import HookAnswer, Hooks


class ConversationHooks:
    """Runs hooks when something happens to a session. `notes` may be changed at any time."""

    def __init__(self, session: HeldSession, notes: ConversationNotes, hooks: Hooks | None) -> None:
        self._session = session
        self._notes = notes
        self._hooks = hooks
        self._is_new = True
        self._running: Stoppable | None = None

    async def before_turn(self, question: Message) -> None:
        """A message is about to be answered; with the first one the session starts."""
        await self._notes.drop_expired()
        if self._is_new:
            self._is_new = False
            await self.run("session-start", isResumed=question.parent_id is not None)
        await self.run("before-turn", messageId=question.id, text=question.text)

    async def after_turn(self, reply: Message | None) -> None:
        """A message was answered, or its answer was stopped or failed."""
        if reply is None:
            return
        running = self._running = Stoppable()
        try:
            await running.wait(
                self.run("after-turn", messageId=reply.id, text=reply.text, status=reply.status)
            )
        finally:
            self._running = None

    def stop(self) -> None:
        """Give up what runs after a turn."""
        if self._running:
            self._running.stop()

    async def run(self, event: HookEvent, **facts: object) -> None:
        """Run the hooks of an event, and take what they answer into the context."""
        if self._hooks is None:
            return
        header = self._session.state.header
        told = {
            "sessionId": header.session_id,
            "project": header.project,
            "model": header.model,
            "provider": header.provider,
        }
        for answer in await self._hooks.run(event, told | facts):
            await self._take(self._hooks, answer)

    async def _take(self, hooks: Hooks, answer: HookAnswer) -> None:
        """A hook speaks for itself only: what others added is not its to replace."""
        taken = {entry.key for entry in self._notes.all if entry.source != "hook"}
        entries: list[ContextEntry] = []
        for entry in answer.entries:
            if entry.key in taken:
                hooks.tell(answer.hook, f"its context {entry.key!r} is left out: the name is taken")
            else:
                entries.append(entry)
        gone = {answer.hook.key} - {entry.key for entry in entries}
        await self._notes.replace(gone, entries)
