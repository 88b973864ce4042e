"""The sidebar is there again after a restart, and takes nothing from the prompt."""

from __future__ import annotations

from ollm_tui.tui.browser.sidebar import ChatSidebar
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, prompt, settled


async def test_an_open_sidebar_is_open_again_after_a_restart(open_app: OpenApp) -> None:
    async with open_app(size=(100, 24)) as (app, pilot):
        assert not chat(app).query(ChatSidebar)
        await pilot.press("f2")
        await settled(app, pilot)
    async with open_app(size=(100, 24)) as (app, pilot):
        assert chat(app).query_one(ChatSidebar).display
        assert prompt(app).has_focus
        await pilot.press("f2")
        await settled(app, pilot)
        assert not chat(app).query_one(ChatSidebar).display
    async with open_app(size=(100, 24)) as (app, pilot):
        assert not chat(app).query(ChatSidebar)


async def test_on_a_narrow_terminal_the_conversation_is_shown_first(open_app: OpenApp) -> None:
    async with open_app(size=(100, 24)) as (app, pilot):
        await pilot.press("f2")
        await settled(app, pilot)
    async with open_app(size=(60, 20)) as (app, pilot):
        assert not chat(app).query(ChatSidebar)
        assert chat(app).transcript.display
