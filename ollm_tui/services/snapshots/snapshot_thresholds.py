"""Shares of the context at which something is to happen, once each time they are passed."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable

from ollm_tui.core.errors import StoreError

Callback = Callable[[], Awaitable[None] | None]

OVERFLOW_SHARE = 0.95
"""So full that the next message may not fit."""
log = logging.getLogger(__name__)


class _Threshold:
    def __init__(self, share: float, callback: Callback) -> None:
        self.share = share
        self.callback = callback
        self.is_passed = False


class Thresholds:
    """Remembers on which side of each share the context of one session is."""

    def __init__(self) -> None:
        self._thresholds: list[_Threshold] = []

    def on_context_threshold(self, share: float, callback: Callback) -> Callable[[], None]:
        """Call this when the context passes a share of its room; the answer stops that."""
        threshold = _Threshold(share, callback)
        self._thresholds.append(threshold)
        return lambda: self._thresholds.remove(threshold)

    def on_before_overflow(self, callback: Callback) -> Callable[[], None]:
        """Call this when the context is nearly full, or when a message does not fit any more;
        the answer stops that."""
        return self.on_context_threshold(OVERFLOW_SHARE, callback)

    async def check(self, current: int, most: int) -> None:
        """After each turn: call whoever waits for a share that was passed since the context was
        last below it."""
        if most <= 0:
            return
        due: list[_Threshold] = []
        for threshold in self._thresholds:
            is_passed = current >= threshold.share * most
            if is_passed and not threshold.is_passed:
                due.append(threshold)
            threshold.is_passed = is_passed
        await _call(due)

    async def overflow(self) -> None:
        """A message did not fit, however full the context was before it."""
        due = [
            threshold
            for threshold in self._thresholds
            if threshold.share == OVERFLOW_SHARE and not threshold.is_passed
        ]
        for threshold in due:
            threshold.is_passed = True
        await _call(due)


async def _call(due: Iterable[_Threshold]) -> None:
    """A callback whose snapshot fails was heard of already and does not stop the others."""
    for threshold in due:
        try:
            waiting = threshold.callback()
            if inspect.isawaitable(waiting):
                await waiting
        except StoreError as error:
            log.warning("a threshold was passed in vain", exc_info=error)
