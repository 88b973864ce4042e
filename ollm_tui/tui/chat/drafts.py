"""The draft of the open session on disk: written soon after a change, never while idle."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ollm_tui.services.sessions.prompt_memory import PromptMemory

WITHIN_SECONDS = 0.5
"""How long after the first change a draft is written at the latest."""


class DraftStore:
    """Notes every change; half a second after the first one the last one is written."""

    def __init__(self, memory: PromptMemory, session_id: str | None = None) -> None:
        self._memory = memory
        self._session_id = session_id
        self._latest: str | None = None
        self._noted: dict[str | None, str] = {}
        """Drafts that are not written yet, by session."""
        self._hurry = asyncio.Event()
        """Set where writing must not wait any longer."""
        self._writing: asyncio.Task[None] | None = None

    def note(self, draft: str) -> None:
        """Note what the draft is now; it is written soon."""
        if draft == self._latest:
            return
        self._latest = self._noted[self._session_id] = draft
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())

    def switch_to(self, session_id: str | None) -> str:
        """Return the draft of another session and go on with that one. What was noted for the
        session before is still written."""
        self._session_id = session_id
        noted = self._noted.get(session_id)
        self._latest = self._memory.draft(session_id) if noted is None else noted
        return self._latest

    def move_to(self, session_id: str | None, draft: str) -> None:
        """Give the draft to another session and take it from the one that had it."""
        if session_id != self._session_id:
            self.note("")
            self.switch_to(session_id)
            self.note(draft)

    async def flush(self) -> None:
        """Write at once what was noted, and wait for it."""
        if self._writing:
            self._hurry.set()
            await self._writing

    async def _write(self) -> None:
        try:
            while self._noted:  # more may be noted while a draft is being written
                await self._pause()
                noted, self._noted = self._noted, {}
                for session_id, draft in noted.items():
                    await asyncio.to_thread(self._memory.keep_draft, session_id, draft)
        finally:
            self._writing = None
            self._hurry.clear()

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._hurry.wait(), WITHIN_SECONDS)
        except TimeoutError:
            pass
