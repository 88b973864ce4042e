"""What the summariser does when a server fails, hangs, or refuses what it is asked."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from ollm_tui.core.errors import BadAnswer, OverLimit, Unavailable
from ollm_tui.core.provider import TextDelta
from ollm_tui.engine.compression.summary.summariser import (
    MessageTaken,
    Reads,
    Rejected,
    Summarised,
    Wrote,
)
from ollm_tui.providers.scripted import Scripted
from tests.engine.compression.summary.test_summariser import (
    GOOD,
    MESSAGES,
    TAKEN,
    Endless,
    count,
    prompt_of,
    rejected,
    said,
    steps,
    summariser,
    summary,
    wanted,
)


async def test_closing_the_summariser_closes_the_stream_of_a_hanging_model() -> None:
    provider = Endless("")
    hanging = summariser(provider).summarise(wanted(messages=MESSAGES[:1]))
    assert await anext(hanging) == MessageTaken("m0")
    assert isinstance(await anext(hanging), Reads)
    waiting = asyncio.ensure_future(anext(hanging))
    while not provider.requests:
        await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await hanging.aclose()
    assert provider.closed == 1


async def test_closing_the_summariser_between_two_words_closes_the_stream() -> None:
    provider = Endless("more and more ")
    async with aclosing(summariser(provider).summarise(wanted())) as running:
        async for step in running:
            if isinstance(step, Wrote):
                break
    assert provider.closed == 1


async def test_a_model_that_cannot_be_reached_is_an_error_at_once() -> None:
    provider = Scripted([[Unavailable("no server")], [TextDelta(GOOD)]])
    with pytest.raises(Unavailable):
        await steps(provider)
    assert len(provider.requests) == 1


async def test_an_answer_that_dies_in_the_middle_is_asked_for_again() -> None:
    dying = [TextDelta("The user wants"), Unavailable("connection lost")]
    found = await steps([dying, [TextDelta(GOOD)]])
    assert found[len(TAKEN) :] == [
        Wrote("The user wants", begins=True),
        Rejected("the answer broke off", True, "The user wants"),
        Wrote(GOOD, begins=True),
        Summarised(GOOD),
    ]
    with pytest.raises(Unavailable):
        await steps([dying, dying])


async def test_a_prompt_that_the_server_finds_too_long_is_halved() -> None:
    data = said(4, "tool", "some output of a tool\n" * 300)
    provider = Scripted([[OverLimit("too long")], [TextDelta(GOOD)]])
    found = await steps(provider, wanted((*MESSAGES, data)))
    assert (rejected(found), summary(found)) == (["the request was too long"], GOOD)
    first, second = (count(prompt_of(request)) for request in provider.requests)
    assert second < first * 0.7


async def test_a_server_that_refuses_the_schema_is_asked_without() -> None:
    provider = Scripted([[], [BadAnswer("no such field")], [TextDelta(GOOD)]])
    found = await steps(provider)
    assert (rejected(found), summary(found)) == (["the summary was empty"], GOOD)
    schemas = [request.answer_schema is not None for request in provider.requests]
    assert schemas == [False, True, False]


async def test_a_server_that_refuses_our_settings_gets_those_of_the_chat() -> None:
    provider = Scripted([[BadAnswer("no temperature")], [], [TextDelta(GOOD)]])
    found = await steps(provider)
    assert summary(found) == GOOD
    assert [request.thinking for request in provider.requests] == [False, None, None]
    assert provider.requests[1].temperature is None


async def test_a_server_that_refuses_everything_is_an_error() -> None:
    with pytest.raises(BadAnswer):
        await steps([[BadAnswer("no")], [BadAnswer("no")]])
