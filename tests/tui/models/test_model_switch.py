"""Another model in the middle of a session: its effect is told first, and where it began after."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from ollm_tui.core.provider import Capabilities, Completed, ModelInfo, TextDelta
from ollm_tui.core.session.message import Message, Text
from ollm_tui.core.session.session import Session
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.providers.scripted import Script, Scripted
from ollm_tui.settings.schema import Compression, Settings
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.kit.question import Confirmation
from ollm_tui.tui.models.model_picker import REST_SECONDS
from ollm_tui.tui.stream.entries.message_entries import branch_entries
from tests.cases import some
from tests.tui.conftest import OpenApp
from tests.tui.dialog_host import shown
from tests.tui.seen import chat, send, settled, state, stream
from tests.tui.typing_in import type_in

WINDOWS = {"scripted": 8192, "small": 512, "middle": 4096}


class Three(Scripted):
    """A server with three models of different windows."""

    async def list_models(self) -> tuple[ModelInfo, ...]:
        return tuple(ModelInfo(name=name) for name in WINDOWS)

    async def default_model(self) -> str:
        return "scripted"

    async def capabilities(self, model: str) -> Capabilities:
        return Capabilities(window=WINDOWS[model], tools=False)


def three() -> Three:
    more = " ".join(f"More words {number}." for number in range(0, 750, 3))
    return Three(lambda request: [TextDelta(f"I am {request.model}. {more}")])


async def picked(app: OllmApp, pilot: Pilot[int], name: str) -> None:
    """The picker, with one model highlighted and told about."""
    await pilot.press("f7")
    await type_in(pilot, name)
    await pilot.pause(REST_SECONDS * 2)
    await settled(app, pilot)


def about(app: OllmApp) -> str:
    return str(app.screen.query_one("#about", Static).content)


async def test_the_picker_says_how_full_the_window_would_be_before_enter(
    open_app: OpenApp,
) -> None:
    async with open_app(three()) as (app, pilot):
        await send(app, pilot, "hello")
        await picked(app, pilot, "middle")
        assert "of 4.1k (" in about(app)
        assert "of 4.1k (" in about(app) and " %)" in about(app)
        assert chat(app).chat.conversation.choice.model == "scripted", "nothing is switched yet"
        await pilot.press("enter")
        await settled(app, pilot)
        assert chat(app).chat.conversation.choice.model == "middle"
        assert "Model: middle · window 8,192 → 4,096, context ≈" in state(app)


@some(
    1,
    ("compresses", "then"),
    ((False, "fold something before the next"), (True, "it will be compressed before")),
)
async def test_a_model_that_is_too_small_says_so_in_the_picker_and_asks(
    open_app: OpenApp, compresses: bool, then: str
) -> None:
    settings = Settings(compression=Compression(enabled=compresses))
    async with open_app(three(), settings=settings) as (app, pilot):
        await send(app, pilot, "hello")
        await picked(app, pilot, "small")
        assert "context too long (≈" in about(app)
        assert f"435 fit); {then}" in about(app)
        await pilot.press("enter")
        await settled(app, pilot)
        assert isinstance(app.screen, Confirmation)
        await pilot.press("y")
        await settled(app, pilot)
        assert chat(app).chat.conversation.choice.model == "small"


@pytest.mark.more
async def test_after_an_undo_a_model_that_is_too_small_refuses_nothing(open_app: OpenApp) -> None:
    async with open_app(three()) as (app, pilot):
        for _ in range(4):
            await send(app, pilot, "hello")
        await send(app, pilot, "/compact --truncate")
        await send(app, pilot, "/undo")
        assert chat(app).chat.conversation.compression.history[-1].undone_at
        words = chat(app).chat.conversation.context().words
        assert words.startswith("compresses when full, at 7.0k"), "the limit"
        await picked(app, pilot, "small")
        assert "435 fit); it will be compressed before the next message" in about(app)


async def test_a_named_model_that_fits_is_used_at_once(open_app: OpenApp) -> None:
    async with open_app(three()) as (app, pilot):
        await send(app, pilot, "hello")
        await send(app, pilot, "/model middle")
        assert chat(app).chat.conversation.choice.model == "middle"


@some(2, ("key", "model"), (("y", "small"), ("n", "scripted"), ("escape", "scripted")))
async def test_a_named_model_that_is_too_small_is_used_only_after_a_yes(
    open_app: OpenApp, key: str, model: str
) -> None:
    async with open_app(three()) as (app, pilot):
        await send(app, pilot, "hello")
        await send(app, pilot, "/model small")
        assert isinstance(app.screen, Confirmation)
        assert "Switch to small anyway?" in shown(app)
        assert "context too long" in shown(app)
        await pilot.press(key)
        await settled(app, pilot)
        assert chat(app).chat.conversation.choice.model == model


@pytest.mark.more
async def test_in_an_empty_session_the_window_is_told_and_nobody_asks(open_app: OpenApp) -> None:
    async with open_app(three()) as (app, pilot):
        await picked(app, pilot, "small")
        assert about(app).startswith("Window 512\n")
        await pilot.press("enter")
        await settled(app, pilot)
        assert chat(app).chat.conversation.choice.model == "small"


async def test_a_model_chosen_while_the_session_was_being_opened_answers_in_it(
    open_app: OpenApp,
) -> None:
    async with open_app(three()) as (app, pilot):
        conversation = chat(app).chat.conversation
        chat(app).bring_to_front(None)  # as long as it is not open yet
        await picked(app, pilot, "middle")
        chat(app).show_conversation(conversation, ())
        await pilot.press("enter")
        await settled(app, pilot)
        assert chat(app).chat.conversation is conversation
        assert conversation.choice.model == "middle"


@pytest.mark.more
async def test_while_the_model_answers_no_other_one_is_taken(open_app: OpenApp) -> None:
    async with open_app(three()) as (app, pilot):
        chat(app).chat.is_busy = True
        await send(app, pilot, "/model middle")
        assert "Still answering" in state(app)
        assert chat(app).chat.conversation.choice.model == "scripted"
        chat(app).chat.is_busy = False


async def test_the_stream_shows_where_another_model_answers_also_after_reopening(
    open_app: OpenApp,
) -> None:
    note = "Switched to middle"
    done = Completed(finish="stop")
    brief = Three(lambda request: [TextDelta(f"I am {request.model}."), done])
    async with open_app(brief) as (app, pilot):
        await send(app, pilot, "one")
        await send(app, pilot, "/model middle")
        assert not any(note in line for line in stream(app)), "nothing was answered yet"
        await send(app, pilot, "two")
        await send(app, pilot, "three")
        live = stream(app)
        session_id = chat(app).chat.conversation.session_id
        await chat(app).chat.conversation.save()
    assert sum(note in line for line in live) == 1
    at = next(n for n, line in enumerate(live) if note in line)
    assert "two" in live[at - 1] and "I am middle" in live[at + 1]
    async with open_app(brief, session_id=session_id) as (app, pilot):
        assert stream(app) == live


@pytest.mark.more
async def test_the_full_name_a_server_answers_with_is_not_another_model(open_app: OpenApp) -> None:
    script: Script = [
        [TextDelta("One."), Completed(finish="stop", model="scripted-2024-08-06")],
        [TextDelta("Two."), Completed(finish="stop", model="scripted:latest")],
    ]
    async with open_app(script) as (app, pilot):
        await send(app, pilot, "one")
        await send(app, pilot, "two")
        assert not any("Switched to" in line for line in stream(app))


def test_only_replies_of_another_model_are_announced() -> None:
    models = (None, "a", None, "a", None, "b-mini", None, None, None, "b")
    messages = tuple(
        Message(str(n), "assistant" if n % 2 else "user", (Text("x"),), "", model=model)
        for n, model in enumerate(models)
    )
    chained = tuple(
        Message(m.id, m.role, m.parts, "", parent_id=str(n - 1) if n else None, model=m.model)
        for n, m in enumerate(messages)
    )
    session = Session(
        session_id="s",
        start_time="",
        last_activity="",
        model="a",
        provider="p",
        messages=chained,
        head="9",
    )
    keys = [entry.key for entry in branch_entries(SessionState(session))]
    assert [key for key in keys if key.startswith("model-")] == ["model-5", "model-9"]
    assert keys.index("model-5") + 1 == keys.index("5")
