"""The application on a scripted model, without a terminal."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from ollm_tui.engine.conversation import Conversation
from ollm_tui.providers.scripted import Script, Scripted
from ollm_tui.settings.schema import Settings
from ollm_tui.tui.app import OllmApp
from tests.engine.conftest import workspace_on

Opened = AbstractAsyncContextManager[tuple[OllmApp, Pilot[int]]]
OpenApp = Callable[..., Opened]


async def workers_done(app: OllmApp) -> None:
    """Wait until nothing runs behind the screen."""
    await app.workers.wait_for_complete()  # pyright: ignore[reportUnknownMemberType] Textual leaves it open


@pytest.fixture
def open_app(home: Path) -> OpenApp:
    """Opens the application, on a new session or on one that exists."""

    @asynccontextmanager
    async def opened(
        script: Script | Scripted = (),
        *,
        session_id: str | None = None,
        size: tuple[int, int] = (80, 24),
        theme: str = "dark",
    ) -> AsyncGenerator[tuple[OllmApp, Pilot[int]]]:
        workspace = workspace_on(home, script, Settings())
        conversations: list[Conversation] = []

        async def open_conversation() -> tuple[Conversation, tuple[str, ...]]:
            problems: tuple[str, ...] = ()
            if session_id:
                conversation, problems = await workspace.resume(session_id)
            else:
                conversation = await workspace.begin()
            conversations.append(conversation)
            return conversation, problems

        app = OllmApp(open_conversation, theme)
        async with app.run_test(size=size) as pilot:
            await workers_done(app)
            await pilot.pause()
            yield app, pilot
        for conversation in conversations:
            await conversation.close()
        await workspace.close()

    return opened
