"""A small publish and subscribe, for what outlives a turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

E = TypeVar("E")


class Topic(Generic[E]):
    """Those who listen are called in the order they came, in the publisher's thread."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[E], None]] = []

    def subscribe(self, listener: Callable[[E], None]) -> Callable[[], None]:
        """Listen from now on; the answer is called to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def publish(self, event: E) -> None:
        """Tell everybody."""
        for listener in tuple(self._listeners):
            listener(event)
