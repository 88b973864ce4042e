"""The first screen: what it shows at each size, its keys, and that it goes when typing starts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.events import AppBlur
from textual.pilot import Pilot

from ollm_tui.core.provider import ChatRequest, Completed, ModelInfo, TextDelta
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.providers.scripted import Scripted, Turn
from ollm_tui.settings.schema import Settings
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.chat.welcome import DEMONSTRATION, Welcome
from ollm_tui.tui.chat.words import BETTER_MODEL, MARK
from ollm_tui.tui.keymap import Hints
from tests.cases import some
from tests.engine.conftest import workspace_on
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, prompt, send, settled, stream, title
from tests.tui.typing_in import type_in


class Lesson(App[None]):
    """Nothing but the first screen."""

    def compose(self) -> ComposeResult:
        yield Welcome()

    @property
    def words(self) -> str:
        welcome = self.query_one(Welcome)
        return str(welcome.render()) if welcome.display else ""

    def teach(self, conversation: Conversation | None, keymap: Mapping[str, str]) -> None:
        self.query_one(Welcome).teach(conversation, Hints(keymap))


class Small(Scripted):
    """Answers as the embedded model."""

    async def list_models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo(name=DEMONSTRATION[1]),)


def echo(request: ChatRequest) -> Turn:
    return [TextDelta(f"To {request.messages[-1].text}"), Completed(finish="stop")]


def first_screen(app: OllmApp) -> str:
    """What the first screen says; empty if it is not there."""
    welcome = chat(app).query_one(Welcome)
    return str(welcome.render()) if welcome.display else ""


async def begin_another(app: OllmApp, pilot: Pilot[int]) -> None:
    before = app.conversation
    await pilot.press("ctrl+n")
    while app.conversation is before:
        await pilot.pause(0.02)
    await settled(app, pilot)


async def test_it_names_the_model_where_it_runs_and_keys_as_they_are_mapped(home: Path) -> None:
    workspace = workspace_on(home, (), Settings())
    async with Lesson().run_test(size=(60, 14)) as pilot:
        app = pilot.app
        assert isinstance(app, Lesson)
        assert app.words == ""
        app.teach(await workspace.begin(), {"model.choose": "f11"})
        await pilot.pause()
        assert "scripted · this machine" in app.words and MARK[0] in app.words
        assert "F11 switch model" in app.words and BETTER_MODEL[1] not in app.words
        assert all(len(line) <= 58 for line in app.words.splitlines())
    await workspace.close()


@pytest.mark.more
async def test_the_small_embedded_model_is_called_small_and_a_better_one_named(home: Path) -> None:
    workspace = workspace_on(home, Small(name=DEMONSTRATION[0]), Settings())
    async with Lesson().run_test(size=(60, 14)) as pilot:
        app = pilot.app
        assert isinstance(app, Lesson)
        app.teach(await workspace.begin(model=DEMONSTRATION[1]), {})
        await pilot.pause()
        assert all(line in app.words for line in BETTER_MODEL)
        assert all(len(line) <= 58 for line in app.words.splitlines())
    await workspace.close()


@some(4, "rows", range(1, 14))
async def test_it_never_takes_more_rows_than_there_are(home: Path, rows: int) -> None:
    workspace = workspace_on(home, Small(name=DEMONSTRATION[0]), Settings())
    async with Lesson().run_test(size=(60, rows)) as pilot:
        app = pilot.app
        assert isinstance(app, Lesson)
        app.teach(await workspace.begin(model=DEMONSTRATION[1]), {})
        await pilot.pause()
        assert len(app.words.splitlines()) <= rows
        assert "this machine" in app.words
    await workspace.close()


async def test_it_goes_when_typing_starts_and_is_back_when_nothing_was_said(
    open_app: OpenApp,
) -> None:
    async with open_app(Scripted(echo)) as (app, pilot):
        assert first_screen(app)
        await pilot.press("h")
        assert first_screen(app) == ""
        await pilot.press("backspace")
        assert first_screen(app)
        await send(app, pilot, "hello")
        assert first_screen(app) == "" and "┃ To hello" in stream(app)


@some(1, "size", ((60, 20), (80, 24), (200, 50)))
async def test_a_key_resumes_one_of_the_last_three_sessions(
    open_app: OpenApp, size: tuple[int, int]
) -> None:
    async with open_app(Scripted(echo), size=size) as (app, pilot):
        for words in ("one", "two", "three", "four"):
            await send(app, pilot, words)
            await begin_another(app, pilot)
        keys = [line.split()[:2] for line in first_screen(app).splitlines() if "Alt+" in line]
        assert keys == [["Alt+1", "four"], ["Alt+2", "three"], ["Alt+3", "two"]]
        await pilot.press("alt+2")
        await settled(app, pilot)
        assert "┃ To three" in stream(app) and first_screen(app) == ""


async def test_the_keys_lead_to_open_conversations_while_there_are_some(open_app: OpenApp) -> None:
    def slowly(request: ChatRequest) -> Turn:
        return [TextDelta(f"To {request.messages[-1].text}"), asyncio.Event()]

    async with open_app(Scripted(slowly), size=(120, 30)) as (app, pilot):
        await type_in(pilot, "one")
        await pilot.press("enter")
        while "┃ To one" not in stream(app):
            await pilot.pause(0.02)
        before = app.conversation
        await pilot.press("ctrl+n")
        while app.conversation is before or not first_screen(app):
            await pilot.pause(0.02)
        assert "Alt+" not in first_screen(app)
        await pilot.press("alt+1")
        while "┃ To one" not in stream(app):
            await pilot.pause(0.02)


async def test_what_is_wrong_with_the_settings_stands_above_it(open_app: OpenApp) -> None:
    settings = Settings(keymap={"nothing.like_it": "f11"})
    async with open_app(Scripted(echo), settings=settings) as (app, pilot):
        await pilot.pause()
        assert any("nothing.like_it" in line for line in stream(app))
        assert "this machine" in first_screen(app)


async def test_a_command_that_ran_takes_its_place(open_app: OpenApp) -> None:
    async with open_app(Scripted(echo)) as (app, pilot):
        await send(app, pilot, "!echo here")
        while not any("here" in line for line in stream(app)):
            await pilot.pause(0.02)
        assert first_screen(app) == ""


async def test_the_model_and_a_session_can_be_clicked(open_app: OpenApp) -> None:
    async with open_app(Scripted(echo), size=(80, 24)) as (app, pilot):
        await send(app, pilot, "one")
        await begin_another(app, pilot)
        region = chat(app).query_one(Welcome).region
        rows = [chat(app).query_one(Welcome).render_line(y).text for y in range(region.height)]
        [at] = [number for number, row in enumerate(rows) if "Alt+1" in row]
        await pilot.click(Welcome, offset=(rows[at].index("one"), at))
        await settled(app, pilot)
        assert "┃ To one" in stream(app)
        width = title(app)[1]
        await pilot.click("#title .right", offset=(3, 0))
        await pilot.pause()
        assert app.screen is not chat(app), width


@pytest.mark.more
async def test_hints_at_the_bottom_can_be_clicked(open_app: OpenApp) -> None:
    async with open_app(Scripted(echo), size=(80, 24)) as (app, pilot):
        await pilot.click("#status .left", offset=(3, 0))
        await pilot.pause()
        assert app.screen is not chat(app)


@pytest.mark.more
async def test_another_window_that_has_the_focus_changes_no_hint(open_app: OpenApp) -> None:
    async with open_app(Scripted(echo)) as (app, pilot):
        before = str(chat(app).query_one("#status .left").render())
        app.post_message(AppBlur())
        while prompt(app).has_focus:
            await pilot.pause(0.02)
        chat(app).lines.show_state()
        assert str(chat(app).query_one("#status .left").render()) == before
