"""Keeping the search index equal to the session files: what changed is read and put in again."""

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
"""Nothing is read before so much time has passed without a record: a turn is read once."""

log = logging.getLogger(__name__)


class IndexFeed:
    """Listens to recording and has what changed put into the index.

    The thread begins with the first record and sleeps while there is none.
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
        """Stop; what was not put in yet is, when the next search begins."""
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
            elif len(self._waiting) == 1:
                self._changed.notify()

    def _run(self) -> None:
        while names := self._next():
            try:
                self._refresh(names)
            except (StoreError, OSError) as error:
                log.warning("not indexed yet", exc_info=error)

    def _next(self) -> frozenset[str]:
        """The sessions to read, once all is quiet; none at the end."""
        with self._changed:
            while self._is_open:
                left = self._last + self._quiet - time.monotonic()
                if self._waiting and left <= 0:
                    names = frozenset(self._waiting)
                    self._waiting.clear()
                    return names
                self._changed.wait(left if self._waiting else None)
            return frozenset()


BATCH_BYTES = 6 * 1024 * 1024
"""Of session files, for one transaction: enough that its syncing does not count."""
ATTEMPTS = 3
"""A damaged file, another that cannot be written, then memory."""

Progress = Callable[[int, int], None]
"""Called with how many of how many sessions have been put in."""
Batch = tuple[list[IndexedSession], list[str]]
"""Sessions, and those that are gone."""


class _Work(NamedTuple):
    """What the directories say that the index does not."""

    stale: dict[str, Fingerprint]
    gone: frozenset[str]


class Indexing:
    """Fills the search index of a store. `using` is held whenever the index is used."""

    def __init__(self, store: SessionStore, index: MessageIndex, using: Lock) -> None:
        self._store = store
        self._index = index
        self._using = using
        self._at_work = Lock()
        self._is_stopped = False

    def refresh(
        self, progress: Progress | None = None, only: Collection[str] | None = None
    ) -> None:
        """Make the index say what the files say, whoever wrote them; all sessions or some.

        StoreError where another process does not let go of the index.
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
                        raise StoreError(f"there is no search index: {error}") from error

    def stop(self) -> None:
        """Have a refresh end after the sessions it is writing; the next one goes on there."""
        self._is_stopped = True

    def _work(self, only: Collection[str] | None) -> _Work:
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
        # Those that were written at the same time have numbers that lie together.
        stale.sort(key=lambda name: max(found[name][1], found[name][3]))
        return _Work({name: found[name] for name in stale}, frozenset(gone))

    def _fill(self, work: _Work, progress: Progress | None) -> None:
        """Write batch after batch. While the words of one are indexed the next one is read: then
        SQLite lets others run for long. Between single rows it would wait for them each time.
        """
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
        """The sessions as they are, and those that are gone by now or never began."""
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
