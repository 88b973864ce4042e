"""What a model sends at once is taken together, and nothing of it is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from ollm_tui.core.errors import Unavailable
from ollm_tui.core.provider import ReasoningDelta, StreamEvent, TextDelta
from ollm_tui.engine.turn.incoming import Incoming


async def test_words_that_came_at_once_are_one_event_and_keep_their_order() -> None:
    async def stream() -> AsyncGenerator[StreamEvent, None]:
        for event in (TextDelta("a"), TextDelta("b"), ReasoningDelta("why"), TextDelta("c")):
            yield event

    incoming = Incoming(stream())
    assert await incoming.next() == [TextDelta("ab"), ReasoningDelta("why"), TextDelta("c")]
    assert await incoming.next() == []
    await incoming.close()


async def test_what_came_before_an_error_is_taken_first() -> None:
    async def stream() -> AsyncGenerator[StreamEvent, None]:
        yield TextDelta("half")
        raise Unavailable("gone", "")

    incoming = Incoming(stream())
    assert await incoming.next() == [TextDelta("half")]
    with pytest.raises(Unavailable):
        await incoming.next()
    await incoming.close()


async def test_closing_ends_the_stream_that_is_waited_for() -> None:
    ended = list[str]()

    async def stream() -> AsyncGenerator[StreamEvent, None]:
        try:
            yield TextDelta("a")
            await asyncio.Event().wait()
        finally:
            ended.append("closed")

    incoming = Incoming(stream())
    assert await incoming.next() == [TextDelta("a")]
    await incoming.close()
    assert ended == ["closed"]
