"""Shares of the context at which something is to happen, once each time they are passed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

Callback = Callable[[], Awaitable[None] | None]

OVERFLOW_SHARE = 0.95
"""So full that the next message may not fit."""


class _Threshold:
    def __init__(self, share: float, callback: Callback) -> None:
        self.share = share
        self.callback = callback
        self.is_passed = False


class Thresholds:
    """Remembers on which side of each share the context is."""

    def __init__(self) -> None:
        self._thresholds: list[_Threshold] = []

    def on_context_threshold(self, share: float, callback: Callback) -> Callable[[], None]:
        """Call this when the context passes a share of its room; the answer stops that."""
        threshold = _Threshold(share, callback)
        self._thresholds.append(threshold)
        return lambda: self._thresholds.remove(threshold)

    def on_before_overflow(self, callback: Callback) -> Callable[[], None]:
        """Call this when the context is nearly full; the answer stops that."""
        return self.on_context_threshold(OVERFLOW_SHARE, callback)

    def crossed(self, current: int, most: int) -> list[Callback]:
        """Whom to call now: those whose share was passed since the context was last below it."""
        if most <= 0:
            return []
        due: list[Callback] = []
        for threshold in self._thresholds:
            is_passed = current >= threshold.share * most
            if is_passed and not threshold.is_passed:
                due.append(threshold.callback)
            threshold.is_passed = is_passed
        return due
