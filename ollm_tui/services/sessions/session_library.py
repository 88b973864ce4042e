"""The sessions of a store as a user handles them: read, changed, copied, removed, repaired.

Everything here is synchronous, so that a listing command starts no event loop; front ends that
have one call it in a thread.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import (
    SessionBusy,
    SessionDamaged,
    SessionNotFound,
    SessionTooLarge,
    StoreError,
)
from ollm_tui.core.session.branches import calls_along
from ollm_tui.core.session.past_context import metadata_then
from ollm_tui.core.session.record import AnyRecord, SessionChanged
from ollm_tui.core.session.session import Session, SessionSummary, as_own, copied, new_session_id
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.services.sessions.prompt_memory import forget_all_prompts, forget_prompts
from ollm_tui.services.sessions.session_catalogue import SessionCatalogue, only_one
from ollm_tui.storage.files.cipher import Cipher
from ollm_tui.storage.search.message_index import erase_sessions, remove_index
from ollm_tui.storage.sessions.session_index import SessionIndex
from ollm_tui.storage.sessions.session_store import LoadedSession, SessionStore
from ollm_tui.storage.sessions.trash import TrashNote
from ollm_tui.storage.snapshots.snapshot_store import snapshots_beside
from ollm_tui.storage.store_layout import StoreLayout, TrashedLayout, is_valid_name
from ollm_tui.storage.sync.deletions import Deletions

BY_HAND = "deleted by you"
"""Why a session is in the trash that the user put there. What is there for another reason stays on
the user's other machines."""
TRASH_DAYS = 30
"""Days that a session stays in the trash."""
ABANDONED_AFTER_NS = 3600 * 10**9
"""A session without a record counts as abandoned after an hour (in nanoseconds)."""

log = logging.getLogger(__name__)


class SessionLibrary:
    """All sessions of one store."""

    def __init__(
        self, store: SessionStore, index: SessionIndex, memory: Path | None = None
    ) -> None:
        """`memory` is the folder of the prompts and drafts, which go with their sessions."""
        self.store = store
        self.index = index
        self.memory = memory or store.layout.root
        self.catalogue = SessionCatalogue(store.layout, index, self.summary)
        self._deletions = Deletions(store.layout)

    @classmethod
    def at(
        cls,
        layout: StoreLayout,
        cipher: Cipher | None = None,
        *,
        keeps_outputs: bool = True,
        most_megabytes: int = 0,
        memory: Path | None = None,
        writes: bool = True,
    ) -> SessionLibrary:
        """Open the library of a store; `keeps_outputs`, `most_megabytes` and `writes` as for the
        store.

        With a cipher the index is only in memory: it holds titles, and would hold them unsealed.
        """
        store = SessionStore(
            layout,
            cipher,
            keeps_outputs=keeps_outputs,
            most_megabytes=most_megabytes,
            writes=writes,
        )
        if cipher is None:
            return cls(store, SessionIndex(layout.index), memory)
        try:
            layout.index.unlink(missing_ok=True)  # it holds titles from before encryption
            remove_index(layout.search)
        except OSError:
            pass  # something that is not a file holds no titles
        return cls(store, SessionIndex(None), memory)

    def summary(self, session_id: str) -> SessionSummary:
        """Read one session and return what a list shows of it."""
        loaded = self.store.load(session_id)
        summary = loaded.state.summary()
        if not loaded.older:
            return summary
        return replace(
            summary,
            message_count=max(summary.message_count - loaded.derived, 0),
            older=True,
        )

    def load(self, session_id: str) -> LoadedSession:
        """Read one session. SessionNotFound or SessionDamaged."""
        return self.store.load(session_id)

    def change(self, session_id: str, **fields: Any) -> None:
        """Set fields of a session, named as on disk: title, pinned, tags."""
        # At the time of the last activity: a new title does not make a session the latest.
        self.record(
            session_id,
            lambda state: [
                SessionChanged(at=state.header.last_activity, fields=fields, changed_at=clock.now())
            ],
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
        self.note(state)
        return state

    def fork(self, session_id: str, leaf: str | None = None) -> str:
        """Copy a session up to the message `leaf`, or its head, into a new one; return its id.

        Of a session that is too large to be read, only the end is copied.
        """
        try:
            state = self.load(session_id).state
        except SessionTooLarge:
            if (end := self.store.end_of(session_id)) is None:
                raise
            state = SessionState(end)
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
                continued_in=None,
                journal_seq=0,
            )
        )

    def add(self, session: Session) -> str:
        """Put a whole session into the store and return its id, a new one if its own is taken."""
        session = replace(as_own(session), session_id=self.free_id(session.session_id))
        writer = self.store.create(session.session_id)
        try:
            writer.fold(session)
        finally:
            writer.close()
        self.note(SessionState(session))
        return session.session_id

    def free_id(self, session_id: str) -> str:
        """Return this id if it is valid and taken neither here nor in the trash, else a new one."""
        store = self.store
        if not is_valid_name(session_id) or store.directory.has(session_id):
            return new_session_id()
        return new_session_id() if store.trash.has(session_id) else session_id

    def delete(self, *session_ids: str, everywhere: bool = True) -> None:
        """Remove sessions and all that belongs to them for good, in the store or in the trash.

        No word of them is left in any file; with `everywhere` the user's other machines delete
        them too. SessionBusy if one is open; those before it are gone.
        """
        deleted: list[str] = []
        said: set[str] = set()
        try:
            for session_id in session_ids:
                said |= self._words_of_user(session_id)
                self._remove(session_id)
                deleted.append(session_id)
                if everywhere:
                    self._deletions.note([session_id])
        finally:
            if deleted:
                self._erase(deleted, said)

    def clear(self) -> int:
        """Remove all sessions for good, with the trash and every prompt; return how many.

        The user's other machines delete them too, as `delete` and `empty_trash` do. SessionBusy if
        one is open; then the others are gone.
        """
        names = self.all_own()
        here_only = {note.session_id for note in self.trashed() if not self._is_unwanted(note)}
        busy: SessionBusy | None = None
        for session_id in names:
            try:
                self._remove(session_id)
            except SessionBusy as error:
                busy = error
            else:
                self._deletions.note({session_id} - here_only)
        self._erase(names, ())
        forget_all_prompts(self.memory)
        if busy:
            raise busy
        return len(names)

    def all_own(self) -> list[str]:
        """Return all sessions that this program wrote, also those in the trash."""
        listed = {summary.session_id: summary for summary in self.catalogue.summaries()}
        here = [
            name
            for name in self.store.directory.fingerprints()
            if (summary := listed.get(name)) is None or self._is_own(summary)
        ]
        return [*here, *(note.session_id for note in self.trashed())]

    def resolve_anywhere(self, prefix: str) -> str:
        """Return the one session whose id begins with `prefix`, in the store or in the trash."""
        trashed = [note.session_id for note in self.trashed()]
        if prefix in trashed:
            return prefix
        matches = [name for name in trashed if prefix and name.startswith(prefix.lower())]
        try:
            matches.append(self.catalogue.resolve(prefix))
        except SessionNotFound:
            if not matches:
                raise
        return only_one(matches, prefix, "session", "ollm sessions list")

    def empty_trash(self) -> int:
        """Delete everything in the trash for good; return how many sessions that were."""
        notes = self.trashed()
        for note in notes:
            self.delete(note.session_id, everywhere=self._is_unwanted(note))
        return len(notes)

    def discard(self, session_id: str, reason: str) -> None:
        """Move a session to the trash. SessionBusy if it is open."""
        writer, loaded = self.store.open(session_id)
        try:
            if loaded.older:
                raise _written_elsewhere(session_id)
            # The note is written as plain text: a sealed store must not show titles in it.
            title = "" if self.store.sealed else loaded.state.header.title
            note = TrashNote(session_id, title, reason, clock.now())
            self.store.trash.put(note)
        finally:
            writer.close()
        log.info("session moved to the trash: %s", reason, extra={"session": session_id})
        self.index.update([], [session_id])

    def trashed(self) -> list[TrashNote]:
        """Return the notes of the sessions in the trash, the latest first."""
        self.store.trash.recover()
        return self.store.trash.notes()

    def restore(self, prefix: str) -> str:
        """Bring the session whose id begins with `prefix` back from the trash; return its id."""
        self.store.check_writable()
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
                    self.delete(note.session_id, everywhere=self._is_unwanted(note))
                except (StoreError, OSError):
                    continue  # the next run tries again

    def remove_abandoned(self) -> None:
        """Delete sessions whose process died before the first record was written."""
        limit = time.time_ns() - ABANDONED_AFTER_NS
        for session_id in self.store.directory.journals_alone(limit):
            try:
                if not self._has_begun(session_id):
                    self.delete(session_id, everywhere=False)
            except (StoreError, OSError):
                continue  # damaged or in use: it stays

    @property
    def deletes_everywhere(self) -> bool:
        """Whether what is deleted here is deleted on the user's other machines, too."""
        return self._deletions.are_told

    def note(self, state: SessionState) -> None:
        """Update the session's row in the index."""
        marks = self.store.directory.fingerprint(state.header.session_id)
        self.index.update([(state.summary(), marks)])

    def close(self) -> None:
        """Close the index."""
        self.index.close()

    def _remove(self, session_id: str) -> None:
        """Remove the files of a session, in the store or in the trash."""
        if not is_valid_name(session_id):
            raise SessionNotFound(f"no session {session_id}", "ollm sessions list")
        if not self.store.trash.has(session_id):
            self._check_own(session_id)
        writer = self.store.create(session_id)
        try:
            writer.lock()
        except OSError:
            pass  # a directory or FIFO in place of the journal has no lock, and nobody writes it
        try:
            self.store.arrivals(session_id).forget()
            self.store.trash.delete(session_id)
        finally:
            writer.close()
        log.info("session deleted", extra={"session": session_id})

    def _erase(self, session_ids: Collection[str], said: Collection[str]) -> None:
        """Remove what is left of deleted sessions outside their own files."""
        self.index.erase(session_ids)
        self._deletions.erase_copies(session_ids)
        erase_sessions(self.store.layout.search, session_ids)
        snapshots_beside(self.store).owners()  # brings the map of snapshots up to date
        forget_prompts(self.memory, session_ids, said)

    def _is_unwanted(self, note: TrashNote) -> bool:
        """Whether the user deleted a session that is in the trash, and it did not go on since."""
        if note.reason != BY_HAND:
            return False
        state = self._anywhere(note.session_id)
        return state is None or state.header.last_activity <= note.trashed_at

    def _anywhere(self, session_id: str) -> SessionState | None:
        """Return a session in the store or in the trash, however large; None if unreadable."""
        layout = self.store.layout
        if not is_valid_name(session_id):
            return None
        if self.store.trash.has(session_id):
            layout = TrashedLayout(layout, session_id)
        try:
            return SessionStore(layout, self.store.cipher).load(session_id).state
        except StoreError:
            return None

    def _words_of_user(self, session_id: str) -> set[str]:
        """Return what the user said in a session, as far as it can be read."""
        state = self._anywhere(session_id)
        if state is None:
            return set()
        said = {message.text for message in state.messages() if message.role == "user"}
        said |= {call.command for call in state.tool_calls if call.is_command}
        return {text.strip() for text in said} - {""}

    def _is_own(self, summary: SessionSummary) -> bool:
        if summary.damage:
            return self.store.directory.looks_own(summary.session_id)
        return not summary.older

    def _check_own(self, session_id: str) -> None:
        """Refuse to touch a file that another program wrote. StoreError."""
        try:
            is_own = not self.store.load(session_id).older
        except SessionTooLarge:
            is_own = self.store.directory.looks_own(session_id)
        except SessionDamaged:
            # It was named by the user: only an undamaged file of another program is refused.
            is_own = not self.store.directory.is_other_json(session_id)
        except SessionNotFound:
            is_own = True  # it is gone, or never began
        if not is_own:
            raise _written_elsewhere(session_id)

    def _has_begun(self, session_id: str) -> bool:
        try:
            self.load(session_id)
        except SessionNotFound:
            return False
        return True


def _written_elsewhere(session_id: str) -> StoreError:
    return StoreError(
        f"session {session_id} belongs to another program; its files are not changed",
        "ollm sessions archive ID hides it",
    )
