"""The context from the chat: pins, what is left out or folded, and modes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.pilot import Pilot

from ollm_tui.core.provider import TextDelta
from ollm_tui.core.session.context_marks import Marks
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.providers.scripted import Script, Scripted
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.context.prompt_screen import PromptScreen
from ollm_tui.tui.context.screen import ContextScreen
from ollm_tui.tui.kit.picker import Picker
from tests.cases import some
from tests.tui.conftest import OpenApp
from tests.tui.dialog_host import shown
from tests.tui.seen import chat, gauge, send, settled, state
from tests.tui.typing_in import type_in

STORY = "".join(
    f"A long story about many small things that happened on day {day}. " for day in range(0, 120, 3)
)


async def slash(app: OllmApp, pilot: Pilot[int], text: str) -> None:
    await send(app, pilot, text)


def conversation(app: OllmApp) -> Conversation:
    assert app.conversation
    return app.conversation


def marks(app: OllmApp) -> list[str]:
    held = conversation(app).state
    kept = Marks.of(held.header.metadata)
    return [kept.mark(message.id) for message in held.branch()]


# Looking


async def test_slash_context_opens_the_breakdown(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await slash(app, pilot, "/context")
        assert isinstance(app.screen, ContextScreen)


async def test_slash_context_show_opens_the_prompt(open_app: OpenApp) -> None:
    async with open_app([[TextDelta("hello")]]) as (app, pilot):
        await send(app, pilot, "hi")
        await slash(app, pilot, "/context show")
        assert isinstance(app.screen, PromptScreen) and "── assistant ──" in shown(app)
        await pilot.press("escape")
        assert app.screen is chat(app)


async def test_slash_context_export_writes_the_prompt(open_app: OpenApp) -> None:
    async with open_app([[TextDelta("hello")]]) as (app, pilot):
        await send(app, pilot, "hi")
        await slash(app, pilot, "/context export out.txt")
        assert "Prompt written to " in state(app)
        text = Path("out.txt").read_text(encoding="utf-8")
        assert text == conversation(app).prompt_text() + "\n"
        await slash(app, pilot, "/context export out.txt")
        assert "already exists" in state(app)


@pytest.mark.more
async def test_slash_context_with_something_else_says_what_there_is(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await slash(app, pilot, "/context exports")
        there_is = (
            "show, export FILE, add, project, remove, list, refresh, clear, snapshot, or nothing"
        )
        assert there_is in state(app)


# Marks


@pytest.mark.parametrize(
    ("key", "typed", "mark", "word", "reverse"),
    [
        ("p", "/pin", "pinned", "pin", "unpin"),
        ("x", "/leaveout", "excluded", "exclude", "include"),
        ("z", "/fold", "folded", "fold", "unfold"),
    ],
)
async def test_a_key_in_the_stream_marks_the_message_and_again_takes_it_back(
    open_app: OpenApp, key: str, typed: str, mark: str, word: str, reverse: str
) -> None:
    async with open_app([[TextDelta(STORY)]]) as (app, pilot):
        await send(app, pilot, "hi")
        await pilot.press("alt+up", key)
        await settled(app, pilot)
        assert marks(app) == ["", mark] and state(app).startswith(f"{word}: ")
        await pilot.press(key)
        await settled(app, pilot)
        assert marks(app) == ["", ""] and state(app).startswith(f"{reverse}: ")
        await pilot.press("escape")
        await slash(app, pilot, typed)
        assert marks(app) == ["", mark], "without a cursor it is the last message"


async def test_the_gauge_reacts_to_what_is_left_out(open_app: OpenApp) -> None:
    async with open_app([[TextDelta(STORY)]]) as (app, pilot):
        await send(app, pilot, "hi")
        before = gauge(app)
        await pilot.press("alt+up", "x")
        await settled(app, pilot)
        assert gauge(app) != before


@pytest.mark.more
async def test_several_marked_messages_are_changed_together(open_app: OpenApp) -> None:
    async with open_app([[TextDelta("one")], [TextDelta("two")]]) as (app, pilot):
        await send(app, pilot, "a")
        await send(app, pilot, "b")
        await slash(app, pilot, "/leaveout")
        assert marks(app) == ["", "", "", "excluded"]
        await pilot.press("alt+up", "K", "K", "x")
        await settled(app, pilot)
        assert marks(app) == ["", "excluded", "excluded", "excluded"]
        await pilot.press("x")
        await settled(app, pilot)
        assert marks(app) == [""] * 4


async def test_what_is_left_out_is_not_sent(open_app: OpenApp) -> None:
    model = Scripted([[TextDelta("secret")], [TextDelta("two")]])
    async with open_app(model) as (app, pilot):
        await send(app, pilot, "a")
        await slash(app, pilot, "/leaveout")
        await send(app, pilot, "b")
        sent = " ".join(message.text for message in model.requests[-1].messages)
        assert "secret" not in sent and "b" in sent


@pytest.mark.more
async def test_without_a_message_there_is_nothing_to_mark(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await slash(app, pilot, "/pin")
        assert "No message" in state(app)


@some(1, "typed", ["/pin", "/goal x", "/decide x", "/mode planning"])
async def test_while_the_model_answers_the_context_stays(open_app: OpenApp, typed: str) -> None:
    free = asyncio.Event()
    script: Script = [[TextDelta("one"), free]]
    async with open_app(script) as (app, pilot):
        await pilot.press("a", "enter")
        while not chat(app).chat.is_busy:
            await pilot.pause(0.02)
        before = conversation(app).state.header.metadata
        await type_in(pilot, typed)
        await pilot.press("enter")
        await pilot.pause()
        assert "Still answering" in state(app)
        assert conversation(app).state.header.metadata == before
        free.set()
        await settled(app, pilot)


# Modes


async def test_alt_m_chooses_a_mode_and_says_what_each_does(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await pilot.press("alt+m")
        await pilot.pause()
        assert isinstance(app.screen, Picker)
        assert "system prompt only" in shown(app)
        await pilot.press("down")
        await pilot.pause()
        assert "You make plans." in shown(app)
        await pilot.press("enter")
        await settled(app, pilot)
        assert conversation(app).mode.name == "planning"
        assert "Mode: planning" in state(app)
        change = conversation(app).state.header.metadata.mode_history[-1]
        assert (change.to, change.trigger) == ("planning", "manual")


async def test_slash_mode_takes_a_name(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await slash(app, pilot, "/mode developer")
        assert conversation(app).mode.name == "developer"
        assert conversation(app).state.header.metadata.mode_history[-1].trigger == "command"
        await slash(app, pilot, "/mode chef")
        assert "No mode 'chef'" in state(app)
