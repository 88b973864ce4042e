"""The sidebar is there again after a restart, and takes nothing from the prompt."""

from __future__ import annotations

import asyncio

import pytest
from textual.widget import Widget

from ollm_tui.core.provider import TextDelta
from ollm_tui.providers.scripted import Scripted
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.browser.sidebar import ChatSidebar
from ollm_tui.tui.compression.compression_run import display_of
from ollm_tui.tui.compression.panel import CompressionPanel
from tests.tui.compression_samples import summarising
from tests.tui.conftest import OpenApp
from tests.tui.dialog_host import shown
from tests.tui.jobs_desk import until
from tests.tui.seen import chat, prompt, send, settled
from tests.tui.typing_in import type_in


def stream_is_shown(app: OllmApp) -> bool:
    """Whether the stream and all it stands in are displayed."""
    path = chat(app).transcript.ancestors_with_self
    return all(each.display for each in path if isinstance(each, Widget))


def sessions_shown(app: OllmApp) -> str:
    """The lines of the sidebar."""
    rows = chat(app).query_one(ChatSidebar).session_list
    return "\n".join(rows.render_line(y).text for y in range(rows.size.height))


async def test_an_open_sidebar_is_open_again_after_a_restart(open_app: OpenApp) -> None:
    async with open_app(size=(100, 24)) as (app, pilot):
        assert not chat(app).query(ChatSidebar)
        await pilot.press("f2")
        await settled(app, pilot)
    async with open_app(size=(100, 24)) as (app, pilot):
        assert chat(app).query_one(ChatSidebar).display
        assert prompt(app).has_focus
        await pilot.press("f2", "f2")  # there, then away
        await settled(app, pilot)
        assert not chat(app).query_one(ChatSidebar).display
    async with open_app(size=(100, 24)) as (app, pilot):
        assert not chat(app).query(ChatSidebar)


@pytest.mark.more
async def test_on_a_narrow_terminal_the_conversation_is_shown_first(open_app: OpenApp) -> None:
    async with open_app(size=(100, 24)) as (app, pilot):
        await pilot.press("f2")
        await settled(app, pilot)
    async with open_app(size=(60, 20)) as (app, pilot):
        assert not chat(app).query(ChatSidebar)
        assert stream_is_shown(app)


@pytest.mark.more
async def test_a_terminal_that_becomes_narrow_shows_the_conversation(open_app: OpenApp) -> None:
    async with open_app(size=(120, 30)) as (app, pilot):
        await pilot.resize_terminal(60, 20)
        await settled(app, pilot)
        assert not chat(app).query_one(ChatSidebar).display and stream_is_shown(app)
        await pilot.press("f2")
        await settled(app, pilot)
        assert chat(app).query_one(ChatSidebar).has_focus_within
        assert not stream_is_shown(app)
        await pilot.press("escape")
        await settled(app, pilot)
        assert prompt(app).has_focus and stream_is_shown(app)
        await pilot.resize_terminal(120, 30)
        await settled(app, pilot)
        assert chat(app).query_one(ChatSidebar).display


async def test_it_gives_way_to_a_pane_beside_the_stream_where_room_is_short(
    open_app: OpenApp,
) -> None:
    async with open_app(size=(120, 30)) as (app, pilot):
        sidebar = chat(app).query_one(ChatSidebar)
        display = display_of(chat(app).chat)
        await pilot.pause()
        for event in summarising():
            display.take(event)
        await until(pilot, lambda: not sidebar.display)
        panel = chat(app).query_one(CompressionPanel)
        await until(pilot, lambda: panel.size.width > 50 and chat(app).transcript.size.width > 50)
        await pilot.press("f2")  # whoever wants it has it
        await until(pilot, lambda: sidebar.display and sidebar.has_focus_within)
        await pilot.press("escape")
        await until(pilot, lambda: not sidebar.display)
        await pilot.resize_terminal(150, 30)
        await until(pilot, lambda: sidebar.display and panel.display)
        await pilot.resize_terminal(120, 30)
        await until(pilot, lambda: not sidebar.display)
        panel.leave()
        await until(pilot, lambda: sidebar.display and not panel.display)
        assert prompt(app).has_focus


async def test_on_a_wide_terminal_it_is_open_until_somebody_closes_it(open_app: OpenApp) -> None:
    async with open_app(size=(120, 30)) as (app, pilot):
        assert chat(app).query_one(ChatSidebar).display
        assert prompt(app).has_focus
        await pilot.press("f2", "f2")
        await settled(app, pilot)
    async with open_app(size=(120, 30)) as (app, pilot):
        assert not chat(app).query(ChatSidebar)


async def test_a_terminal_that_becomes_wide_shows_the_sessions_until_it_is_narrower_again(
    open_app: OpenApp,
) -> None:
    async with open_app(size=(80, 24)) as (app, pilot):
        assert not chat(app).query(ChatSidebar)
        await pilot.resize_terminal(140, 30)
        await until(pilot, lambda: bool(chat(app).query("#sidebar.-unasked")))
        assert chat(app).query_one(ChatSidebar).display and prompt(app).has_focus
        await pilot.resize_terminal(90, 24)
        await settled(app, pilot)
        assert not chat(app).query_one(ChatSidebar).display
        await pilot.press("f2", "escape")
        await settled(app, pilot)
        assert chat(app).query_one(ChatSidebar).display  # asked for


async def test_titles_have_more_room_where_there_is_more(open_app: OpenApp) -> None:
    title = "why does the upload retry?"
    async with open_app([[TextDelta("fine")]], size=(200, 50)) as (app, pilot):
        await send(app, pilot, title)
        await until(pilot, lambda: title in sessions_shown(app))
        await pilot.resize_terminal(120, 30)
        await until(pilot, lambda: title not in sessions_shown(app))
        assert "why does the" in sessions_shown(app)


async def test_a_session_is_listed_from_its_first_message_on(open_app: OpenApp) -> None:
    goes_on = asyncio.Event()
    async with open_app(Scripted([[goes_on, TextDelta("fine")]]), size=(120, 30)) as (app, pilot):
        assert "No sessions yet" in shown(app)
        await type_in(pilot, "where are the keys?")
        await pilot.press("enter")
        try:
            await until(pilot, lambda: "No sessions yet" not in shown(app))
            assert "writing" in shown(app)
        finally:
            goes_on.set()
        await settled(app, pilot)
