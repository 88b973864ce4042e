"""Going on with an answer that was stopped or cut off: in place where the server can do that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ollm_tui.core.errors import Unavailable
from ollm_tui.core.events import AnyTurnEvent, TextArrived, TurnCancelled, TurnStarted
from ollm_tui.core.provider import Completed, ReasoningDelta, TextDelta, ToolCallArrived
from ollm_tui.core.session.message import Continued, Reasoning, Text, ToolCallPart
from ollm_tui.engine.conversation.conversation import GO_ON, Conversation
from ollm_tui.providers.ollama import Ollama
from ollm_tui.providers.scripted import Scripted, Step
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.engine.conftest import OpenWorkspace
from tests.stand_ins.ollama_server import MODEL, OllamaServer

CUT = Completed(finish="length")


def in_place(*turns: Sequence[Step]) -> Scripted:
    return Scripted(turns, continues=True)


async def collect(events: AsyncGenerator[AnyTurnEvent, None]) -> list[AnyTurnEvent]:
    return [event async for event in events]


async def stopped_at_the_first_word(
    conversation: Conversation, events: AsyncGenerator[AnyTurnEvent, None]
) -> None:
    async for event in events:
        if isinstance(event, TextArrived):
            conversation.cancel()


def said(conversation: Conversation) -> list[str]:
    return [message.text for message in conversation.state.branch()]


async def test_the_answer_goes_on_as_a_version_that_begins_with_what_was_there(
    open_workspace: OpenWorkspace,
) -> None:
    model = in_place(
        [ReasoningDelta("Hm."), TextDelta("One two \n"), asyncio.Event()], [TextDelta(" three")]
    )
    conversation = await (await open_workspace(model)).begin()
    await stopped_at_the_first_word(conversation, conversation.send("count"))
    question, stopped = conversation.state.branch()
    events = await collect(conversation.go_on())
    assert events[0] == TurnStarted(conversation.session_id, question, stopped)
    whole = conversation.state.branch()[-1]
    assert said(conversation) == ["count", "One two three"]
    assert whole.parts == (Reasoning("Hm."), Text("One two three"))
    assert (whole.status, whole.continues) == ("complete", Continued(stopped.id, 7))
    assert whole.parent_id == question.id
    kept = conversation.state[stopped.id]
    assert (kept.text, kept.status) == ("One two \n", "cancelled")
    asked = model.requests[-1]
    assert (asked.continues, asked.thinking) == (True, False)
    # Some servers refuse a beginning that ends with white space.
    assert (asked.messages[-1].role, asked.messages[-1].text) == ("assistant", "One two")
    await collect(conversation.send("And?"))
    assert not model.requests[-1].continues
    assert [m.text for m in model.requests[-1].messages[1:]] == ["count", "One two three", "And?"]
    await conversation.close()


async def test_the_gauge_counts_the_beginning_with_what_comes(
    open_workspace: OpenWorkspace,
) -> None:
    model = in_place([TextDelta("one " * 50), CUT], [TextDelta("two"), asyncio.Event()])
    conversation = await (await open_workspace(model)).begin()
    await collect(conversation.send("count"))
    async for event in conversation.go_on():
        if isinstance(event, TextArrived):
            prompt = await model.count_tokens(model.requests[-1])
            assert prompt is not None
            assert conversation.live_tokens.tokens > prompt > 50
            conversation.cancel()
    await conversation.close()


async def test_stopped_again_it_keeps_what_came_and_goes_on_from_there(
    open_workspace: OpenWorkspace,
) -> None:
    model = in_place([TextDelta("a"), CUT], [TextDelta("b"), asyncio.Event()], [TextDelta("c")])
    conversation = await (await open_workspace(model)).begin()
    await collect(conversation.send("spell"))
    await stopped_at_the_first_word(conversation, conversation.go_on())
    assert said(conversation) == ["spell", "ab"]
    await collect(conversation.go_on())
    assert said(conversation) == ["spell", "abc"]
    await conversation.close()


@pytest.mark.parametrize("nothing", [Unavailable("down"), asyncio.Event()])
async def test_where_nothing_comes_there_is_no_version_with_the_same_words(
    open_workspace: OpenWorkspace, nothing: Step
) -> None:
    conversation = await (await open_workspace(in_place([TextDelta("a"), CUT], [nothing]))).begin()
    await collect(conversation.send("spell"))
    before = conversation.state.branch()
    turn = conversation.go_on()
    async for _ in turn:
        conversation.cancel()
    assert conversation.state.branch() == before
    assert len(conversation.state) == 2
    await conversation.close()


async def test_a_crash_while_it_goes_on_costs_nothing_that_was_recorded(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    first = await open_workspace(
        in_place([TextDelta("Once"), CUT], [TextDelta(" upon"), asyncio.Event()])
    )
    conversation = await first.begin()
    await collect(conversation.send("A story"))
    events = conversation.go_on()
    async for event in events:
        if isinstance(event, TextArrived):
            break
    path = home / "sessions" / conversation.session_id
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    while len(library.load(conversation.session_id).state) < 3:
        await asyncio.sleep(0.05)
    journal = path.with_suffix(".journal").read_bytes()
    await events.aclose()
    await conversation.close()
    # As a crash leaves it: the journal of that moment and no session file.
    path.with_suffix(".json").unlink()
    path.with_suffix(".journal").write_bytes(journal)

    second = await open_workspace(in_place([TextDelta(" a time")]))
    resumed, problems = await second.resume(conversation.session_id)
    assert problems == ()
    assert resumed.state.branch()[-1].status == "interrupted"
    assert said(resumed) == ["A story", "Once upon"]
    await collect(resumed.go_on())
    assert said(resumed) == ["A story", "Once upon a time"]
    await resumed.close()


@pytest.mark.parametrize(
    "beginning",
    [
        [ReasoningDelta("Hm."), CUT],
        [TextDelta("  \n"), CUT],
        [TextDelta("I look."), ToolCallArrived(ToolCallPart("c", "no_such", {})), Unavailable("x")],
    ],
)
async def test_an_answer_that_does_not_end_with_text_is_asked_to_go_on(
    open_workspace: OpenWorkspace, beginning: list[Step]
) -> None:
    model = in_place(beginning, [TextDelta("more")])
    conversation = await (await open_workspace(model)).begin()
    await collect(conversation.send("look"))
    await collect(conversation.go_on())
    assert said(conversation)[-2:] == [GO_ON, "more"]
    assert not model.requests[-1].continues
    await conversation.close()


async def test_a_model_that_cannot_go_on_is_asked_to(open_workspace: OpenWorkspace) -> None:
    conversation = await (await open_workspace([[TextDelta("a"), CUT], [TextDelta("b")]])).begin()
    await collect(conversation.send("spell"))
    await collect(conversation.go_on())
    assert said(conversation) == ["spell", "a", GO_ON, "b"]
    await conversation.close()


async def test_ollama_gets_the_answer_so_far_as_the_last_message(
    open_workspace: OpenWorkspace,
) -> None:
    words: list[list[dict[str, Any]]] = [[{"content": "One two "}], [{"content": " three"}]]
    async with OllamaServer(words) as server:
        provider = Ollama(name="ollama", base_url=server.url, retry_seconds=0)
        conversation = await (await open_workspace(provider)).begin(model=MODEL)
        events = conversation.send("count")
        async for event in events:
            if isinstance(event, TextArrived):
                conversation.cancel()
                assert isinstance([e async for e in events][-1], TurnCancelled)
                break
        await collect(conversation.go_on())
        assert said(conversation) == ["count", "One two three"]
        await conversation.close()
    last = [request.json for request in server.requests if request.path == "/api/chat"][-1]
    assert last["messages"][-1] == {"role": "assistant", "content": "One two"}
