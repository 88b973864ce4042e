"""A session beside the one at hand: shown live, quoted from, brought from, closed."""

from __future__ import annotations

import asyncio

import pytest
from textual.pilot import Pilot

from ollm_tui.core.provider import TextDelta
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.beside.beside_pane import BesidePane, BesideStream
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, prompt, send, settled, state
from tests.tui.typing_in import type_in

SCRIPT = [[TextDelta("Herons fish.")], [TextDelta("Owls hunt.")]]
WIDE = (130, 30)


def pane(app: OllmApp) -> BesidePane:
    return chat(app).query_one(BesidePane)


def lines(app: OllmApp) -> list[str]:
    drawn = pane(app).stream
    return [drawn.render_line(y).text.strip() for y in range(drawn.size.height)]


async def two_sessions(app: OllmApp, pilot: Pilot[int]) -> str:
    """Two sessions, the second one open; returns the id of the first."""
    await send(app, pilot, "About herons")
    first = chat(app).chat.conversation.session_id
    await send(app, pilot, "/new")
    await send(app, pilot, "About owls")
    return first


async def shown(app: OllmApp, pilot: Pilot[int], words: str) -> None:
    """Waits until the session beside shows words."""
    while not any(words in line for line in lines(app)):
        await pilot.pause(0.01)


async def test_a_session_is_shown_beside_by_words_of_its_title(open_app: OpenApp) -> None:
    async with open_app(SCRIPT, size=WIDE) as (app, pilot):
        first = await two_sessions(app, pilot)
        await send(app, pilot, "/beside herons")
        await shown(app, pilot, "Herons fish.")
        assert pane(app).session_id == first
        assert chat(app).chat.conversation.session_id != first
        assert pane(app).region.x > chat(app).transcript.region.x
        await pilot.pause()
        assert "q quote   g attach   Tab prompt   Esc close" in state(app), "its keys are told"
        await pilot.press("tab")
        assert "q quote" not in state(app)


async def test_it_follows_what_is_said_there(open_app: OpenApp) -> None:
    async with open_app(SCRIPT, size=WIDE) as (app, pilot):
        first = await two_sessions(app, pilot)
        await send(app, pilot, f"/beside {first[:8]}")
        await shown(app, pilot, "Herons fish.")
        other, _ = await app.workspace.resume(first)
        async for _ in other.send("More, please"):
            pass
        await shown(app, pilot, "More, please")
        await other.close()


async def test_a_message_is_quoted_by_key(open_app: OpenApp) -> None:
    async with open_app(SCRIPT, size=WIDE) as (app, pilot):
        await two_sessions(app, pilot)
        await send(app, pilot, "/beside herons")
        await shown(app, pilot, "Herons fish.")
        while pane(app).stream.cursor.key is None:  # the last message is meant at once
            await pilot.pause(0.01)
        await pilot.press("q")
        while not prompt(app).text:
            await pilot.pause(0.01)
        assert prompt(app).text == "> Herons fish.\n\n"
        assert prompt(app).has_focus


async def test_its_keys_are_told_while_an_answer_runs(open_app: OpenApp) -> None:
    gate = asyncio.Event()
    script = [*SCRIPT, [TextDelta("Wait."), gate]]
    async with open_app(script, size=WIDE) as (app, pilot):
        await two_sessions(app, pilot)
        await type_in(pilot, "More")
        await pilot.press("enter")
        while not chat(app).chat.is_busy:
            await pilot.pause(0.01)
        await type_in(pilot, "/beside herons")
        await pilot.press("enter")
        while not chat(app).query(BesidePane):
            await pilot.pause(0.01)
        await shown(app, pilot, "Herons fish.")
        await pilot.pause()
        assert state(app).startswith("q quote"), "Esc closes it here, and stops nothing"
        gate.set()
        await settled(app, pilot)


async def test_a_message_is_brought_whole_by_key(open_app: OpenApp) -> None:
    async with open_app(SCRIPT, size=WIDE) as (app, pilot):
        first = await two_sessions(app, pilot)
        await send(app, pilot, "/beside herons")
        await shown(app, pilot, "Herons fish.")
        await pilot.press("up", "down", "g")
        await pilot.pause()
        [brought] = prompt(app).written.attachments
        assert "Herons fish." in brought.content
        assert first[:8] in f"{brought.name} {brought.path}" or brought.name


@pytest.mark.more
async def test_escape_closes_it_and_goes_back_to_the_prompt(open_app: OpenApp) -> None:
    async with open_app(SCRIPT, size=WIDE) as (app, pilot):
        await two_sessions(app, pilot)
        await send(app, pilot, "/beside herons")
        await shown(app, pilot, "Herons fish.")
        await pilot.press("tab")
        assert prompt(app).has_focus
        await send(app, pilot, "/beside")
        assert isinstance(app.focused, BesideStream)
        await pilot.press("escape")
        await settled(app, pilot)
        assert not chat(app).query(BesidePane)
        assert prompt(app).has_focus


@pytest.mark.more
async def test_a_narrow_and_tall_terminal_shows_it_below(open_app: OpenApp) -> None:
    async with open_app(SCRIPT, size=(80, 40)) as (app, pilot):
        await two_sessions(app, pilot)
        await send(app, pilot, "/beside herons")
        await shown(app, pilot, "Herons fish.")
        assert pane(app).region.y > chat(app).transcript.region.y


async def test_without_room_one_line_says_so(open_app: OpenApp) -> None:
    async with open_app(SCRIPT) as (app, pilot):
        await two_sessions(app, pilot)
        await send(app, pilot, "/beside herons")
        assert not chat(app).query(BesidePane)
        assert "Window too small" in state(app)


@pytest.mark.more
async def test_an_unknown_name_and_the_session_at_hand_are_refused(open_app: OpenApp) -> None:
    async with open_app(SCRIPT, size=WIDE) as (app, pilot):
        await two_sessions(app, pilot)
        await send(app, pilot, "/beside zebras")
        assert "No session 'zebras'" in state(app)
        await send(app, pilot, "/beside owls")
        assert "That is the current session" in state(app)
        assert not chat(app).query(BesidePane)
