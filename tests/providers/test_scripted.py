"""The provider that plays a script."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ollm_tui.core.errors import Unavailable, UsageError
from ollm_tui.core.provider import (
    ChatRequest,
    Completed,
    Preparing,
    Provider,
    ReasoningDelta,
    TextDelta,
    ToolCallArrived,
)
from ollm_tui.core.session.message import ToolCallPart, Usage
from ollm_tui.providers.scripted import Scripted, Turn, Wait
from tests.stand_ins.collected_events import ask, collect, text_of


async def test_turns_are_played_in_order_and_then_the_user_is_echoed() -> None:
    provider: Provider = Scripted([[TextDelta("one")], [TextDelta("two")]])
    answers = [text_of(await collect(provider, ask("what I said"))) for _ in range(4)]
    assert answers == ["one", "two", "what I said", "what I said"]


async def test_the_end_and_its_counts_are_added() -> None:
    events = await collect(Scripted([[TextDelta("one two")]]), ask("a b c"))
    usage = Usage(input_tokens=3, output_tokens=2)
    assert events[-1] == Completed(finish="stop", usage=usage, model="m")


async def test_an_end_in_the_script_is_the_end() -> None:
    done = Completed(finish="length")
    assert await collect(Scripted([[done, TextDelta("never")]]), ask()) == [done]


async def test_exceptions_are_raised_after_what_came_before() -> None:
    stream = Scripted([[TextDelta("one"), Unavailable("down")]]).stream(ask())
    assert await anext(stream) == TextDelta("one")
    with pytest.raises(Unavailable, match="down"):
        await anext(stream)


async def test_an_event_holds_the_answer_back() -> None:
    go = asyncio.Event()
    answer = asyncio.create_task(collect(Scripted([[Wait(0), go, TextDelta("now")]]), ask()))
    await asyncio.sleep(0.01)
    assert not answer.done()
    go.set()
    assert text_of(await answer) == "now"


async def test_a_callable_answers_every_request_and_requests_are_kept() -> None:
    def shout(request: ChatRequest) -> Turn:
        return [TextDelta(request.messages[-1].text.upper())]

    provider = Scripted(shout)
    for text in ("a", "b", "c"):
        assert text_of(await collect(provider, ask(text))) == text.upper()
    assert [request.messages[0].text for request in provider.requests] == ["a", "b", "c"]


async def test_tokens_are_words() -> None:
    provider = Scripted()
    assert await provider.count_tokens(ask("one two  three")) == 3
    assert (await provider.capabilities("any")).counting


async def test_a_script_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(
        '[[{"preparing":"loading"},{"reasoning":"hm"},{"text":"Hi"},{"wait":0},'
        '{"tool":"look","args":{"at":1}},{"finish":"tool_calls"}],[{"text":"second"}]]'
    )
    provider = Scripted.from_file(path)
    assert await collect(provider, ask()) == [
        Preparing("loading"),
        ReasoningDelta("hm"),
        TextDelta("Hi"),
        ToolCallArrived(ToolCallPart(call_id="call_0_4", name="look", args={"at": 1})),
        Completed(finish="tool_calls"),
    ]
    assert text_of(await collect(provider, ask())) == "second"


@pytest.mark.parametrize("content", ["", "{}", '[[{"txt":"x"}]]', "[[3]]"])
def test_a_script_that_cannot_be_read_is_a_plain_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "script.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=r"script\.json"):
        Scripted.from_file(path)
