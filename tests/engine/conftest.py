"""A workspace on a scripted model: real recording, real files, exact events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest_asyncio

from ollm_tui.core.provider import Provider, Selection
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.providers.ollama import Ollama
from ollm_tui.providers.scripted import MODEL, Script, Scripted
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.settings.schema import Settings
from ollm_tui.storage.store_layout import StoreLayout

OpenWorkspace = Callable[..., Awaitable[Workspace]]


class OnlyProvider:
    """Selects the one provider a test has."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider

    def names(self) -> list[str]:
        return [self.provider.name]

    async def get(self, name: str) -> Provider:
        return self.provider

    async def select(self, provider: str | None, model: str | None) -> Selection:
        return Selection(self.provider, model or MODEL)

    async def close(self) -> None:
        await self.provider.close()


def workspace_on(home: Path, script: Script | Scripted | Ollama, settings: Settings) -> Workspace:
    """A workspace whose store lies in a home and whose model follows a script, or is given."""
    provider = script if isinstance(script, Scripted | Ollama) else Scripted(script)
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    recording = Recording(library.store, library.index, autosave=settings.sessions.auto_save)
    return Workspace(settings, recording, library, OnlyProvider(provider), home, home=home)


@pytest_asyncio.fixture
async def open_workspace(home: Path) -> AsyncIterator[OpenWorkspace]:
    """Opens workspaces on the same store; each closes by itself at the end."""
    opened: list[Workspace] = []

    async def open_one(
        script: Script | Scripted | Ollama = (), settings: Settings | None = None
    ) -> Workspace:
        workspace = workspace_on(home, script, settings or Settings())
        opened.append(workspace)
        return workspace

    yield open_one
    for workspace in opened:
        await workspace.close()
