"""Work that the user may stop: stopping cancels what is being waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

T = TypeVar("T")


class Stoppable:
    """Waits for one piece of work after the other, until `stop` is called."""

    def __init__(self) -> None:
        self.stopped = False
        self._waited_for: asyncio.Future[Any] | None = None

    def stop(self) -> None:
        """Cancel what is waited for, and whatever is waited for afterwards."""
        self.stopped = True
        if self._waited_for:
            self._waited_for.cancel()

    async def wait(self, work: Awaitable[T]) -> T | None:
        """The result of some work, or None if it was stopped."""
        self._begin(asyncio.ensure_future(work))
        assert self._waited_for is not None
        try:
            return await self._waited_for
        except asyncio.CancelledError:
            if self.stopped:
                return None
            raise  # not by `stop`: the task that waits here was itself cancelled

    async def ends_within(self, seconds: float, work: asyncio.Future[Any]) -> bool:
        """Whether some work is over, or was stopped, within some seconds; it may go on."""
        self._begin(work)
        done, _ = await asyncio.wait({work}, timeout=seconds)
        return bool(done)

    def _begin(self, work: asyncio.Future[Any]) -> None:
        self._waited_for = work
        if self.stopped:
            work.cancel()
