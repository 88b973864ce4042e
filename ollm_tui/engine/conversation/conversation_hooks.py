"""The hooks of one session, run at its events; what they answer becomes part of the context."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
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
    """Runs the hooks of one session. `notes` must be changeable also in the middle of a turn."""

    def __init__(self, session: HeldSession, notes: ConversationNotes, hooks: Hooks | None) -> None:
        self._session = session
        self._notes = notes
        self._hooks = hooks
        self._is_new = True
        self._running: Stoppable | None = None
        self.further: Callable[[], Awaitable[Sequence[ContextEntry]]] | None = None
        """What extensions add to the next prompt; None: nothing."""

    async def before_turn(self, question: Message) -> None:
        """Run the hooks before a turn; before the first one here, also those of the session."""
        await self._notes.drop_expired()
        if self._is_new:
            self._is_new = False
            await self.run("session-start", isResumed=question.parent_id is not None)
        await self.run("before-turn", messageId=question.id, text=question.text)
        if self.further:
            await self._take_further(await self.further())

    async def after_turn(self, reply: Message | None) -> None:
        """Run the hooks after a turn, also one that was stopped or failed; None had no reply."""
        if reply is None:
            return
        # The turn is over and cannot be cancelled any more, so these hooks get their own stop.
        running = self._running = Stoppable()
        try:
            await running.wait(
                self.run("after-turn", messageId=reply.id, text=reply.text, status=reply.status)
            )
        finally:
            self._running = None

    def stop(self) -> None:
        """Stop the hooks that run after a turn."""
        if self._running:
            self._running.stop()

    async def run(self, event: HookEvent, **facts: object) -> None:
        """Run the hooks of an event, and take what they answer into the context."""
        if self._hooks is None:
            return
        header = self._session.state.header
        about_session = {
            "sessionId": header.session_id,
            "project": header.project,
            "model": header.model,
            "provider": header.provider,
        }
        for answer in await self._hooks.run(event, about_session | facts):
            await self._take(self._hooks, answer)

    async def _take_further(self, entries: Sequence[ContextEntry]) -> None:
        """Replace what extensions added to the last prompt; names that others use stay theirs."""
        old = {entry.key for entry in self._notes.all if entry.source == "extension"}
        taken = {entry.key for entry in self._notes.all} - old
        new = [entry for entry in entries if entry.key not in taken]
        await self._notes.replace(old - {entry.key for entry in new}, new)

    async def _take(self, hooks: Hooks, answer: HookAnswer) -> None:
        """Add the entries a hook answered with; one under a key that others use is left out."""
        taken = {entry.key for entry in self._notes.all if entry.source != "hook"}
        entries: list[ContextEntry] = []
        for entry in answer.entries:
            if entry.key in taken:
                hooks.tell(answer.hook, f"its context {entry.key!r} is ignored: the name is taken")
            else:
                entries.append(entry)
        # The hook's own entry is gone once it does not answer with it any more.
        gone = {answer.hook.key} - {entry.key for entry in entries}
        await self._notes.replace(gone, entries)
