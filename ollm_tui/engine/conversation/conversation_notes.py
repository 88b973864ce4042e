"""The context entries of one conversation: what the user, hooks and the project add to prompts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import clean
from ollm_tui.core.session.context_entry import (
    USUAL_PRIORITY,
    ContextEntry,
    Entries,
    EntrySource,
    by_priority,
    expiry,
    with_entry,
    without_entry,
    without_expired,
)
from ollm_tui.core.session.session import Metadata
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.engine.conversation.held_session import HeldSession

ChangeMetadata = Callable[[Metadata], Awaitable[None]]


class ConversationNotes:
    """Adds and removes the context entries of one session, each change in one record."""

    def __init__(self, session: HeldSession, change: ChangeMetadata | None = None) -> None:
        self._session = session
        self._change = change or session.change_metadata

    @property
    def state(self) -> SessionState:
        """What was said in the session these entries belong to."""
        return self._session.state

    @property
    def all(self) -> Entries:
        """Every entry, in the order of the prompt."""
        return by_priority(self._kept)

    async def add(
        self,
        key: str,
        content: str,
        priority: int = USUAL_PRIORITY,
        *,
        source: EntrySource = "user",
        origin: str = "",
        seconds: float | None = None,
    ) -> None:
        """Add an entry to every prompt, for some seconds or for good; one of the same key is
        replaced. UsageError if its name, content or priority is not allowed."""
        moment = clock.now()
        entry = ContextEntry(
            key=" ".join(clean(key).split()),
            content=clean(content).strip(),
            added_at=moment,
            priority=priority,
            source=source,
            origin=origin,
            expires_at=expiry(moment, seconds),
        )
        if entry.problem:
            raise UsageError(f"cannot add this: {entry.problem}", "/context add NAME TEXT")
        await self._keep(with_entry(self._kept, entry))

    async def replace(self, gone: Iterable[str], entries: Iterable[ContextEntry]) -> None:
        """Remove some entries and add others, in one record.

        An entry that is there already keeps its age and thus its place, so that prompts begin
        with the same bytes as before and prompt caches hit.
        """
        kept = self._kept
        for key in gone:
            kept = without_entry(kept, key)
        for entry in entries:
            if not any(replace(entry, added_at=known.added_at) == known for known in kept):
                kept = with_entry(kept, entry)
        await self._keep(kept)

    async def remove(self, key: str) -> None:
        """Remove an entry. UsageError if there is none of that name."""
        if key not in {entry.key for entry in self._kept}:
            raise UsageError(f"no context entry {clean(key)!r}", "/context list shows all")
        await self._keep(without_entry(self._kept, key))

    async def clear(self) -> int:
        """Remove all entries; returns how many there were."""
        count = len(self._kept)
        await self._keep(())
        return count

    async def drop_expired(self) -> None:
        """Remove the entries whose time has run out."""
        await self._keep(self._kept)  # which leaves them out

    @property
    def _kept(self) -> Entries:
        return self._session.state.header.metadata.context_entries

    async def _keep(self, entries: Entries) -> None:
        lasting = without_expired(entries, clock.now())
        if lasting != self._kept:
            metadata = self._session.state.header.metadata
            await self._change(replace(metadata, context_entries=lasting))
