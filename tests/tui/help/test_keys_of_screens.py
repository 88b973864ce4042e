"""F1 on every screen and dialog, and hints that can be clicked."""

from __future__ import annotations

from ollm_tui.tui.help.screen import ON_THIS_SCREEN, HelpScreen
from ollm_tui.tui.kit.live_keys import LiveKeys
from tests.cases import some
from tests.tui.conftest import OpenApp
from tests.tui.dialog_host import shown
from tests.tui.seen import chat, settled


@some(4, "key", ("f3", "f4", "f5", "f7", "f9", "f10", "f12", "ctrl+p", "ctrl+r"))
async def test_f1_shows_the_keys_of_a_screen_and_leads_back(open_app: OpenApp, key: str) -> None:
    async with open_app() as (app, pilot):
        await pilot.press(key)
        await settled(app, pilot)
        front = app.screen
        assert front is not chat(app)
        await pilot.press("f1")
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen)
        assert ON_THIS_SCREEN in shown(app) and "Esc" in shown(app)
        await pilot.press("f1")
        await pilot.pause()
        assert app.screen is front
        await pilot.press("f1", "escape")
        await pilot.pause()
        assert app.screen is front


async def test_f1_in_the_chat_shows_all_keys_and_closes_them(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await pilot.press("f1")
        await settled(app, pilot)
        assert isinstance(app.screen, HelpScreen) and ON_THIS_SCREEN not in shown(app)
        await pilot.press("f1")
        await settled(app, pilot)
        assert app.screen is chat(app)


async def test_a_hint_of_a_screen_presses_its_key_when_it_is_clicked(open_app: OpenApp) -> None:
    async with open_app(size=(120, 40)) as (app, pilot):
        await pilot.press("f5")
        await settled(app, pilot)
        keys = app.screen.query_one(LiveKeys)
        await pilot.pause()
        line = str(keys.render()).splitlines()[-1]
        row = len(str(keys.render()).splitlines()) - 1
        await pilot.click(keys, offset=(line.index("Esc close") + 2, row))
        await settled(app, pilot)
        assert app.screen is chat(app)
