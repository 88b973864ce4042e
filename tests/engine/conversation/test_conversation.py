"""A conversation: what is said, what is recorded, and how it branches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from ollm_tui.core.errors import Unavailable, UsageError
from ollm_tui.core.events import (
    AnyTurnEvent,
    Prepared,
    ReasoningArrived,
    ReplyStarted,
    TextArrived,
    ToolCallRequested,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from ollm_tui.core.provider import (
    Completed,
    Preparing,
    ReasoningDelta,
    TextDelta,
    ToolCallArrived,
)
from ollm_tui.core.session.message import Message, Reasoning, Retrieval, Text, ToolCallPart, Usage
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.settings.schema import ModelSettings, Retention, Sessions, Settings
from ollm_tui.storage.store_layout import StoreLayout
from tests.engine.conftest import OpenWorkspace

USAGE = Usage(input_tokens=10, output_tokens=5)
DONE = Completed(finish="stop", usage=USAGE, model="scripted-1")


async def collect(events: AsyncGenerator[AnyTurnEvent, None]) -> list[AnyTurnEvent]:
    return [event async for event in events]


def on_disk(home: Path, session_id: str) -> SessionState:
    return SessionLibrary.at(StoreLayout(home / "sessions")).load(session_id).state


def texts(state: SessionState) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in state.branch()]


async def test_a_turn_is_these_events_in_this_order(open_workspace: OpenWorkspace) -> None:
    call = ToolCallPart("c1", "read_file", {"path": "a.py"})
    workspace = await open_workspace(
        [
            [
                Preparing("starting", 0.5),
                ReasoningDelta("Hm."),
                TextDelta("Hello "),
                TextDelta("you"),
                ToolCallArrived(call),
                DONE,
            ]
        ]
    )
    conversation = await workspace.begin()
    events = await collect(conversation.send("Hi"))
    question, answer = conversation.state.branch()
    [asked] = answer.tool_calls
    assert (asked.name, asked.args) == (call.name, call.args)
    assert events == [
        TurnStarted(conversation.session_id, question),
        ReplyStarted(answer.id, "scripted", "scripted"),
        Prepared("starting", 0.5),
        ReasoningArrived(answer.id, "Hm."),
        TextArrived(answer.id, "Hello you"),  # what comes at once is told at once
        ToolCallRequested(answer.id, asked),
        TurnFinished(answer),
    ]
    assert answer.parts == (Reasoning("Hm."), Text("Hello you"), asked)
    assert (answer.status, answer.usage, answer.model) == ("complete", USAGE, "scripted-1")
    assert answer.parent_id == question.id
    await conversation.close()


async def test_the_users_words_are_on_disk_before_the_model_is_asked(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace([[Unavailable("down")]])
    conversation = await workspace.begin()
    async for event in conversation.send("Remember this"):
        if isinstance(event, TurnStarted):
            assert texts(on_disk(home, conversation.session_id)) == [("user", "Remember this")]
            break
    await conversation.close()


async def test_nothing_is_on_disk_before_the_first_message(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace()
    conversation = await workspace.begin()
    await conversation.close()
    assert not (home / "sessions").exists()


async def test_a_failed_turn_keeps_the_users_words_and_what_arrived(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace([[TextDelta("It is "), Unavailable("gone", "start it")]])
    conversation = await workspace.begin()
    failure = (await collect(conversation.send("What?")))[-1]
    assert isinstance(failure, TurnFailed)
    assert (failure.error, failure.hint, failure.kind) == ("gone", "start it", "Unavailable")
    await conversation.close()
    question, answer = on_disk(home, conversation.session_id).branch()
    assert (question.text, answer.text) == ("What?", "It is ")
    assert (answer.status, answer.error) == ("failed", "gone")


async def test_a_bug_in_a_provider_fails_the_turn_and_not_the_program(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace([[ZeroDivisionError("oops")], [TextDelta("Fine"), DONE]])
    conversation = await workspace.begin()
    failure = (await collect(conversation.send("One")))[-1]
    assert isinstance(failure, TurnFailed)
    assert "ZeroDivisionError: oops" in failure.error
    assert isinstance((await collect(conversation.send("Two")))[-1], TurnFinished)
    await conversation.close()


async def test_cancelling_keeps_what_arrived(open_workspace: OpenWorkspace, home: Path) -> None:
    workspace = await open_workspace([[TextDelta("One two"), asyncio.Event()]])
    conversation = await workspace.begin()
    events: list[AnyTurnEvent] = []
    async for event in conversation.send("Count"):
        events.append(event)
        if isinstance(event, TextArrived):
            conversation.cancel()
    assert isinstance(events[-1], TurnCancelled)
    await conversation.close()
    answer = on_disk(home, conversation.session_id).branch()[-1]
    assert (answer.text, answer.status) == ("One two", "cancelled")


async def test_cancelling_before_the_first_word_works_too(open_workspace: OpenWorkspace) -> None:
    workspace = await open_workspace([[TextDelta("Yes"), DONE]])
    conversation = await workspace.begin()
    events: list[AnyTurnEvent] = []
    async for event in conversation.send("Wait"):
        events.append(event)
        if isinstance(event, ReplyStarted):
            conversation.cancel()
    assert isinstance(events[-1], TurnCancelled)
    last = (await collect(conversation.send("Now?")))[-1]
    assert isinstance(last, TurnFinished)
    await conversation.close()


async def test_a_stop_before_the_turn_has_begun_is_heard(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace([[TextDelta("Yes"), DONE], [TextDelta("Now"), DONE]])
    conversation = await workspace.begin()
    turn = conversation.send("Wait")
    conversation.cancel()  # nothing of the turn has run yet: its message is not even recorded
    events = await collect(turn)
    assert isinstance(events[-1], TurnCancelled)
    assert not [event for event in events if isinstance(event, TextArrived)]
    assert isinstance((await collect(conversation.send("Now?")))[-1], TurnFinished)
    await conversation.close()
    said = [message.text for message in on_disk(home, conversation.session_id).branch()]
    assert said[0] == "Wait"


async def test_a_stop_while_earlier_sessions_are_searched_ends_the_search(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace([[TextDelta("Yes"), DONE]])
    conversation = await workspace.begin()

    async def recall(_words: str) -> tuple[Retrieval, ...]:
        conversation.cancel()
        await asyncio.Event().wait()
        return ()

    conversation.recall = recall
    assert isinstance((await collect(conversation.send("Wait")))[-1], TurnCancelled)
    await conversation.close()


async def test_a_front_end_that_goes_away_loses_nothing(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace([[TextDelta("Half an answer"), asyncio.Event()]])
    conversation = await workspace.begin()

    async def consume() -> None:
        async for _ in conversation.send("Go"):
            pass

    task = asyncio.create_task(consume())
    while not any(message.text for message in conversation.state.branch()[1:]):
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await conversation.close()
    answer = on_disk(home, conversation.session_id).branch()[-1]
    assert (answer.text, answer.status) == ("Half an answer", "cancelled")


async def test_a_streaming_reply_reaches_the_disk_while_it_is_written(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    go_on = asyncio.Event()
    workspace = await open_workspace([[TextDelta("The beginning"), go_on, TextDelta("."), DONE]])
    conversation = await workspace.begin()
    events = conversation.send("Tell me")
    async for event in events:
        if isinstance(event, TextArrived):
            break
    while len(on_disk(home, conversation.session_id)) < 2:
        await asyncio.sleep(0.05)
    answer = on_disk(home, conversation.session_id).branch()[-1]
    assert (answer.text, answer.status) == ("The beginning", "streaming")
    go_on.set()
    await collect(events)
    await conversation.close()
    assert on_disk(home, conversation.session_id).branch()[-1].text == "The beginning."


async def test_a_reply_cut_off_by_a_crash_is_resumed_as_interrupted(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    first = await open_workspace([[TextDelta("Once upon"), asyncio.Event()]])
    conversation = await first.begin()
    events = conversation.send("A story")
    async for event in events:
        if isinstance(event, TextArrived):
            break
    while len(on_disk(home, conversation.session_id)) < 2:
        await asyncio.sleep(0.05)
    journal = (home / "sessions" / f"{conversation.session_id}.journal").read_bytes()
    await events.aclose()
    await conversation.close()
    # As a crash leaves it: the journal of that moment and no session file.
    (home / "sessions" / f"{conversation.session_id}.json").unlink()
    (home / "sessions" / f"{conversation.session_id}.journal").write_bytes(journal)

    second = await open_workspace([[TextDelta("Again."), DONE]])
    resumed, problems = await second.resume(conversation.session_id)
    assert problems == ()
    assert resumed.state.branch()[-1].status == "interrupted"
    await collect(resumed.send("Go on"))
    await resumed.close()
    assert texts(on_disk(home, conversation.session_id)) == [
        ("user", "A story"),
        ("assistant", "Once upon"),
        ("user", "Go on"),
        ("assistant", "Again."),
    ]


async def test_terminal_controls_from_the_model_are_never_recorded_or_shown(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace(
        [[TextDelta("a\x1b"), TextDelta("[31mb\x1b]52;c;eA"), TextDelta("==\x07c\u202e"), DONE]]
    )
    conversation = await workspace.begin()
    events = await collect(conversation.send("Hi\x1b[2J there"))
    shown = "".join(event.text for event in events if isinstance(event, TextArrived))
    assert shown == "abc"
    assert [message.text for message in conversation.state.branch()] == ["Hi there", "abc"]
    await conversation.close()


async def test_editing_a_message_adds_a_sibling_and_keeps_the_old_branch(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace()
    conversation = await workspace.begin()
    await collect(conversation.send("First"))
    await collect(conversation.send("Second"))
    second = conversation.state.branch()[2]
    old_head = conversation.state.header.head
    await collect(conversation.edit(second.id, "Second, better"))
    assert [text for _, text in texts(conversation.state)] == [
        "First",
        "First",
        "Second, better",
        "Second, better",
    ]
    assert old_head is not None
    await conversation.switch_to(old_head)
    await conversation.close()
    state = on_disk(home, conversation.session_id)
    assert [text for _, text in texts(state)] == ["First", "First", "Second", "Second"]
    assert len(state) == 6
    assert len(state.children(second.parent_id)) == 2


async def test_only_own_messages_can_be_edited(open_workspace: OpenWorkspace) -> None:
    workspace = await open_workspace()
    conversation = await workspace.begin()
    await collect(conversation.send("Hello"))
    answer = conversation.state.branch()[1]
    with pytest.raises(UsageError):
        conversation.edit(answer.id, "I said something else")
    await conversation.close()


async def test_the_first_message_can_be_edited(open_workspace: OpenWorkspace) -> None:
    workspace = await open_workspace()
    conversation = await workspace.begin()
    await collect(conversation.send("Helo"))
    first = conversation.state.branch()[0]
    await collect(conversation.edit(first.id, "Hello"))
    assert [message.text for message in conversation.state.children(None)] == ["Helo", "Hello"]
    await conversation.close()


async def test_regenerating_asks_the_same_again_and_keeps_both_replies(
    open_workspace: OpenWorkspace,
) -> None:
    provider = Scripted([[TextDelta("A"), DONE], [TextDelta("B"), DONE]])
    workspace = await open_workspace(provider)
    conversation = await workspace.begin()
    await collect(conversation.send("Which?"))
    await collect(conversation.regenerate())
    question = conversation.state.branch()[0]
    assert [m.text for m in conversation.state.children(question.id)] == ["A", "B"]
    assert provider.requests[0].messages == provider.requests[1].messages
    await conversation.close()


async def test_there_is_nothing_to_regenerate_in_an_empty_conversation(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace()
    conversation = await workspace.begin()
    with pytest.raises(UsageError):
        await collect(conversation.regenerate())
    with pytest.raises(UsageError):
        await collect(conversation.send(" \n"))
    await conversation.close()


async def test_a_second_message_during_a_turn_is_refused(open_workspace: OpenWorkspace) -> None:
    workspace = await open_workspace([[TextDelta("a"), asyncio.Event()]])
    conversation = await workspace.begin()
    events = conversation.send("One")
    async for event in events:
        if isinstance(event, TextArrived):
            break
    before = conversation.state.session()
    for refused in (
        conversation.regenerate(),
        conversation.send("Two"),
        conversation.edit(before.messages[0].id, "Two"),
    ):
        with pytest.raises(UsageError, match="still answering"):
            await collect(refused)
        assert conversation.state.session() == before
    await events.aclose()
    await conversation.close()


async def test_a_message_is_refused_if_a_turn_begins_while_it_recalls(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace([[TextDelta("a"), asyncio.Event()]])
    conversation = await workspace.begin()
    events = conversation.send("One")

    async def begin_a_turn(_: str) -> tuple[Retrieval, ...]:
        conversation.recall = None
        await anext(events)
        return ()

    conversation.recall = begin_a_turn
    with pytest.raises(UsageError, match="still answering"):
        await collect(conversation.send("Two"))
    assert [message.text for message in conversation.state.messages()] == ["One"]
    await events.aclose()
    await conversation.close()


async def test_a_resumed_session_sends_the_same_prompt_and_more(
    open_workspace: OpenWorkspace,
) -> None:
    provider = Scripted()
    first = await open_workspace(provider)
    conversation = await first.begin()
    await collect(conversation.send("One"))
    await conversation.close()
    second = await open_workspace(provider)
    resumed, _ = await second.resume(conversation.session_id)
    await collect(resumed.send("Two"))
    await resumed.close()
    before, after = (request.messages for request in provider.requests)
    assert after[: len(before)] == before
    assert [(m.role, m.text) for m in after[len(before) :]] == [
        ("assistant", "One"),
        ("user", "Two"),
    ]


async def test_a_reply_that_never_came_leaves_the_user_messages_joined(
    open_workspace: OpenWorkspace,
) -> None:
    provider = Scripted([[Unavailable("down")], [TextDelta("Yes"), DONE]])
    workspace = await open_workspace(provider)
    conversation = await workspace.begin()
    await collect(conversation.send("Are you there?"))
    await collect(conversation.send("Hello?"))
    asked = provider.requests[-1].messages
    assert [(m.role, m.text) for m in asked[1:]] == [("user", "Are you there?\n\nHello?")]
    await conversation.close()


async def test_a_session_is_titled_after_its_first_message(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace()
    conversation = await workspace.begin()
    await collect(conversation.send("How do I retry an upload?\nIt fails with 503."))
    await conversation.close()
    assert [s.title for s in await workspace.sessions()] == ["How do I retry an upload?"]


async def test_an_ephemeral_conversation_leaves_nothing_on_disk(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace()
    conversation = await workspace.begin(ephemeral=True)
    await collect(conversation.send("A secret"))
    assert len(conversation.state) == 2
    await conversation.close()
    assert not list(home.rglob("*.json")) and not list(home.rglob("*.journal"))


async def test_the_ephemeral_mode_of_the_settings_counts(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace((), Settings(retention=Retention(mode="ephemeral")))
    conversation = await workspace.begin()
    await collect(conversation.send("A secret"))
    await conversation.close()
    assert not (home / "sessions").exists()


async def test_without_autosave_only_the_end_is_saved(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace((), Settings(sessions=Sessions(auto_save=False)))
    conversation = await workspace.begin()
    await collect(conversation.send("Hello"))
    assert not (home / "sessions").exists()
    await conversation.close()
    assert texts(on_disk(home, conversation.session_id)) == [
        ("user", "Hello"),
        ("assistant", "Hello"),
    ]


async def test_the_settings_of_a_model_reach_every_request(open_workspace: OpenWorkspace) -> None:
    provider = Scripted()
    wishes = ModelSettings(window=2048, temperature=0.5, thinking=False, max_output=99)
    workspace = await open_workspace(provider, Settings(models={"scripted": wishes}))
    conversation = await workspace.begin()
    await collect(conversation.send("One"))
    await collect(conversation.send("Two"))
    for request in provider.requests:
        assert (request.window, request.temperature) == (2048, 0.5)
        assert (request.thinking, request.max_output) == (False, 99)
    await conversation.close()


async def test_retention_moves_old_sessions_away_but_not_the_open_one(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace((), Settings(sessions=Sessions(max_sessions=1)))
    for text in ("One", "Two", "Three"):
        conversation = await workspace.begin()
        await collect(conversation.send(text))
        await conversation.close()
    current = await workspace.begin()
    await collect(current.send("Four"))
    moved = await workspace.enforce_retention(frozenset({current.session_id}))
    await current.close()
    assert sorted(summary.title for summary in moved) == ["One", "Three", "Two"]
    assert [summary.title for summary in await workspace.sessions()] == ["Four"]


async def test_an_unknown_message_is_a_clear_error(open_workspace: OpenWorkspace) -> None:
    workspace = await open_workspace()
    conversation: Conversation = await workspace.begin()
    await collect(conversation.send("Hello"))
    with pytest.raises(Exception, match="no message nope"):
        await conversation.switch_to("nope")
    await conversation.close()


def test_messages_say_their_text_reasoning_and_calls() -> None:
    call = ToolCallPart("1", "x", {})
    message = Message("i", "assistant", (Reasoning("r"), Text("a"), call, Text("b")), "t")
    assert (message.text, message.reasoning, message.tool_calls) == ("ab", "r", (call,))


async def test_a_front_end_that_leaves_at_the_end_leaves_the_reply_whole(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    call = ToolCallPart("c1", "read_file", {"path": "a.py"})
    workspace = await open_workspace([[TextDelta("Yes."), ToolCallArrived(call), DONE]])
    conversation = await workspace.begin()
    events = conversation.send("Hi")
    async for event in events:
        if isinstance(event, TurnFinished):
            break
    await events.aclose()
    await conversation.close()
    answer = on_disk(home, conversation.session_id).branch()[-1]
    assert (answer.status, answer.usage) == ("complete", USAGE)
    assert [asked.args for asked in answer.tool_calls] == [call.args]


async def test_the_window_of_a_session_stays_whatever_the_server_has_loaded_since(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace(Scripted(window=8192))
    conversation = await workspace.begin()
    await collect(conversation.send("One"))
    await conversation.close()

    provider = Scripted(window=4096)
    resumed, _ = await (await open_workspace(provider)).resume(conversation.session_id)
    await collect(resumed.send("Two"))
    await resumed.close()
    assert provider.requests[-1].window == 8192

    wish = Settings(models={"scripted": ModelSettings(window=2048)})
    workspace = await open_workspace(provider, wish)
    again, _ = await workspace.resume(conversation.session_id)
    assert again.choice.window == again.state.header.window == 2048
    await again.close()


async def test_the_context_is_not_changed_while_the_model_reads_it(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace([[TextDelta("One"), asyncio.Event()]])
    conversation = await workspace.begin()
    async for event in conversation.send("count"):
        if isinstance(event, TextArrived):
            with pytest.raises(UsageError, match="still answering"):
                await conversation.goals.set_goal("something else")
            conversation.cancel()
    await conversation.goals.set_goal("something else")
    assert conversation.goals.active
