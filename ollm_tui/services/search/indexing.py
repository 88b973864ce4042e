"""Keeps the search index equal to the session files: what changed is read and indexed again.

`Indexing` does that when it is asked, `IndexFeed` in the background after each turn.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from threading import Condition, Lock, Thread
from typing import NamedTuple

from ollm_tui.core.errors import SessionDamaged, SessionNotFound, StoreError
from ollm_tui.core.events import MessageRecorded, SessionSaved, StoreEvent, ToolCallRecorded
from ollm_tui.services.search.searchable import damaged, searchable
from ollm_tui.services.topic import Topic
from ollm_tui.storage.search.message_index import IndexLost, MessageIndex
from ollm_tui.storage.search.message_rows import IndexedSession
from ollm_tui.storage.sessions.directory import Fingerprint
from ollm_tui.storage.sessions.session_store import SessionStore

QUIET_SECONDS = 2.0
"""A session is read when this much time has passed without a record: once after a turn."""
BATCH_BYTES = 6 * 1024 * 1024
"""Bytes of session files for one transaction, enough that its fsync hardly counts."""
ATTEMPTS = 3
"""How often an index is tried: it is damaged, a new one cannot be written, then memory."""

Progress = Callable[[int, int], None]
"""Called with how many of how many sessions have been indexed."""
Batch = tuple[list[IndexedSession], list[str]]
"""The sessions to index, and the ids of those that are gone."""

log = logging.getLogger(__name__)


class _Work(NamedTuple):
    """The sessions whose files differ from the index, and those that are gone."""

    stale: dict[str, Fingerprint]
    gone: frozenset[str]


class Indexing:
    """Fills the search index of a store. The lock `using` is held whenever the index is used."""

    def __init__(self, store: SessionStore, index: MessageIndex, using: Lock) -> None:
        self._store = store
        self._index = index
        self._using = using
        self._at_work = Lock()
        self._is_stopped = False

    def refresh(
        self, progress: Progress | None = None, only: Collection[str] | None = None
    ) -> None:
        """Bring the index up to date with the files of all sessions, or only some.

        StoreError if another process is writing the index, or none can be used.
        """
        with self._at_work:
            self._is_stopped = False
            self._store.trash.recover()
            for attempts_left in reversed(range(ATTEMPTS)):
                try:
                    self._fill(self._work(only), progress)
                    return
                except IndexLost as error:
                    if not attempts_left:
                        raise StoreError(f"no search index: {error}") from error

    def stop(self) -> None:
        """End a running refresh after its current batch; the next refresh continues there."""
        self._is_stopped = True

    def _work(self, only: Collection[str] | None) -> _Work:
        """Compare the files with the index."""
        directory = self._store.directory
        with self._using:
            known = self._index.marks()
        if only is None:
            found = directory.fingerprints()
            gone = known.keys() - found.keys()
        else:
            found = {name: directory.fingerprint(name) for name in only if directory.has(name)}
            gone = known.keys() & (set(only) - found.keys())
        stale = [name for name, marks in found.items() if known.get(name) != marks]
        # The latest first: they are found while the rest is still being read.
        stale.sort(key=lambda name: max(found[name][1], found[name][3]), reverse=True)
        return _Work({name: found[name] for name in stale}, frozenset(gone))

    def _fill(self, work: _Work, progress: Progress | None) -> None:
        """Write batch after batch; the next one is read while the words of one are indexed."""
        # Reading begins with `before_words`, just before SQLite's one long statement, during which
        # it lets other threads run. If a thread read while single rows are inserted, SQLite would
        # have to wait for that thread after each of them.
        if work.gone:
            with self._using:
                self._index.update((), work.gone)
        done = 0
        batches = _batches(work.stale)
        with ThreadPoolExecutor(1, thread_name_prefix="ollm-index") as reader:
            reading: list[Future[Batch]] = []

            def read_on() -> None:
                reading.extend(reader.submit(self._read, batch) for batch in islice(batches, 1))

            read_on()
            while reading and not self._is_stopped:
                sessions, missing = reading.pop().result()
                with self._using:
                    self._index.update(sessions, missing, before_words=read_on)
                done += len(sessions) + len(missing)
                if progress:
                    progress(done, len(work.stale))

    def _read(self, names: dict[str, Fingerprint]) -> Batch:
        """Read some sessions; those gone by now, or without a record yet, are returned as gone."""
        sessions: list[IndexedSession] = []
        missing: list[str] = []
        for name, marks in names.items():
            try:
                sessions.append(searchable(self._store.load(name).state, marks))
            except SessionNotFound:
                missing.append(name)
            except SessionDamaged:
                sessions.append(damaged(name, marks))
        return sessions, missing


def _batches(stale: dict[str, Fingerprint]) -> Iterator[dict[str, Fingerprint]]:
    """Group sessions into batches of about `BATCH_BYTES`."""
    batch: dict[str, Fingerprint] = {}
    size = 0
    for name, marks in stale.items():
        batch[name] = marks
        size += marks[0] + marks[2]
        if size >= BATCH_BYTES:
            yield batch
            batch, size = {}, 0
    if batch:
        yield batch


class IndexFeed:
    """Listens to recording and calls `refresh` with the sessions that changed, in a thread.

    The thread starts with the first record and sleeps while there is none.
    """

    def __init__(
        self,
        topic: Topic[StoreEvent],
        refresh: Callable[[Collection[str]], None],
        quiet_seconds: float = QUIET_SECONDS,
    ) -> None:
        self._refresh = refresh
        self._quiet = quiet_seconds
        self._changed = Condition()
        self._waiting: set[str] = set()
        self._last = 0.0
        self._is_open = True
        self._thread: Thread | None = None
        self._stop_listening = topic.subscribe(self._note)

    def close(self) -> None:
        """Stop; what is not indexed yet will be when the next search begins."""
        self._stop_listening()
        with self._changed:
            self._is_open = False
            self._changed.notify()
        if self._thread:
            self._thread.join()

    def _note(self, event: StoreEvent) -> None:
        if not isinstance(event, MessageRecorded | ToolCallRecorded | SessionSaved):
            return
        with self._changed:
            self._last = time.monotonic()
            self._waiting.add(event.session_id)
            if self._thread is None:
                self._thread = Thread(target=self._run, name="ollm-index-feed", daemon=True)
                self._thread.start()
            # Only the first one wakes the thread: with others waiting it sleeps for a set time.
            elif len(self._waiting) == 1:
                self._changed.notify()

    def _run(self) -> None:
        while names := self._next():
            try:
                self._refresh(names)
            except (StoreError, OSError) as error:
                log.warning("not indexed yet", exc_info=error)

    def _next(self) -> frozenset[str]:
        """Wait for a quiet moment and return the sessions to read; none when closed."""
        with self._changed:
            while self._is_open:
                left = self._last + self._quiet - time.monotonic()
                if self._waiting and left <= 0:
                    names = frozenset(self._waiting)
                    self._waiting.clear()
                    return names
                self._changed.wait(left if self._waiting else None)
            return frozenset()
