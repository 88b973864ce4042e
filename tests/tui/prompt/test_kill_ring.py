"""Cutting and pasting with the keys of shells, and walking through open lists."""

from __future__ import annotations

from tests.tui.conftest import OpenApp
from tests.tui.seen import prompt
from tests.tui.typing_in import type_in


async def test_what_keys_cut_is_pasted_again(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await type_in(pilot, "one two three")
        await pilot.press("ctrl+w", "ctrl+w")
        assert prompt(app).text == "one "
        await pilot.press("ctrl+a", "ctrl+y")
        assert prompt(app).text == "two threeone ", "cuts in a row are one piece"


async def test_earlier_cuts_come_back_one_by_one(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await type_in(pilot, "first")
        await pilot.press("ctrl+u")
        await type_in(pilot, "second")
        await pilot.press("ctrl+a", "ctrl+k", "ctrl+y")
        assert prompt(app).text == "second"
        await pilot.press("alt+y")
        assert prompt(app).text == "first"
        await pilot.press("alt+y")
        assert prompt(app).text == "second"


async def test_words_are_passed_and_cut_to_the_right(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await type_in(pilot, "one two three")
        await pilot.press("ctrl+a", "alt+f", "alt+d")
        assert prompt(app).text == "one three"
        await pilot.press("ctrl+e", "ctrl+y")
        assert prompt(app).text == "one three two"


async def test_what_was_undone_is_done_again(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await type_in(pilot, "word")
        await pilot.press("ctrl+u", "ctrl+underscore")
        assert prompt(app).text == "word"
        await pilot.press("alt+underscore")
        assert prompt(app).text == ""


async def test_ctrl_n_and_p_walk_through_an_open_list(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await type_in(pilot, "/s")
        first = prompt(app).text
        session = app.conversation
        await pilot.press("ctrl+n", "ctrl+n", "ctrl+p", "tab")
        assert app.conversation is session and prompt(app).text != first
        assert prompt(app).text.startswith("/")
        await pilot.press("ctrl+u", "ctrl+p")
        assert app.screen is not prompt(app).screen, "without a list it is the palette"
