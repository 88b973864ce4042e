"""Work that the user may stop: whatever is waited for is given up at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

T = TypeVar("T")


class Stoppable:
    """Waits for one thing after the other, until somebody calls `stop`."""

    def __init__(self) -> None:
        self.stopped = False
        self._waited_for: asyncio.Future[Any] | None = None

    def stop(self) -> None:
        """Give up; also what is begun afterwards."""
        self.stopped = True
        if self._waited_for:
            self._waited_for.cancel()

    async def wait(self, work: Awaitable[T]) -> T | None:
        """What something gives, or None if it was stopped."""
        self._begin(asyncio.ensure_future(work))
        assert self._waited_for is not None
        try:
            return await self._waited_for
        except asyncio.CancelledError:
            if self.stopped:
                return None
            raise

    async def ends_within(self, seconds: float, work: asyncio.Future[Any]) -> bool:
        """Whether something is over by then, or was stopped."""
        self._begin(work)
        done, _ = await asyncio.wait({work}, timeout=seconds)
        return bool(done)

    def _begin(self, work: asyncio.Future[Any]) -> None:
        self._waited_for = work
        if self.stopped:
            work.cancel()
