"""What a model sends, read by one task: what came at once is taken together.

A task for every word, and a step through all layers, cost more than showing it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing, suppress
from itertools import groupby

from ollm_tui.core.provider import Completed, StreamEvent, TextDelta


class Incoming:
    """The events of one answer, as they come. Close it in the end."""

    def __init__(self, stream: AsyncGenerator[StreamEvent, None]) -> None:
        self._events: list[StreamEvent] = []
        self._has_more = asyncio.Event()
        self._reading = asyncio.create_task(self._read(stream))

    async def next(self) -> list[StreamEvent]:
        """Wait for something to come and return all there is, texts joined; nothing at the end.
        Raises what reading raised, once all that came before was taken."""
        await self._has_more.wait()
        taken, self._events = self._events, []
        if not taken:
            await self._reading
        if not self._reading.done():
            self._has_more.clear()
        return list(_joined(taken))

    async def close(self) -> None:
        """Read no more; the connection is closed afterwards."""
        self._reading.cancel()
        await asyncio.wait({self._reading})
        with suppress(asyncio.CancelledError):
            self._reading.exception()  # whoever closes does not want to know

    async def _read(self, stream: AsyncGenerator[StreamEvent, None]) -> None:
        try:
            async with aclosing(stream):
                async for event in stream:
                    self._events.append(event)
                    self._has_more.set()
                    if isinstance(event, Completed):
                        return
        finally:
            self._has_more.set()


def _joined(events: Iterable[StreamEvent]) -> Iterator[StreamEvent]:
    for is_text, group in groupby(events, lambda event: isinstance(event, TextDelta)):
        if is_text:
            yield TextDelta("".join(each.text for each in group if isinstance(each, TextDelta)))
        else:
            yield from group
