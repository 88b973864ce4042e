"""Keeps the draft of the open session on disk, soon after it changed and never while idle."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ollm_tui.services.sessions.prompt_memory import PromptMemory

WITHIN_SECONDS = 0.5


class DraftStore:
    """Notes every change; the last one is written half a second after the first."""

    def __init__(self, memory: PromptMemory, session_id: str | None = None) -> None:
        self._memory = memory
        self._session_id = session_id
        self._latest: str | None = None
        self._noted: dict[str | None, str] = {}
        self._hurry = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None

    def note(self, draft: str) -> None:
        """The draft is now this."""
        if draft == self._latest:
            return
        self._latest = self._noted[self._session_id] = draft
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())

    def switch_to(self, session_id: str | None) -> str:
        """Another session is open; gives its draft. What was noted for the other is written."""
        self._session_id = session_id
        noted = self._noted.get(session_id)
        self._latest = self._memory.draft(session_id) if noted is None else noted
        return self._latest

    def move_to(self, session_id: str | None, draft: str) -> None:
        """The draft belongs to a session from now on, no longer to where it was."""
        if session_id != self._session_id:
            self.note("")
            self.switch_to(session_id)
            self.note(draft)

    async def flush(self) -> None:
        """Write what was noted, now."""
        if self._writing:
            self._hurry.set()
            await self._writing

    async def _write(self) -> None:
        try:
            while self._noted:
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
