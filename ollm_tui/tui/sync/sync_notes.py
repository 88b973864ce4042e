"""One quiet line in the stream when syncing by itself does not work."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from ollm_tui.tui.stream.transcript.entry import Entry
from ollm_tui.tui.sync.words import NOT_SYNCED

if TYPE_CHECKING:
    from ollm_tui.services.sync.background_sync import BackgroundSync
    from ollm_tui.tui.chat.port import ChatPort


class SyncNotes:
    """Listens to syncing as long as the program runs."""

    def __init__(self, chat: ChatPort, sync: BackgroundSync) -> None:
        self._chat = chat
        self._loop = asyncio.get_running_loop()
        sync.told.subscribe(self._hear)

    def _hear(self, problem: str) -> None:
        self._loop.call_soon_threadsafe(self._note, problem)

    def _note(self, problem: str) -> None:
        key = f"sync-{time.monotonic_ns()}"
        self._chat.front().transcript.add(Entry(key, "note", NOT_SYNCED.format(problem)))
