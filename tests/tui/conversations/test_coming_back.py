"""Coming back to a conversation: what happened behind is told, and what was open there is not
shown in another one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from textual.pilot import Pilot

from ollm_tui.core.compression_events import CompressionFailed
from ollm_tui.core.errors import ProviderError
from ollm_tui.core.events import SnapshotFailed
from ollm_tui.core.provider import ChatRequest
from ollm_tui.providers.scripted import Scripted, Step
from ollm_tui.settings.schema import Interface, ProviderSettings, Settings
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.browser.session_list import SessionList
from ollm_tui.tui.conversations.standing import Standing
from ollm_tui.tui.conversations.words import quit_words
from ollm_tui.tui.kit.find_bar import FindBar
from tests.tui.conftest import OpenApp
from tests.tui.conversations.test_several_conversations import (
    Answers,
    ask,
    begin_another,
    tabs,
)
from tests.tui.seen import chat, settled, stream
from tests.tui.typing_in import type_in


async def until_seen(app: OllmApp, pilot: Pilot[int], text: str) -> None:
    while text not in " ".join(stream(app)):
        await pilot.pause(0.02)


async def over(app: OllmApp, pilot: Pilot[int]) -> None:
    """What runs in the conversation that is shown has ended; others go on."""
    while chat(app).chat.is_busy:
        await pilot.pause(0.02)
    await pilot.pause()


async def test_an_answer_that_failed_behind_says_what_to_do(open_app: OpenApp) -> None:
    gate = asyncio.Event()

    def answer(_: ChatRequest) -> Sequence[Step]:
        return [gate, ProviderError("the server broke", "start it again")]

    async with open_app(Scripted(answer), size=(120, 30)) as (app, pilot):
        await type_in(pilot, "one")
        await pilot.press("enter")
        while not chat(app).chat.is_busy:
            await pilot.pause(0.02)
        await begin_another(app, pilot)
        gate.set()
        while "✗" not in tabs(app):
            await pilot.pause(0.02)
        await pilot.press("alt+1")
        await until_seen(app, pilot, "Start it again")


async def test_what_no_record_tells_is_there_after_coming_back(open_app: OpenApp) -> None:
    answers = Answers("one")
    async with open_app(Scripted(answers), size=(120, 30)) as (app, pilot):
        await ask(app, pilot, "one")
        one = chat(app).chat
        failed = SnapshotFailed(one.conversation.session_id, "no snapshot", "free some space")
        one.turn_display.note_missing_snapshot(failed)
        await begin_another(app, pilot)
        one.take(CompressionFailed("no summary", "try again", "ProviderError"))
        answers.gates["one"].set()
        while "✗" not in tabs(app):
            await pilot.pause(0.02)
        await pilot.press("alt+1")
        await until_seen(app, pilot, "Free some space")
        await until_seen(app, pilot, "no summary")


async def test_what_waits_is_sent_behind_although_a_mode_might_be_suggested(
    open_app: OpenApp,
) -> None:
    answers = Answers("one")
    settings = Settings(ui=Interface(suggest_modes=True))
    async with open_app(Scripted(answers), size=(120, 30), settings=settings) as (app, pilot):
        await ask(app, pilot, "one")
        await type_in(pilot, "next")
        await pilot.press("enter")
        await begin_another(app, pilot)
        answers.gates["one"].set()
        one = app.conversations[0]
        while [each.text for each in one.state.branch()][-1] != "To next: done":
            await pilot.pause(0.02)
        await settled(app, pilot)


async def test_a_wait_is_counted_from_its_beginning(open_app: OpenApp) -> None:
    answers = Answers("one")
    settings = Settings(providers={"scripted": ProviderSettings(parallel=1)})
    async with open_app(Scripted(answers), size=(120, 30), settings=settings) as (app, pilot):
        await ask(app, pilot, "one")
        await begin_another(app, pilot)
        await type_in(pilot, "two")
        await pilot.press("enter")
        await until_seen(app, pilot, "2nd in line behind one")
        while "· 0 s" in " ".join(stream(app)):
            await pilot.pause(0.02)
        await pilot.press("alt+1")
        await until_seen(app, pilot, "To one:")
        await pilot.press("alt+2")
        await until_seen(app, pilot, "2nd in line behind one")
        assert "· 0 s" not in " ".join(stream(app))
        answers.gates["one"].set()
        await until_seen(app, pilot, "To two: done")
        await settled(app, pilot)


async def test_the_find_bar_stays_with_its_conversation(open_app: OpenApp) -> None:
    answers = Answers("one")
    async with open_app(Scripted(answers), size=(120, 30)) as (app, pilot):
        await ask(app, pilot, "one")
        await type_in(pilot, "/find one")
        await pilot.press("enter")
        while not any(bar.display for bar in app.screen.query(FindBar)):
            await pilot.pause(0.02)
        await chat(app).action_command("session.new")
        assert not app.screen.query_one(FindBar).display
        await type_in(pilot, "two")
        await pilot.press("enter")
        await until_seen(app, pilot, "To two: done")
        answers.gates["one"].set()
        await settled(app, pilot)


async def test_the_sidebar_highlights_the_conversation_that_is_shown(open_app: OpenApp) -> None:
    answers = Answers("one", "two")
    async with open_app(Scripted(answers), size=(120, 30)) as (app, pilot):
        await ask(app, pilot, "one")
        await begin_another(app, pilot)
        await ask(app, pilot, "two")
        sidebar = app.screen.query_one(SessionList)
        for number, conversation in enumerate(app.conversations, 1):
            await pilot.press(f"alt+{number}")
            while sidebar.highlighted_key != conversation.session_id:
                await pilot.pause(0.02)
        for gate in answers.gates.values():
            gate.set()


async def test_one_that_takes_the_place_of_another_takes_its_number(open_app: OpenApp) -> None:
    answers = Answers("one", "two", "three")
    async with open_app(Scripted(answers), size=(120, 30)) as (app, pilot):
        for number, name in enumerate(answers.gates):
            if number:
                await begin_another(app, pilot)
            await ask(app, pilot, name)
        await pilot.press("alt+2")
        answers.gates["two"].set()
        await until_seen(app, pilot, "To two: done")
        await over(app, pilot)
        await begin_another(app, pilot)  # the second one is at rest, and is closed
        assert tabs(app) == "1 one ✎   2 New session   3 three ✎"
        for gate in answers.gates.values():
            gate.set()


def test_a_narrow_line_still_names_what_quitting_ends() -> None:
    titles = ("Write a story", "A poem about the sea", "Ten trees", "Rivers of Africa")
    running = [Standing(title, title, at, "writing", False) for at, title in enumerate(titles, 1)]
    *named, counted = quit_words(running, "")
    assert counted == "Still running: 4 answers. Press again to quit"
    assert named[0].startswith(f"Still running: {', '.join(titles)}. ")
    assert named[-1] == "Running: Write…, A poem…, Ten tr…, Rivers…. Press again to quit"
    assert sorted(named, key=len, reverse=True) == named
