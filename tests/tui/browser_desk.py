"""The application on a store with snapshots, and what a person sees of its browser."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import cast

from textual.pilot import Pilot
from textual.widgets import Static
from textual.worker import WorkerCancelled

from ollm_tui.providers.scripted import Script
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.browser.screen import SessionBrowser
from ollm_tui.tui.browser.session_preview import PreviewStream
from ollm_tui.tui.kit.live_keys import LiveKeys
from tests.tui.browser_samples import fill_with_snapshots, full_id
from tests.tui.conftest import OpenApp, workers_done
from tests.tui.dialog_host import shown
from tests.tui.seen import chat


class Desk:
    """The chat on the rich session; `f3` opens the browser."""

    def __init__(self, app: OllmApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        for _ in range(2):  # what was read may have more to be read
            await self.pilot.pause(0.02)
            with suppress(WorkerCancelled):  # what was being read for a browser that is closed
                await workers_done(self.app)
        await self.pilot.pause()

    @property
    def browser(self) -> SessionBrowser:
        return cast(SessionBrowser, self.app.screen)

    @property
    def line(self) -> str:
        """The highlighted line."""
        highlighted = self.browser.session_tree.highlighted
        return highlighted.text if highlighted else ""

    @property
    def lines(self) -> list[str]:
        """The tree as it is drawn, without what stands at its right."""
        tree = self.browser.session_tree
        drawn = [tree.render_line(y).text.rstrip() for y in range(tree.size.height)]
        return [line.rpartition("  ")[0].rstrip() or line.strip() for line in drawn if line]

    @property
    def keys(self) -> str:
        return "  ".join(self.browser.query_one(LiveKeys).hints)

    @property
    def preview(self) -> str:
        facts = " | ".join(str(fact.content) for fact in self.browser.preview.query(Static))
        stream = self.browser.query_one(PreviewStream)
        said = [stream.entry(key).text for key in stream.keys]
        return "\n".join([facts, *said])

    @property
    def screen(self) -> str:
        return shown(self.app)

    @property
    def branch(self) -> list[str]:
        """The ids of the messages of the conversation as it is now."""
        return [message.id for message in chat(self.app).chat.conversation.state.branch()]


@asynccontextmanager
async def desk(
    open_app: OpenApp, home: Path, *, script: Script = (), size: tuple[int, int] = (120, 40)
) -> AsyncGenerator[Desk]:
    """The application, open on the rich session."""
    fill_with_snapshots(home)
    async with open_app(script, session_id=full_id(0), size=size) as (app, pilot):
        yield Desk(app, pilot)
