"""A server that is busy and says for how long: the wait is shown, and can be ended."""

from __future__ import annotations

from ollm_tui.core.errors import RateLimited
from ollm_tui.core.events import Prepared, TextArrived, TurnCancelled, TurnFailed, TurnFinished
from ollm_tui.core.provider import TextDelta
from ollm_tui.providers.scripted import Scripted
from tests.engine.conftest import OpenWorkspace


async def test_a_wait_is_counted_down_and_then_asked_again(open_workspace: OpenWorkspace) -> None:
    provider = Scripted([[RateLimited("busy", "", 0.05)], [TextDelta("Hi")]])
    conversation = await (await open_workspace(provider)).begin()
    events = [event async for event in conversation.send("Hello")]
    waits = [e.what for e in events if isinstance(e, Prepared) and "busy" in e.what]
    assert waits[0] == "scripted is busy · retrying in 1 s"
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].message.text == "Hi"
    assert len(provider.requests) == 2


async def test_a_long_wait_can_be_ended_by_the_user(open_workspace: OpenWorkspace) -> None:
    provider = Scripted([[RateLimited("busy", "", 1500)]])
    conversation = await (await open_workspace(provider)).begin()
    last: object = None
    async for event in conversation.send("Hello"):
        last = event
        if isinstance(event, Prepared) and " min " in event.what:
            conversation.cancel()
    assert isinstance(last, TurnCancelled)
    assert len(provider.requests) == 1


async def test_a_wait_of_hours_fails_and_says_how_long(open_workspace: OpenWorkspace) -> None:
    provider = Scripted([[RateLimited("busy", "", 7200)]])
    conversation = await (await open_workspace(provider)).begin()
    last = [event async for event in conversation.send("Hello")][-1]
    assert isinstance(last, TurnFailed)
    assert last.hint == "try again in 2.0 h"


async def test_nothing_is_asked_again_once_words_have_come(open_workspace: OpenWorkspace) -> None:
    provider = Scripted([[TextDelta("Hi"), RateLimited("busy", "", 0)]])
    conversation = await (await open_workspace(provider)).begin()
    events = [event async for event in conversation.send("Hello")]
    assert any(isinstance(event, TextArrived) for event in events)
    assert isinstance(events[-1], TurnFailed)
    assert len(provider.requests) == 1
