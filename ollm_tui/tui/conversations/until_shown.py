"""What a conversation cannot do while another one is shown: it waits, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable

Action = Callable[[], object]
"""Something to be done on the screen; what it returns may have to be awaited."""


class UntilShown:
    """Keeps actions until their conversation is shown. One that is left again keeps the rest."""

    def __init__(
        self, is_shown: Callable[[], bool], attempt: Callable[[Action], Awaitable[None]]
    ) -> None:
        """`attempt` does one of them, and tells what did not work."""
        self._is_shown = is_shown
        self._attempt = attempt
        self._actions: deque[Action] = deque()

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return not self._actions

    def add(self, action: Action) -> None:
        """Have an action wait behind those that wait already."""
        self._actions.append(action)

    async def do(self) -> None:
        """Do what waits, one after the other, for as long as the conversation is shown."""
        while self._actions and self._is_shown():
            await self._attempt(self._actions.popleft())
