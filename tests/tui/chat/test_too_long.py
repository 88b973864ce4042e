"""A message that does not fit: what would help is offered above the prompt, and done by a key."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from textual.pilot import Pilot

from ollm_tui.core.provider import ChatRequest, Completed, TextDelta, ToolCallArrived
from ollm_tui.core.session.message import Attachment, ToolCallPart
from ollm_tui.providers.scripted import Scripted, Step
from ollm_tui.settings.schema import ModelSettings, Settings
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.chat.trust_question import TrustQuestion
from tests.engine.compression.test_compression import SUMMARY, is_summary
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, prompt, send, settled, state, stream
from tests.tui.tool_desk import reader, tools_open

SMALL = Settings(models={"scripted": ModelSettings(window=1024)})


def brief(window: int = 1024) -> Scripted:
    """Answers in a word; the model was made for a window of this size."""

    def turn(request: ChatRequest) -> Sequence[Step]:
        return [TextDelta(SUMMARY if is_summary(request) else "fine"), Completed(finish="stop")]

    return Scripted(turn, window=window)


def offered(app: OllmApp) -> str:
    bars = [bar for bar in chat(app).query(TrustQuestion) if bar.display]
    return str(bars[0].content) if bars else ""


async def put(app: OllmApp, pilot: Pilot[int], text: str, *attached: Attachment) -> None:
    prompt(app).put(text, attached)
    await pilot.press("enter")
    await settled(app, pilot)


async def answer(app: OllmApp, pilot: Pilot[int], key: str) -> None:
    await pilot.press("alt+a", key)
    await settled(app, pilot)


async def test_a_larger_window_is_taken_by_a_key_and_stays_with_the_session(
    open_app: OpenApp,
) -> None:
    async with open_app(brief(8192), settings=SMALL, size=(100, 30)) as (app, pilot):
        await put(app, pilot, "word " * 1500)
        assert "! This message is 641 tokens too long for the 1.0k window." in offered(app)
        assert "Alt+A, then   w window 4.1k" in offered(app)
        assert not any("too long" in line for line in stream(app)), "it is told once"
        assert "fold" not in offered(app) and "session" not in offered(app)
        assert app.focused is prompt(app) and prompt(app).text.startswith("word")
        await answer(app, pilot, "w")
        assert "Window 1,024 → 4,096 · Enter sends it again" in state(app)
        assert offered(app) == "" and app.focused is prompt(app)
        assert chat(app).chat.conversation.state.header.window == 4096
        await pilot.press("enter")
        await settled(app, pilot)
        assert stream(app)[-1] == "┃ fine"


async def test_what_is_attached_is_taken_out_where_that_is_enough(open_app: OpenApp) -> None:
    log = Attachment("app.log", "text/plain", "503 " * 900)
    note = Attachment("note.txt", "text/plain", "short")
    async with open_app(brief(), settings=SMALL, size=(100, 30)) as (app, pilot):
        await put(app, pilot, "See", log, note)
        assert "1 without app.log (" in offered(app)
        assert "window 4" not in offered(app) and "session" not in offered(app)
        await answer(app, pilot, "1")
        await pilot.press("enter")
        await settled(app, pilot)
        assert stream(app)[-1] == "┃ fine"
        *_, asked, _reply = chat(app).chat.conversation.state.branch()
        assert [part.name for part in asked.parts if isinstance(part, Attachment)] == ["note.txt"]


@pytest.mark.more
async def test_each_attachment_that_would_be_enough_has_its_key(open_app: OpenApp) -> None:
    one, other = (Attachment(f"{name}.log", "text/plain", "503 " * 900) for name in "ab")
    async with open_app(brief(), settings=SMALL, size=(120, 30)) as (app, pilot):
        await put(app, pilot, "See", one)
        assert "1 without a.log (" in offered(app)
        await answer(app, pilot, "escape")
        await put(app, pilot, "See", one, other)
        # Neither is enough by itself.
        assert "r without a.log, b.log (" in offered(app)
        await answer(app, pilot, "r")
        assert prompt(app).text.startswith("See")


async def full(app: OllmApp, pilot: Pilot[int]) -> None:
    """The user's own messages leave no room for another one."""
    for number in range(6):
        await send(app, pilot, f"{number} {SUMMARY} " + "word " * 90)
    await put(app, pilot, "word " * 200)


async def test_older_messages_of_ones_own_are_folded_by_a_key(open_app: OpenApp) -> None:
    async with open_app(brief(), settings=SMALL, size=(120, 30)) as (app, pilot):
        await full(app, pilot)
        assert re.search(r"o fold \d of yours \(≈\d+\)", offered(app))
        await answer(app, pilot, "o")
        [done] = chat(app).chat.conversation.compression.history
        assert chat(app).chat.conversation.state.branch()[0].id in done.folded
        await pilot.press("enter")
        await settled(app, pilot)
        assert stream(app)[-1] == "┃ fine"


async def test_the_message_can_be_said_in_a_new_session(open_app: OpenApp) -> None:
    async with open_app(brief(), settings=SMALL, size=(120, 30)) as (app, pilot):
        await full(app, pilot)
        before = chat(app).chat.conversation.session_id
        await answer(app, pilot, "s")
        assert chat(app).chat.conversation.session_id != before
        assert prompt(app).text == "word " * 200
        await pilot.press("enter")
        await settled(app, pilot)
        assert stream(app)[-1] == "┃ fine" and offered(app) == ""


@pytest.mark.more
async def test_where_nothing_helps_nothing_is_offered(open_app: OpenApp) -> None:
    async with open_app(brief(), settings=SMALL) as (app, pilot):
        await put(app, pilot, "word " * 3000)
        assert any("Shorten the message" in line for line in stream(app))
        assert offered(app) == "" and prompt(app).text.startswith("word")


@pytest.mark.more
async def test_another_message_or_esc_puts_the_offer_away(open_app: OpenApp) -> None:
    async with open_app(brief(8192), settings=SMALL) as (app, pilot):
        await put(app, pilot, "word " * 1500)
        assert offered(app)
        await put(app, pilot, "short")
        assert offered(app) == "" and stream(app)[-1] == "┃ fine"
        await put(app, pilot, "word " * 1500)
        await answer(app, pilot, "escape")
        assert offered(app) == "" and prompt(app).text.startswith("word")


LOG = Attachment(
    name="app.log",
    media_type="text/plain",
    content="".join(f"{n} 503 it failed\n" for n in range(900)),
)


async def test_an_attachment_is_sent_as_a_file_that_the_model_reads_in_parts(
    open_app: OpenApp,
) -> None:
    said = list[ChatRequest]()

    def turn(request: ChatRequest) -> Sequence[Step]:
        said.append(request)
        if request.messages[-1].role == "tool":
            return [TextDelta("it failed"), Completed(finish="stop")]
        [handle] = re.findall(r"read_output call=(\w+) start=1 end=200", request.messages[-1].text)
        args = {"call": handle, "start": 899, "end": 900}
        return [ToolCallArrived(ToolCallPart("c", "read_output", args)), Completed(finish="stop")]

    model = Scripted(turn, window=1024)
    async with tools_open(open_app, model, reader(), settings=SMALL) as (app, pilot):
        await put(app, pilot, "What is wrong?", LOG)
        assert "f app.log as a file the model reads in parts" in offered(app)
        await answer(app, pilot, "f")
        assert "Attached as a file · Enter sends it again" in state(app)
        await pilot.press("enter")
        await settled(app, pilot)
        assert stream(app)[-1] == "┃ it failed"
        assert "app.log · 900 lines · read in parts" in "\n".join(stream(app))
    asked, read = said
    assert "read_output" in [tool.name for tool in asked.tools]
    assert "0 503 it failed" in asked.messages[-1].text and len(asked.messages[-1].text) < 1000
    assert "[lines 899-900 of 900]\n898 503 it failed\n899 503 it failed" in read.messages[-1].text


async def test_a_long_text_becomes_a_file_itself(open_app: OpenApp) -> None:
    async with tools_open(open_app, brief(), reader(), settings=SMALL) as (app, pilot):
        await put(app, pilot, "word " * 1500)
        assert "f message as a file the model reads in parts" in offered(app)
        await answer(app, pilot, "f")
        assert prompt(app).text.startswith("Read my message in the file and answer it.")
        await pilot.press("enter")
        await settled(app, pilot)
        assert stream(app)[-1] == "┃ fine"


@pytest.mark.more
async def test_a_model_without_tools_reads_no_file_in_parts_and_that_is_said(
    open_app: OpenApp,
) -> None:
    async with open_app(brief(), settings=SMALL, size=(120, 30)) as (app, pilot):
        await put(app, pilot, "What is wrong?", LOG)
        assert "1 without app.log" in offered(app) and "in parts" not in offered(app)
        await answer(app, pilot, "f")
        assert "Needs a model with tools" in state(app)
        assert "1 without app.log" in offered(app)
