"""When compression stops trying by itself: after failures in a row, or after an undo."""

from __future__ import annotations

import time
from collections.abc import Callable

FAILURES_IN_A_ROW = 3
PAUSE_SECONDS = 300
REFILLS_AT_ONCE = 3


class Breaker:
    """Counts what goes wrong. What the user asks for by hand never asks here."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._failures = 0
        self._paused_until = 0.0
        self._refills = 0
        self._turns_at_last: int | None = None

    @property
    def paused_seconds(self) -> int:
        """How long nothing is tried; 0 if it may be."""
        return max(0, round(self._paused_until - self._now()))

    def failed(self) -> bool:
        """A compression failed. True if that was one too many."""
        self._failures += 1
        if self._failures < FAILURES_IN_A_ROW:
            return False
        self._failures = 0
        self._paused_until = self._now() + PAUSE_SECONDS
        return True

    def succeeded(self, turns: int) -> bool:
        """A compression after so many turns went well. True if the context was refilled at once
        so many times that the user should know by what."""
        self._failures, self._paused_until = 0, 0.0
        at_once = self._turns_at_last is not None and turns - self._turns_at_last <= 1
        self._turns_at_last = turns
        self._refills = self._refills + 1 if at_once else 0
        if self._refills < REFILLS_AT_ONCE:
            return False
        self._refills = 0
        return True
