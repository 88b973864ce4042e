"""A small publish-and-subscribe topic, for events that are not part of a turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

E = TypeVar("E")


class Topic(Generic[E]):
    """Calls its listeners in the order they subscribed, in the publisher's thread."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[E], None]] = []

    def subscribe(self, listener: Callable[[E], None]) -> Callable[[], None]:
        """Add a listener and return the function that removes it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def publish(self, event: E) -> None:
        """Call all listeners with an event."""
        # A copy: a listener may unsubscribe while it is called.
        for listener in tuple(self._listeners):
            listener(event)
