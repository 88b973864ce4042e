"""What newcomers lose elsewhere: drafts, queues, the place they were at, the way out."""

from __future__ import annotations

import asyncio

import pytest

from ollm_tui.core.provider import Completed, TextDelta
from ollm_tui.core.session.message import Usage
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.settings.schema import Context, Settings
from ollm_tui.tui.chat.message_queue import MessageQueue
from ollm_tui.tui.keymap import check_keymap
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, prompt, send, settled, state, stream
from tests.tui.typing_in import type_in

DONE = Completed(finish="stop", usage=Usage(input_tokens=70, output_tokens=4, output_seconds=2.0))


async def test_a_stopped_answer_keeps_what_waits_waiting(open_app: OpenApp) -> None:
    script = [[TextDelta("A"), asyncio.Event()], [TextDelta("B"), DONE], [TextDelta("C"), DONE]]
    async with open_app(script) as (app, pilot):
        await type_in(pilot, "one")
        await pilot.press("enter")
        await pilot.pause(0.1)
        await type_in(pilot, "two")
        await pilot.press("enter", "escape")
        await settled(app, pilot)
        assert chat(app).query_one(MessageQueue).messages.count == 1 and "▌ two" not in stream(app)
        await send(app, pilot, "three")
        await settled(app, pilot)
        assert [line for line in stream(app) if "▌" in line] == ["▌ one", "▌ two", "▌ three"]


async def test_what_waits_when_the_program_ends_is_there_the_next_time(open_app: OpenApp) -> None:
    async with open_app([[TextDelta("A"), asyncio.Event()]]) as (app, pilot):
        await type_in(pilot, "one")
        await pilot.press("enter")
        await pilot.pause(0.1)
        await type_in(pilot, "important")
        await pilot.press("enter", "ctrl+q", "ctrl+q")
        await pilot.pause()
    async with open_app() as (app, pilot):
        await pilot.press("up")
        assert prompt(app).text == "important"


async def test_a_draft_typed_just_before_leaving_is_there_the_next_time(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await type_in(pilot, "half")
        await pilot.press("ctrl+q")
        await pilot.pause()
    async with open_app() as (app, pilot):
        assert prompt(app).text == "half"


async def test_a_command_typed_onto_the_draft_of_the_last_time_is_not_sent_to_the_model(
    open_app: OpenApp,
) -> None:
    async with open_app() as (app, pilot):
        await type_in(pilot, "half a thought")
        await pilot.press("ctrl+q")
        await pilot.pause()
    async with open_app([[TextDelta("Never."), DONE]]) as (app, pilot):
        assert prompt(app).text == "half a thought"
        await send(app, pilot, "!true")
        assert app.conversation and not len(app.conversation.state)
        assert not prompt(app).text
        await pilot.press("up", "up")
        assert prompt(app).text == "half a thought"


async def test_the_draft_of_the_last_time_goes_on_where_it_ended(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await type_in(pilot, "half a")
        await pilot.press("ctrl+q")
        await pilot.pause()
    async with open_app() as (app, pilot):
        await type_in(pilot, " thought!")
        assert prompt(app).text == "half a thought!"


async def test_a_draft_is_not_sent_before_it_was_seen(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        prompt(app).restore_unseen("an old draft")
        await prompt(app).action_send()
        assert prompt(app).text == "an old draft"
        await pilot.pause()
        await pilot.press("enter")
        await settled(app, pilot)
        assert app.conversation and app.conversation.state.branch()[0].text == "an old draft"


async def test_what_is_sent_while_the_session_is_being_opened_is_no_draft(
    open_app: OpenApp,
) -> None:
    opens = asyncio.Event()
    async with open_app([[TextDelta("A"), DONE]], opens=opens) as (app, pilot):
        await type_in(pilot, "early")
        await pilot.press("enter")
        opens.set()
        while "┃ A" not in stream(app):
            await pilot.pause(0.01)
        await settled(app, pilot)
        assert prompt(app).text == "" and stream(app).count("▌ early") == 1


async def test_leaving_before_the_session_is_open_keeps_the_draft_of_the_last_time(
    open_app: OpenApp,
) -> None:
    async with open_app() as (app, pilot):
        await type_in(pilot, "half")
        await pilot.press("ctrl+q")
        await pilot.pause()
    async with open_app(opens=asyncio.Event()) as (app, pilot):
        await pilot.press("ctrl+q")
        await pilot.pause()
    async with open_app() as (app, pilot):
        assert prompt(app).text == "half"


async def test_a_draft_written_during_the_first_answer_belongs_to_its_session(
    open_app: OpenApp,
) -> None:
    async with open_app([[TextDelta("A"), asyncio.Event()]]) as (app, pilot):
        await type_in(pilot, "one")
        await pilot.press("enter")
        await pilot.pause(0.1)
        await type_in(pilot, "next")
        await pilot.pause(0.8)
        session_id = chat(app).chat.conversation.session_id
        assert app.memory.draft(session_id) == "next" and app.memory.draft(None) == ""
        await pilot.press("escape")
        await settled(app, pilot)


async def test_keys_act_on_the_message_that_was_found(open_app: OpenApp) -> None:
    async with open_app([[TextDelta("dogs"), DONE], [TextDelta("cats"), DONE]]) as (app, pilot):
        await send(app, pilot, "one")
        await send(app, pilot, "two")
        await pilot.press("ctrl+f")
        await settled(app, pilot)
        await type_in(pilot, "dogs")
        await pilot.press("enter", "y")
        await settled(app, pilot)
        assert app.clipboard == "dogs"


@pytest.mark.more
async def test_a_small_window_keeps_the_prompt(open_app: OpenApp) -> None:
    async with open_app(size=(60, 10)) as (app, _):
        assert prompt(app).region.bottom <= 9 and prompt(app).region.height == 3


async def test_a_message_that_is_too_long_comes_back_and_blocks_nothing(open_app: OpenApp) -> None:
    settings = Settings(context=Context(window=2048))
    async with open_app([[TextDelta("fine"), DONE]], settings=settings) as (app, pilot):
        prompt(app).put("word " * 9000)
        await pilot.press("enter")
        await settled(app, pilot)
        assert prompt(app).text.startswith("word word")
        assert any("too long" in line for line in stream(app))
        prompt(app).put("short")
        await pilot.press("enter")
        await settled(app, pilot)
        assert "┃ fine" in stream(app)


async def test_without_an_open_session_a_new_one_can_be_begun(open_app: OpenApp) -> None:
    async with open_app([[TextDelta("A"), DONE]], session_id="missing") as (app, pilot):
        assert "Ctrl+N new session" in state(app)
        await pilot.press("ctrl+n")
        await settled(app, pilot)
        await send(app, pilot, "hi")
        assert stream(app)[-1] == "┃ A"


async def test_a_session_that_is_open_elsewhere_is_followed_and_says_how_to_go_on(
    open_app: OpenApp,
) -> None:
    async with open_app([[TextDelta("A"), DONE]]) as (first, pilot):
        await send(first, pilot, "hi")
        session_id = chat(first).chat.conversation.session_id
        workspace: Workspace = first.workspace
        assert await workspace.find(session_id[:6]) == session_id
        async with open_app(session_id=session_id) as (second, _):
            assert stream(second)[-1] == "┃ A"
            assert "forks it" in str(chat(second).prompt.placeholder)


@pytest.mark.more
async def test_details_do_not_hide_how_an_answer_ended(open_app: OpenApp) -> None:
    async with open_app([[TextDelta("A"), asyncio.Event()]], size=(120, 24)) as (app, pilot):
        await type_in(pilot, "one")
        await pilot.press("enter")
        await pilot.pause(0.1)
        await pilot.press("escape")
        await settled(app, pilot)
        await pilot.press("f6")
        assert any("stopped ·" in line for line in stream(app))


def test_a_key_that_is_none_or_could_not_be_typed_any_more_is_told() -> None:
    keymap, problems = check_keymap({"read.find": "ctrl+frob", "session.picker": "a"})
    assert keymap == {}
    assert "no key 'ctrl+frob'" in problems[0]
    assert "is needed for typing" in problems[1]


async def test_what_is_sent_while_another_session_opens_stays_where_it_was_sent(
    open_app: OpenApp,
) -> None:
    may_open, may_answer = asyncio.Event(), asyncio.Event()
    async with open_app([[TextDelta("A"), may_answer, DONE]]) as (app, pilot):
        here = app.conversation

        async def open_another() -> tuple[Conversation, tuple[str, ...]]:
            await may_open.wait()
            return await app.workspace.begin(), ()

        switching = asyncio.create_task(chat(app).switch(open_another))
        await type_in(pilot, "one")
        await pilot.press("enter")
        await pilot.pause(0.1)
        may_open.set()
        await switching
        assert stream(app) == []
        may_answer.set()
        await settled(app, pilot)
        assert here and here is not app.conversation
        assert [message.text for message in here.state.branch()] == ["one", "A"]


@pytest.mark.more
async def test_the_second_ctrl_c_quits_also_when_another_session_came_between(
    open_app: OpenApp,
) -> None:
    async with open_app() as (app, pilot):
        await pilot.press("ctrl+c", "ctrl+n")
        await settled(app, pilot)
        assert app.is_running
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert app.return_code == 0
