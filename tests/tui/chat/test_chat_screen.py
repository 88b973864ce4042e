"""The chat screen: typing, reading, stopping, leaving, with a scripted model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from ollm_tui.core.errors import Unavailable
from ollm_tui.core.provider import Completed, Preparing, TextDelta
from ollm_tui.core.session.message import Usage
from ollm_tui.settings.schema import Interface, Settings
from ollm_tui.tui.chat.message_queue import MessageQueue
from ollm_tui.tui.chat.screen import ChatScreen
from ollm_tui.tui.chat.words import PLACEHOLDER, SHORT_PLACEHOLDER
from tests.cases import some
from tests.tui.conftest import OpenApp
from tests.tui.seen import gauge, prompt, settled, state, stream, title
from tests.tui.typing_in import type_in

DONE = Completed(finish="stop", usage=Usage(input_tokens=700, output_tokens=40, output_seconds=2.0))


async def test_a_message_is_typed_sent_and_answered(open_app: OpenApp) -> None:
    async with open_app([[TextDelta("**Hello** "), TextDelta("there"), DONE]]) as (app, pilot):
        await type_in(pilot, "hi")
        await pilot.press("enter")
        await settled(app, pilot)
        assert stream(app) == ["▌ hi", "┃ Hello there"]
        assert prompt(app).text == ""
        assert title(app) == ("hi", "scripted · scripted · this machine")
        assert "8 %  ≈714/8.2k" in gauge(app) and state(app).endswith("saved")


async def test_the_prompt_is_focused_and_says_how_it_works(open_app: OpenApp) -> None:
    async with open_app() as (app, _):
        assert app.focused is prompt(app)
        assert "/ for commands" in str(prompt(app).placeholder)


@pytest.mark.more
async def test_what_the_empty_prompt_says_is_never_cut(open_app: OpenApp) -> None:
    async with open_app(size=(60, 20)) as (app, pilot):
        assert prompt(app).render_line(0).text.rstrip() == SHORT_PLACEHOLDER
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert prompt(app).render_line(0).text.rstrip() == PLACEHOLDER


@some(1, "key", ("ctrl+j", "shift+enter", "alt+enter"))
async def test_other_keys_begin_a_new_line(open_app: OpenApp, key: str) -> None:
    async with open_app() as (app, pilot):
        await pilot.press("a", key, "b")
        assert prompt(app).text == "a\nb"
        assert prompt(app).size.height == 2


@pytest.mark.more
async def test_a_backslash_before_enter_begins_a_new_line(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await pilot.press("a", "backslash", "enter", "b")
        assert prompt(app).text == "a\nb"


@pytest.mark.more
async def test_nothing_is_sent_when_there_is_nothing_to_send(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await pilot.press("enter", "space", "enter")
        await settled(app, pilot)
        assert stream(app) == []


async def test_escape_stops_the_answer_and_keeps_what_arrived(open_app: OpenApp) -> None:
    async with open_app([[TextDelta("One two"), asyncio.Event()]]) as (app, pilot):
        await type_in(pilot, "count")
        await pilot.press("enter")
        while "┃ One two" not in stream(app):
            await pilot.pause(0.02)
        assert "Esc stop" in state(app)
        await pilot.press("escape")
        await settled(app, pilot)
        assert stream(app) == ["▌ count", "┃ One two stopped"]


async def test_messages_sent_meanwhile_wait_and_are_answered_in_order(open_app: OpenApp) -> None:
    go_on = asyncio.Event()
    async with open_app([[TextDelta("A"), go_on, DONE], [TextDelta("B"), DONE]]) as (app, pilot):
        for text in ("one", "two"):
            await type_in(pilot, text)
            await pilot.press("enter")
        await pilot.pause(0.1)
        assert "next  two" in str(app.screen.query_one(MessageQueue).content)
        go_on.set()
        await settled(app, pilot)
        await settled(app, pilot)
        said = [line for line in stream(app) if "tok/s" not in line]
        assert said == ["▌ one", "┃ A", "▌ two", "┃ B"]


async def test_enter_on_the_empty_prompt_sends_what_was_held_back(open_app: OpenApp) -> None:
    never = asyncio.Event()
    async with open_app([[TextDelta("A"), never, DONE], [TextDelta("B"), DONE]]) as (app, pilot):
        for text in ("one", "two"):
            await type_in(pilot, text)
            await pilot.press("enter")
        await pilot.press("escape")
        await settled(app, pilot)
        queue = app.screen.query_one(MessageQueue)
        assert "Enter send" in str(queue.content) and "Esc" not in str(queue.content)
        await pilot.press("enter")
        await settled(app, pilot)
        assert queue.messages.count == 0 and stream(app)[-1].startswith("┃ B")


async def test_enter_twice_sends_a_queued_message_while_the_model_writes(open_app: OpenApp) -> None:
    never = asyncio.Event()
    async with open_app([[TextDelta("A"), never, DONE], [TextDelta("B"), DONE]]) as (app, pilot):
        for text in ("one", "two"):
            await type_in(pilot, text)
            await pilot.press("enter")
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert "Enter again stops the answer" in state(app)
        assert app.screen.query_one(MessageQueue).messages.count == 1
        await pilot.press("enter")
        await settled(app, pilot)
        await settled(app, pilot)
        assert app.screen.query_one(MessageQueue).messages.count == 0
        assert stream(app)[-1].startswith("┃ B")


@pytest.mark.more
async def test_now_with_an_empty_queue_says_so_and_stops_nothing(open_app: OpenApp) -> None:
    go_on = asyncio.Event()
    async with open_app([[TextDelta("A"), go_on, TextDelta(" B"), DONE]]) as (app, pilot):
        for text in ("one", "/now", "/now"):
            await type_in(pilot, text)
            await pilot.press("enter")
            await pilot.pause()
        assert state(app).startswith("Nothing queued")
        go_on.set()
        await settled(app, pilot)
        assert stream(app)[-1].startswith("┃ A B")


async def test_a_failure_is_shown_in_the_stream_with_what_to_do(open_app: OpenApp) -> None:
    async with open_app([[Unavailable("no answer", "start the server")]]) as (app, pilot):
        await type_in(pilot, "hi")
        await pilot.press("enter")
        await settled(app, pilot)
        assert stream(app)[-2:] == ["! No answer", "! Start the server"]


@pytest.mark.more
async def test_what_has_to_be_prepared_is_said(open_app: OpenApp) -> None:
    script = [[Preparing("fetching the model", 0.5), asyncio.Event()]]
    async with open_app(script) as (app, pilot):
        await type_in(pilot, "hi")
        await pilot.press("enter")
        await pilot.pause(0.1)
        assert "fetching the model 50 %" in state(app)
        await pilot.press("escape")
        await settled(app, pilot)


@pytest.mark.more
async def test_up_and_down_walk_through_what_was_sent_and_keep_the_draft(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        for text in ("one", "two"):
            await type_in(pilot, text)
            await pilot.press("enter")
            await settled(app, pilot)
        await type_in(pilot, "draft")
        seen: list[str] = []
        for key in ("up", "up", "up", "down", "down", "down"):
            await pilot.press(key)
            seen.append(prompt(app).text)
        assert seen == ["two", "one", "one", "two", "draft", "draft"]


async def test_ctrl_c_puts_a_draft_aside_and_quits_only_on_the_second_press(
    open_app: OpenApp,
) -> None:
    async with open_app() as (app, pilot):
        await type_in(pilot, "precious")
        await pilot.press("ctrl+c")
        assert prompt(app).text == ""
        await pilot.press("up")
        assert prompt(app).text == "precious"
        await pilot.press("ctrl+c", "ctrl+c")
        assert "again" in state(app) and app.is_running
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert app.return_value == 0


async def test_ctrl_c_stops_an_answer(open_app: OpenApp) -> None:
    async with open_app([[TextDelta("x"), asyncio.Event()]]) as (app, pilot):
        await type_in(pilot, "go")
        await pilot.press("enter")
        await pilot.pause(0.1)
        await pilot.press("ctrl+c")
        await settled(app, pilot)
        assert "┃ x stopped" in stream(app)


@some(1, "key", ("ctrl+d", "ctrl+q"))
async def test_leaving(open_app: OpenApp, key: str) -> None:
    async with open_app() as (app, pilot):
        await pilot.press(key)
        await pilot.pause()
        assert not app.is_running


@pytest.mark.more
async def test_ctrl_d_deletes_while_there_is_text(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await pilot.press("a", "b", "home", "ctrl+d")
        assert prompt(app).text == "b" and app.is_running


async def test_a_resumed_session_shows_what_was_said(open_app: OpenApp, home: Path) -> None:
    async with open_app([[TextDelta("Paris"), DONE]]) as (app, pilot):
        await type_in(pilot, "capital?")
        await pilot.press("enter")
        await settled(app, pilot)
    [file] = (home / "sessions").glob("*.json")
    async with open_app(session_id=json.loads(file.read_bytes())["sessionId"]) as (app, pilot):
        assert stream(app)[:2] == ["▌ capital?", "┃ Paris"]
        await pilot.press("up")
        assert prompt(app).text == "capital?"


async def test_reading_above_is_not_disturbed_and_ctrl_end_comes_back(open_app: OpenApp) -> None:
    text = "\n\n".join(f"line {number}" for number in range(60))
    async with open_app([[TextDelta(text), DONE]]) as (app, pilot):
        await type_in(pilot, "go")
        await pilot.press("enter")
        await settled(app, pilot)
        assert "┃ line 59" in stream(app)
        await pilot.press("pageup", "pageup")
        assert "┃ line 59" not in stream(app)
        await pilot.press("ctrl+end")
        await pilot.pause()
        assert "┃ line 59" in stream(app)


async def test_it_works_at_60_by_20_and_survives_resizing(open_app: OpenApp) -> None:
    words = " ".join(f"word{number}" for number in range(200))
    async with open_app([[TextDelta(words), DONE]], size=(60, 20)) as (app, pilot):
        await type_in(pilot, "go")
        await pilot.press("enter")
        await settled(app, pilot)
        for size in ((200, 50), (30, 8), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert any("word199" in line for line in stream(app))


@some(2, "theme", ("dark", "light", "auto", "no such theme"))
async def test_every_theme_opens(open_app: OpenApp, theme: str) -> None:
    async with open_app(settings=Settings(ui=Interface(theme=theme))) as (app, _):
        assert isinstance(app.screen, ChatScreen)
        assert ("Cannot read theme" in " ".join(stream(app))) == (theme == "no such theme")
