"""The application on a history worth searching, and what a person sees of the search screen."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import cast

from textual.pilot import Pilot
from textual.widgets import Static
from textual.worker import WorkerCancelled

from ollm_tui.providers.scripted import Script
from ollm_tui.settings.schema import Settings
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.chat.screen import ChatScreen
from ollm_tui.tui.kit.live_keys import LiveKeys
from ollm_tui.tui.search.hit_preview import HitStream
from ollm_tui.tui.search.screen import SearchScreen
from tests.tui.conftest import OpenApp, workers_done
from tests.tui.search_samples import fill, full_id
from tests.tui.seen import chat
from tests.tui.typing_in import type_in


class Desk:
    """The chat on the session about css; `f4` opens the search."""

    def __init__(self, app: OllmApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def type(self, text: str) -> None:
        await type_in(self.pilot, text)
        await self.settle()

    async def settle(self) -> None:
        for _ in range(3):  # what was found has more to be read
            await self.pilot.pause(0.03)
            with suppress(WorkerCancelled):  # what another key made needless
                await workers_done(self.app)
        await self.pilot.pause()

    async def search(self, words: str) -> None:
        """Open the search and type."""
        await self.press("f4")
        await self.type(words)

    @property
    def screen(self) -> SearchScreen:
        return cast(SearchScreen, self.app.screen)

    @property
    def is_chat(self) -> bool:
        return isinstance(self.app.screen, ChatScreen)

    @property
    def lines(self) -> list[str]:
        """The list as it is drawn."""
        found = self.screen.hit_list
        drawn = (found.render_line(y).text for y in range(found.size.height))
        return [" ".join(line.split()) for line in drawn if line.strip()]

    @property
    def hit(self) -> str:
        """The message that is highlighted."""
        hit = self.screen.hit_list.hit
        return hit.message_id if hit else ""

    @property
    def hits(self) -> list[str]:
        return [hit.message_id for hit in self.screen.hit_list.hits]

    @property
    def count(self) -> str:
        return str(self.screen.query_one("#count", Static).content)

    @property
    def notes(self) -> str:
        line = self.screen.query_one("#notes", Static)
        return str(line.content) if line.display else ""

    @property
    def keys(self) -> str:
        return "  ".join(self.screen.query_one(LiveKeys).hints)

    @property
    def stream(self) -> HitStream:
        return self.screen.query_one(HitStream)

    @property
    def said(self) -> list[str]:
        """The messages of the chat, from the top."""
        return [key for key in chat(self.app).transcript.keys if key.startswith("s")]


@asynccontextmanager
async def desk(
    open_app: OpenApp,
    home: Path,
    *,
    script: Script = (),
    size: tuple[int, int] = (120, 40),
    settings: Settings | None = None,
) -> AsyncGenerator[Desk]:
    """The application, open on one of the samples."""
    fill(home)
    opened = open_app(script, session_id=full_id(2), size=size, settings=settings)
    async with opened as (app, pilot):
        yield Desk(app, pilot)
