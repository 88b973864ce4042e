"""Several models answer one message: what is recorded, who waits, and what a failure reaches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from ollm_tui.core.errors import Unavailable, UsageError
from ollm_tui.core.events import (
    Queued,
    TextArrived,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
)
from ollm_tui.core.provider import ChatRequest, TextDelta
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.engine.comparison.comparison import ColumnEvent
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.providers.scripted import Scripted, Step
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.engine.conftest import OpenWorkspace


def on_disk(home: Path, session_id: str) -> SessionState:
    return SessionLibrary.at(StoreLayout(home / "sessions")).load(session_id).state


def called(name: str, *steps: Step, away: bool = True) -> ModelChoice:
    """A model of a server of its own, elsewhere unless it is said otherwise."""
    place = f"{name}-server" if away else "embedded"
    server = Scripted([list(steps)] if steps else (), name=place)
    return ModelChoice(server, name, remote_host=f"{name}.example" if away else None)


async def collect(events: AsyncGenerator[ColumnEvent, None]) -> list[ColumnEvent]:
    return [event async for event in events]


async def answered(workspace: Workspace) -> Conversation:
    """A conversation with one answer."""
    conversation = await workspace.begin()
    async for _ in conversation.send("Why is the sky blue?"):
        pass
    return conversation


def answers(conversation: Conversation) -> list[tuple[str | None, str, str]]:
    state = conversation.state
    question = state.branch()[0]
    return [(each.model, each.text, each.status) for each in state.children(question.id)]


async def test_answers_are_siblings_and_the_one_that_was_there_stays_the_end(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    conversation = await answered(await open_workspace([[TextDelta("Old.")]]))
    before = conversation.state.header.head
    choices = [called("a", TextDelta("Air.")), called("b", TextDelta("Rays."))]
    await collect(conversation.comparison.events(choices))
    assert conversation.state.header.head == before
    assert sorted(answers(conversation)[1:]) == [
        ("a", "Air.", "complete"),
        ("b", "Rays.", "complete"),
    ]
    session_id = conversation.session_id
    await conversation.close()
    assert len(on_disk(home, session_id)) == 4


async def test_every_model_gets_the_same_prompt_and_no_tools(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await answered(await open_workspace())
    choices = [called("a"), called("b")]
    await collect(conversation.comparison.events(choices))
    requests: list[ChatRequest] = []
    for choice in choices:
        assert isinstance(choice.provider, Scripted)
        requests += choice.provider.requests
    first, second = requests
    assert first.messages == second.messages
    assert [message.role for message in first.messages] == ["system", "user"]
    assert not first.tools


async def test_a_new_message_is_recorded_and_goes_on_with_the_first_whole_answer(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await (await open_workspace()).begin()
    choices = [called("a", Unavailable("gone", "start it")), called("b", TextDelta("Hi."))]
    await collect(conversation.comparison.events(choices, "Hello"))
    assert [message.text for message in conversation.state.branch()] == ["Hello", "Hi."]


async def test_one_that_fails_disturbs_no_other(open_workspace: OpenWorkspace) -> None:
    conversation = await answered(await open_workspace())
    choices = [
        called("a", TextDelta("Half"), Unavailable("the server broke", "try again")),
        called("b", ValueError("a bug")),
        called("c", TextDelta("Whole.")),
    ]
    events = await collect(conversation.comparison.events(choices))
    ends = {column: event for column, event in events if not isinstance(event, TextArrived)}
    assert isinstance(ends[0], TurnFailed)
    assert ends[0].error == "the server broke"
    assert isinstance(ends[1], TurnFailed)
    assert isinstance(ends[2], TurnFinished)
    assert ("a", "Half", "failed") in answers(conversation)
    assert ("c", "Whole.", "complete") in answers(conversation)


async def test_servers_elsewhere_answer_at_once(open_workspace: OpenWorkspace) -> None:
    conversation = await answered(await open_workspace())
    second_began = asyncio.Event()
    # The first goes on only once the second has begun: one after the other would never end.
    choices = [called("a", second_began, TextDelta("1")), called("b", TextDelta("2"))]
    async for column, event in conversation.comparison.events(choices):
        if column == 1 and isinstance(event, TextArrived):
            second_began.set()
    assert ("a", "1", "complete") in answers(conversation)


async def test_a_server_on_this_machine_is_asked_one_after_the_other_and_it_is_said(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await answered(await open_workspace())
    first = called("a", TextDelta("1"), away=False)
    choices = [first, first._replace(model="b")]
    events = await collect(conversation.comparison.events(choices))
    waits = ColumnEvent(1, Queued(2, "a"))
    assert waits in events
    finished = next(at for at, (_, each) in enumerate(events) if isinstance(each, TurnFinished))
    assert all(column == 0 or (column, event) == waits for column, event in events[:finished])
    assert isinstance(events[-1].event, TurnFinished)


async def test_stopping_keeps_what_arrived_and_leaves_no_trace_of_what_was_not_asked(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await answered(await open_workspace())
    local = called("a", TextDelta("So far"), asyncio.Event(), away=False)
    choices = [local, local._replace(model="never")]
    ends: list[object] = []
    async for _, event in conversation.comparison.events(choices):
        if isinstance(event, TextArrived):
            conversation.cancel()
        if isinstance(event, TurnCancelled):
            ends.append(event.message and event.message.text)
    assert sorted(ends, key=str) == [None, "So far"]
    assert answers(conversation)[1:] == [("a", "So far", "cancelled")]


async def test_one_answer_is_stopped_alone(open_workspace: OpenWorkspace) -> None:
    conversation = await answered(await open_workspace())
    waits = asyncio.Event()
    choices = [called("a", TextDelta("A"), asyncio.Event()), called("b", waits, TextDelta("B"))]
    async for column, event in conversation.comparison.events(choices):
        if column == 0 and isinstance(event, TextArrived):
            conversation.comparison.stop(0)
        if isinstance(event, TurnCancelled):
            waits.set()
    assert sorted(answers(conversation)[1:]) == [("a", "A", "cancelled"), ("b", "B", "complete")]


async def test_nothing_else_is_sent_meanwhile(open_workspace: OpenWorkspace) -> None:
    conversation = await answered(await open_workspace())
    async for _ in conversation.comparison.events([called("a", TextDelta("x"))]):
        with pytest.raises(UsageError):
            await anext(conversation.send("And now?"))
    assert not conversation.comparison.running


async def test_what_streams_is_on_disk_while_it_streams(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    conversation = await answered(await open_workspace())
    ends = asyncio.Event()
    choices = [called(name, TextDelta(f"begun by {name}"), ends) for name in "abc"]

    async def seen() -> None:
        while True:
            state = on_disk(home, conversation.session_id)
            if len([each for each in state.messages() if each.text.startswith("begun by")]) == 3:
                return
            await asyncio.sleep(0.05)

    comparing = asyncio.create_task(collect(conversation.comparison.events(choices)))
    await seen()
    ends.set()
    await comparing


async def test_a_vote_is_kept_replaced_and_taken_back(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    conversation = await answered(await open_workspace([[TextDelta("Old.")]]))
    await collect(conversation.comparison.events([called("a"), called("b")]))
    comparison = conversation.comparison
    question = conversation.state.branch()[0].id
    old, first, second = (each.id for each in conversation.state.children(question))
    assert await comparison.vote(question, first, [old, first, second])
    assert await comparison.vote(question, second, [old, first, second])
    [vote] = on_disk(home, conversation.session_id).header.metadata.votes
    assert vote.answer == second
    assert {vote.model, *vote.others} == {"scripted", "a", "b"}
    assert not await comparison.vote(question, second, [old, first, second])
    assert comparison.vote_on(question) is None


async def test_without_a_message_there_is_nothing_to_compare(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await (await open_workspace()).begin()
    with pytest.raises(UsageError):
        await collect(conversation.comparison.events([called("a")]))
