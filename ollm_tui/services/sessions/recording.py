"""Records sessions: every record goes to disk in a worker thread, or is kept and tried again.

`Recording` opens sessions, a `Recorder` writes one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ollm_tui.core.errors import StoreError
from ollm_tui.core.events import (
    MessageRecorded,
    SaveFailed,
    SaveResumed,
    SessionCreated,
    SessionSaved,
    StoreEvent,
    ToolCallRecorded,
)
from ollm_tui.core.session.record import (
    AnyRecord,
    Created,
    MessageAdded,
    MessageFinished,
    SessionChanged,
    TextAppended,
    ToolCallAdded,
)
from ollm_tui.core.session.session import Session
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.services.topic import Topic
from ollm_tui.storage.sessions.journal import Entry
from ollm_tui.storage.sessions.session_index import SessionIndex
from ollm_tui.storage.sessions.session_store import LoadedSession, SessionStore
from ollm_tui.storage.sessions.session_writer import SessionWriter

R = TypeVar("R")
log = logging.getLogger(__name__)

FOLD_FROM_BYTES = 4 * 1024 * 1024
"""A journal smaller than this is not folded: replaying it is as quick as reading the file."""
FOLD_AT_GROWTH = 4
"""The journal is folded when it has this many times the bytes of the file.

The file then grows at least that much from one fold to the next, so that all rewriting together
writes less than the content itself.
"""


class Recording:
    """Opens sessions for recording. All disk work happens in one thread, in order."""

    def __init__(self, store: SessionStore, index: SessionIndex, *, autosave: bool = True) -> None:
        self.store = store
        self.index = index
        self.autosave = autosave
        self.topic: Topic[StoreEvent] = Topic()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ollm-store")

    async def in_thread(self, work: Callable[..., R], *arguments: object) -> R:
        """Run work that touches the disk, after all work that was asked for before it."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    def create(self, session: Session, *, ephemeral: bool = False) -> Recorder:
        """Begin to record a new session; an ephemeral one never reaches the disk."""
        if ephemeral:
            return self.in_memory(SessionState(session))
        return Recorder(self, SessionState(session), self.store.create(session.session_id))

    def in_memory(self, state: SessionState) -> Recorder:
        """Record a session, new or not, in memory only: it never reaches the disk."""
        return Recorder(self, state, None)

    async def open(self, session_id: str) -> tuple[Recorder, LoadedSession]:
        """Go on recording a stored session. Raises what `SessionStore.open` raises.

        Where nothing can be written (a read-only disk) the session is continued in memory
        and every record is retried.
        """
        try:
            writer, loaded = await self.in_thread(self.store.open, session_id)
        except OSError:
            writer, loaded = await self.in_thread(self.store.open_later, session_id)
        size = self.store.directory.fingerprint(session_id)[0]
        where = {"session": session_id}
        log.info("session loaded: %d messages", len(loaded.state), extra=where)
        for problem in loaded.problems:
            log.warning("session loaded: %s", problem, extra=where)
        return Recorder(self, loaded.state, writer, size), loaded

    async def close(self) -> None:
        """Close the index and end the thread; all recorders have to be closed before."""
        await self.in_thread(self.index.close)
        self._thread.shutdown(wait=True)


class Recorder:
    """Records one session. What could not be written stays in memory and is tried again."""

    def __init__(
        self,
        recording: Recording,
        state: SessionState,
        writer: SessionWriter | None,
        folded_bytes: int = 0,
    ) -> None:
        self.state = state
        self.changed: Topic[None] = Topic()
        """Publishes that the state is another one, unless only a reply has grown."""
        self._recording = recording
        self._writer = writer
        self._pending: list[Entry] = []
        self._failed = False
        self._flushing = asyncio.Lock()
        self._folded_bytes = folded_bytes
        """The size of the session file after the last fold."""
        self._folding: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        """Work in the background: `close` waits for it."""

    @property
    def is_kept(self) -> bool:
        """Whether what is recorded reaches the disk, now or later."""
        return self._writer is not None

    @property
    def is_saved_at_once(self) -> bool:
        """Whether each record is written as it is made, not only by `save` and `close`."""
        return self._writer is not None and self._recording.autosave

    @property
    def unsaved(self) -> int:
        """How many records are only in memory."""
        return len(self._pending)

    async def record(self, *records: AnyRecord) -> None:
        """Apply records to the state and write them to disk.

        Never raises: what cannot be written is kept, and SaveFailed is published.
        """
        for record in records:
            seq = self.state.header.journal_seq + 1
            self.state.apply(record, seq)
            if self._writer:
                self._pending.append((seq, record))
        if not all(isinstance(record, TextAppended) for record in records):
            self.changed.publish(None)
        if self._recording.autosave:
            await self.flush()

    async def flush(self) -> None:
        """Write the pending records to the journal.

        A caller that is cancelled meanwhile leaves the writing to the thread, which has begun
        it. The records are then written once more; readers drop them by their numbers.
        """
        removed = False
        async with self._flushing:
            batch = list(self._pending)
            if not batch or self._writer is None:
                return
            try:
                await self._recording.in_thread(self._writer.append, batch)
            except FileNotFoundError:
                removed = True
            except (OSError, StoreError) as error:
                self._tell_failure(error)
            else:
                self._written(batch)
                if self._wants_folding():
                    self._folding = self._begin(self._fold())
                elif any(isinstance(record, Created | SessionChanged) for _, record in batch):
                    self._begin(self._tell_index())
        if removed:  # somebody removed the files by hand: the state still has all of it
            await self.save()

    async def save(self) -> None:
        """Write the whole session into its file."""
        # Shielded: a cancelled caller must not stop the fold, which the thread has begun.
        await asyncio.shield(self._begin(self._fold()))

    async def close(self) -> None:
        """Save, update the index and release the lock."""
        if self._writer is None:
            return
        await (
            self.flush()
        )  # first: on a full disk the records may still fit where the file does not
        if self._pending or self._writer.journal_bytes:
            await self.save()
        await asyncio.gather(*self._tasks)
        await self._recording.in_thread(self._writer.close)
        if not self._failed:
            await self._tell_index()

    def _begin(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Start work in the background; `close` waits for it at the latest."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _fold(self) -> None:
        """Write the whole session into its file and empty the journal."""
        async with self._flushing:
            if self._writer is None:
                return
            batch = list(self._pending)
            try:
                await self._recording.in_thread(self._writer.fold, self.state.session())
            except (OSError, StoreError) as error:
                self._tell_failure(error)
                return
            self._written(batch)
            marks = self._recording.store.directory.fingerprint(self.state.header.session_id)
            self._folded_bytes = marks[0]
        where = {"session": self.state.header.session_id}
        log.info("session saved: %d messages, %d bytes", len(self.state), marks[0], extra=where)
        self._recording.topic.publish(SessionSaved(self.state.header.session_id))

    def _wants_folding(self) -> bool:
        if self._folding and not self._folding.done():
            return False
        grown = self._writer.journal_bytes if self._writer else 0
        return grown > max(FOLD_FROM_BYTES, FOLD_AT_GROWTH * self._folded_bytes)

    def _written(self, batch: list[Entry]) -> None:
        del self._pending[: len(batch)]
        # Published only now: whoever hears of a record finds it on disk.
        if self._failed:
            self._failed = False
            session = {"session": self.state.header.session_id}
            log.info("%d records saved at last", len(batch), extra=session)
            self._recording.topic.publish(SaveResumed(len(batch)))
        for seq, record in batch:
            log.debug("record %d on disk: %s", seq, type(record).__name__)
            if event := _event_of(record, self.state.header.session_id):
                self._recording.topic.publish(event)

    def _tell_failure(self, error: OSError | StoreError) -> None:
        if isinstance(error, StoreError):
            reason, hint = error.message, error.hint
        else:
            reason = error.strerror or str(error)
            hint = "free disk space or fix the directory; saving is retried automatically"
        if not self._failed:  # one line, however often it is tried
            session = {"session": self.state.header.session_id}
            log.warning("%d records not saved: %s", self.unsaved, reason, extra=session)
        self._failed = True
        self._recording.topic.publish(SaveFailed(f"not saved: {reason}", hint, self.unsaved))

    async def _tell_index(self) -> None:
        """Update the session's row in the index.

        This is not done for every record: a listing finds a stale row by size and time of the
        files and reads that session again.
        """
        summary = self.state.summary()
        recording = self._recording

        def update() -> None:
            marks = recording.store.directory.fingerprint(summary.session_id)
            recording.index.update([(summary, marks)])

        await recording.in_thread(update)


def _event_of(record: AnyRecord, session_id: str) -> StoreEvent | None:
    """Return the event to publish for a record; None for most kinds."""
    match record:
        case Created():
            return SessionCreated(session_id)
        case MessageAdded():
            return MessageRecorded(session_id, record.message.id)
        case MessageFinished():
            return MessageRecorded(session_id, record.message_id)
        case ToolCallAdded():
            return ToolCallRecorded(session_id, record.tool_call.id)
        case _:
            return None
