"""The sessions of a store as a user handles them: read, changed, copied, removed, repaired.

Everything here is synchronous, so that a listing command starts no event loop; front ends that
have one call it in a thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import SessionDamaged, SessionNotFound, StoreError
from ollm_tui.core.session.branches import calls_along
from ollm_tui.core.session.past_context import metadata_then
from ollm_tui.core.session.record import AnyRecord, SessionChanged
from ollm_tui.core.session.session import Session, SessionSummary, copied, new_session_id
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.services.sessions.session_catalogue import SessionCatalogue, only_one
from ollm_tui.storage.files.cipher import Cipher
from ollm_tui.storage.search.message_index import forget_session, remove_index
from ollm_tui.storage.sessions.salvage import salvage
from ollm_tui.storage.sessions.session_index import SessionIndex
from ollm_tui.storage.sessions.session_store import LoadedSession, SessionStore
from ollm_tui.storage.sessions.trash import TrashNote
from ollm_tui.storage.store_layout import StoreLayout, is_valid_name

TRASH_DAYS = 30
"""Days that a session stays in the trash."""
ABANDONED_AFTER_NS = 3600 * 10**9
"""A session without a record counts as abandoned after an hour (in nanoseconds)."""


class SessionLibrary:
    """All sessions of one store."""

    def __init__(self, store: SessionStore, index: SessionIndex) -> None:
        self.store = store
        self.index = index
        self.catalogue = SessionCatalogue(store.layout, index, self.summary)

    @classmethod
    def at(cls, layout: StoreLayout, cipher: Cipher | None = None) -> SessionLibrary:
        """Open the library of a store.

        With a cipher the index is only in memory: it holds titles, and would hold them unsealed.
        """
        if cipher is None:
            return cls(SessionStore(layout), SessionIndex(layout.index))
        try:
            layout.index.unlink(missing_ok=True)  # it holds titles from before encryption
            remove_index(layout.search)
        except OSError:
            pass  # something that is not a file holds no titles
        return cls(SessionStore(layout, cipher), SessionIndex(None))

    def summary(self, session_id: str) -> SessionSummary:
        """Read one session and return what a list shows of it."""
        return self.store.load(session_id).state.summary()

    def load(self, session_id: str) -> LoadedSession:
        """Read one session. SessionNotFound or SessionDamaged."""
        return self.store.load(session_id)

    def change(self, session_id: str, **fields: Any) -> None:
        """Set fields of a session, named as on disk: title, pinned, tags."""
        # At the time of the last activity: a new title does not make a session the latest.
        self.record(
            session_id,
            lambda state: [SessionChanged(at=state.header.last_activity, fields=fields)],
        )

    def record(
        self, session_id: str, make: Callable[[SessionState], Sequence[AnyRecord]]
    ) -> SessionState:
        """Lock a session, let `make` look at it, write the records it returns; return the state.

        Raises what `SessionStore.open` raises: SessionBusy if the session is open.
        """
        writer, loaded = self.store.open(session_id)
        try:
            state = loaded.state
            entries = list(enumerate(make(state), state.header.journal_seq + 1))
            for seq, record in entries:
                state.apply(record, seq)
            if entries:
                writer.append(entries)
                writer.fold(state.session())
        finally:
            writer.close()
        self._note(state)
        return state

    def fork(self, session_id: str, leaf: str | None = None) -> str:
        """Copy a session up to the message `leaf`, or its head, into a new one; return its id."""
        state = self.load(session_id).state
        if leaf is not None and leaf not in state:
            raise StoreError(f"session {session_id} has no message {leaf}", "ollm sessions view ID")
        branch = state.branch(leaf)
        moment = clock.now()
        metadata = metadata_then(state, leaf, moment) if leaf else state.header.metadata
        return self.add(
            replace(
                state.header,
                session_id=new_session_id(),
                start_time=moment,
                last_activity=moment,
                messages=tuple(branch),
                tool_calls=calls_along(state, branch),
                head=branch[-1].id if branch else None,
                metadata=copied(metadata),
                title=f"{state.header.title} (fork)",
                pinned=False,
                forked_from=session_id,
                journal_seq=0,
            )
        )

    def add(self, session: Session) -> str:
        """Put a whole session into the store and return its id, a new one if its own is taken."""
        session = replace(session, session_id=self.free_id(session.session_id))
        writer = self.store.create(session.session_id)
        try:
            writer.fold(session)
        finally:
            writer.close()
        self._note(SessionState(session))
        return session.session_id

    def free_id(self, session_id: str) -> str:
        """Return this id if it is valid and taken neither here nor in the trash, else a new one."""
        store = self.store
        if not is_valid_name(session_id) or store.directory.has(session_id):
            return new_session_id()
        return new_session_id() if store.trash.has(session_id) else session_id

    def delete(self, session_id: str) -> None:
        """Remove a session and all that belongs to it, for good. SessionBusy if it is open."""
        if not is_valid_name(session_id):
            raise SessionNotFound(f"there is no session {session_id}", "ollm sessions list")
        writer = self.store.create(session_id)
        try:
            writer.lock()
        except OSError:
            pass  # a directory or FIFO in place of the journal has no lock, and nobody writes it
        try:
            self.store.trash.delete(session_id)
        finally:
            writer.close()
        self.index.update([], [session_id])
        forget_session(self.store.layout.search, session_id)

    def discard(self, session_id: str, reason: str) -> None:
        """Move a session to the trash. SessionBusy if it is open."""
        writer, loaded = self.store.open(session_id)
        try:
            # The note is written as plain text: a sealed store must not show titles in it.
            title = "" if self.store.sealed else loaded.state.header.title
            note = TrashNote(session_id, title, reason, clock.now())
            self.store.trash.put(note)
        finally:
            writer.close()
        self.index.update([], [session_id])

    def trashed(self) -> list[TrashNote]:
        """Return the notes of the sessions in the trash, the latest first."""
        self.store.trash.recover()
        return self.store.trash.notes()

    def restore(self, prefix: str) -> str:
        """Bring the session whose id begins with `prefix` back from the trash; return its id."""
        names = [note.session_id for note in self.trashed() if note.session_id.startswith(prefix)]
        session_id = only_one(names, prefix, "session in the trash", "ollm sessions trash list")
        self.store.trash.restore(session_id)
        return session_id

    def empty_old_trash(self) -> None:
        """Delete for good what has been in the trash for more than `TRASH_DAYS`."""
        limit = clock.iso(datetime.now(UTC) - timedelta(days=TRASH_DAYS))
        for note in self.store.trash.notes():
            # A note that cannot be read has no time (the epoch): such a session stays.
            if clock.EPOCH < note.trashed_at < limit:
                try:
                    self.store.trash.delete(note.session_id)
                except (StoreError, OSError):
                    continue  # the next run tries again

    def remove_abandoned(self) -> None:
        """Delete sessions whose process died before the first record was written."""
        limit = time.time_ns() - ABANDONED_AFTER_NS
        for session_id in self.store.directory.journals_alone(limit):
            try:
                if not self._has_begun(session_id):
                    self.delete(session_id)
            except (StoreError, OSError):
                continue  # damaged or in use: it stays

    def close(self) -> None:
        """Close the index."""
        self.index.close()

    def _note(self, state: SessionState) -> None:
        """Update the session's row in the index."""
        marks = self.store.directory.fingerprint(state.header.session_id)
        self.index.update([(state.summary(), marks)])

    def _has_begun(self, session_id: str) -> bool:
        try:
            self.load(session_id)
        except SessionNotFound:
            return False
        return True


def repair(library: SessionLibrary, session_id: str) -> str | None:
    """Copy what can be read of a damaged session into a new one; return its id, None if nothing.

    The damaged files stay as they are.
    """
    session = salvage(library.store.layout, session_id, new_session_id())
    return library.add(session) if session else None


def damaged(library: SessionLibrary) -> list[str]:
    """Return the sessions that cannot be read, or of which one file cannot."""
    found: list[str] = []
    for name in library.store.directory.fingerprints():
        try:
            if library.load(name).damaged:
                found.append(name)
        except SessionDamaged:
            found.append(name)
        except SessionNotFound:
            continue  # it is gone by now, or has no record yet
    return found
