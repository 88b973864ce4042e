"""The user's own notes in the system part of every prompt."""

from __future__ import annotations

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.context_entry import (
    USUAL_PRIORITY,
    ContextEntry,
    Entries,
    by_priority,
    with_entry,
    without_entry,
)
from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import clean
from ollm_tui.engine.held_session import HeldSession


class NoteKeeper:
    """Adds notes to the context of one session and takes them away; each is one record."""

    def __init__(self, session: HeldSession) -> None:
        self._session = session

    @property
    def all(self) -> Entries:
        """Every note, in the order of the prompt."""
        return by_priority(self._session.state.header.metadata.context_entries)

    async def add(self, key: str, content: str, priority: int = USUAL_PRIORITY) -> None:
        """Tell the model something in every prompt; a note of the same key is replaced."""
        name, words = " ".join(clean(key).split()), clean(content).strip()
        if not name or not words:
            raise UsageError("a note needs a name and some words", "type both")
        entry = ContextEntry(key=name, content=words, added_at=clock.now(), priority=priority)
        await self._keep(with_entry(self._kept, entry))

    async def remove(self, key: str) -> None:
        """Take a note away. UsageError if there is none of that name."""
        if key not in {entry.key for entry in self._kept}:
            raise UsageError(f"there is no note {clean(key)!r}", "choose one of the list")
        await self._keep(without_entry(self._kept, key))

    @property
    def _kept(self) -> Entries:
        return self._session.state.header.metadata.context_entries

    async def _keep(self, entries: Entries) -> None:
        metadata = self._session.state.header.metadata
        await self._session.change_metadata(replace(metadata, context_entries=entries))
