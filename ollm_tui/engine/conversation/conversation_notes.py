"""What the user, hooks and the project add to every prompt of a session."""

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
from ollm_tui.engine.conversation.held_session import HeldSession

ChangeMetadata = Callable[[Metadata], Awaitable[None]]


class ConversationNotes:
    """Adds entries to the context of one session and takes them away; each is one record."""

    def __init__(self, session: HeldSession, change: ChangeMetadata | None = None) -> None:
        self._session = session
        self._change = change or session.change_metadata

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
        """Put something into every prompt, for some seconds or for good; an entry of the same
        key is replaced. UsageError if it cannot be used."""
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
            raise UsageError(f"that cannot be added: {entry.problem}", "/context add NAME words")
        await self._keep(with_entry(self._kept, entry))

    async def replace(self, gone: Iterable[str], entries: Iterable[ContextEntry]) -> None:
        """Take some entries away and put others there, in one record. What is there already
        stays as old as it is, and where it is: prompts begin as before."""
        kept = self._kept
        for key in gone:
            kept = without_entry(kept, key)
        for entry in entries:
            if not any(replace(entry, added_at=known.added_at) == known for known in kept):
                kept = with_entry(kept, entry)
        await self._keep(kept)

    async def remove(self, key: str) -> None:
        """Take an entry away. UsageError if there is none of that name."""
        if key not in {entry.key for entry in self._kept}:
            raise UsageError(f"there is no context {clean(key)!r}", "/context list shows all")
        await self._keep(without_entry(self._kept, key))

    async def clear(self) -> int:
        """Take all of them away; says how many."""
        count = len(self._kept)
        await self._keep(())
        return count

    async def drop_expired(self) -> None:
        """Take those away whose time has run out."""
        await self._keep(self._kept)

    @property
    def _kept(self) -> Entries:
        return self._session.state.header.metadata.context_entries

    async def _keep(self, entries: Entries) -> None:
        lasting = without_expired(entries, clock.now())
        if lasting != self._kept:
            metadata = self._session.state.header.metadata
            await self._change(replace(metadata, context_entries=lasting))
