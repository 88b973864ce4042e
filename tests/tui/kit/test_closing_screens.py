"""A screen that closes is not looked for by what was still being read for it."""

from __future__ import annotations

import asyncio

from textual.screen import Screen

from tests.tui.conftest import OpenApp


class Reader(Screen[None]):
    """Waits for something to show."""

    def __init__(self) -> None:
        super().__init__()
        self.has_come = asyncio.Event()
        self.shown: list[str] = []

    def on_mount(self) -> None:
        self.run_worker(self._read)

    async def _read(self) -> None:
        await self.has_come.wait()
        self.shown.append("late")


async def test_what_comes_for_a_screen_that_closes_is_not_shown(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        screen = Reader()
        await app.push_screen(screen)
        app.pop_screen()
        screen.has_come.set()
        await pilot.pause()
        assert screen.shown == []


async def test_what_comes_while_it_is_open_is_shown(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        screen = Reader()
        await app.push_screen(screen)
        screen.has_come.set()
        await pilot.pause()
        assert screen.shown == ["late"]
