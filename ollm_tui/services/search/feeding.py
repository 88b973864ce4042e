"""Feeding the search index while sessions are recorded: in a thread of its own, a little later."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection
from threading import Condition, Thread

from ollm_tui.core.errors import StoreError
from ollm_tui.core.events import MessageRecorded, SessionSaved, StoreEvent, ToolCallRecorded
from ollm_tui.services.topic import Topic

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
