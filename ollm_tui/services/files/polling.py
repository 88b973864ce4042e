"""Where the system cannot watch folders: look at everything from time to time."""

from __future__ import annotations

import time
from threading import Event

from ollm_tui.services.files.folder_events import Hints

LEAST_SECONDS = 2.0
REST_FOR_WORK = 20
"""Rest that many times as long as the last look took: at most 5 % of a processor."""


class Polling:
    """Says after every rest that everything has to be looked at."""

    exhausted = False

    def __init__(self, least_seconds: float = LEAST_SECONDS) -> None:
        self._least = least_seconds
        self._wakened = Event()
        self._due = False
        self._began: float | None = None
        self._rest = least_seconds

    def entering(self, folder: str) -> None:
        """All folders are looked at anyway."""

    def left(self, folder: str) -> None:
        """All folders are looked at anyway."""

    def wait(self, seconds: float | None) -> bool:
        """Rest until the next look; or only for some seconds."""
        if self._began is not None:
            self._rest = max(self._least, REST_FOR_WORK * (time.monotonic() - self._began))
            self._began = None
        self._wakened.wait(self._rest if seconds is None else seconds)
        self._wakened.clear()
        self._due = self._due or seconds is None
        return self._due

    def collect(self, hints: Hints) -> bool:
        """Everything, once after each rest."""
        if not self._due:
            return False
        self._due, hints.everything = False, True
        self._began = time.monotonic()
        return True

    def is_being_written(self, path: str) -> bool:
        """Nobody knows."""
        return False

    def wake(self) -> None:
        """End the rest."""
        self._wakened.set()

    def close(self) -> None:
        """There is nothing to give back."""
