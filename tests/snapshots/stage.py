"""The application on sample sessions and scripted servers, as pictures are taken of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from ollm_tui.core.errors import AuthFailed
from ollm_tui.core.provider import Capabilities, ModelInfo, Provider
from ollm_tui.core.session.session import Session
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.jobs.session_jobs import SessionJobs
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.providers.scripted import Script, Scripted
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.sessions.prompt_memory import PromptMemory
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.settings.loaded import Loaded
from ollm_tui.settings.locations import Locations
from ollm_tui.settings.schema import Interface, Settings
from ollm_tui.storage.store_layout import StoreLayout
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.terminal.abilities import Abilities
from tests.snapshots.samples import MODEL
from tests.tui.conftest import Ready

SHOWN_HOME = Path("/home/me/.ollm")
"""The home that pictures name, on every machine; nothing is written there."""
HANGS_SECONDS = 30
"""No state takes so long to come about, however busy the machine is."""
MODELS = {
    "ollama": (
        ModelInfo(name=MODEL, size_bytes=986_000_000, max_window=32768, parameters="1.5B"),
        ModelInfo(name="gemma3:4b", size_bytes=3_300_000_000, max_window=131072, parameters="4.3B"),
        ModelInfo(name="qwen3:8b", size_bytes=5_200_000_000, max_window=40960, parameters="8.2B"),
    ),
    "embedded": (
        ModelInfo(name="smollm2:135m", size_bytes=145_000_000, max_window=8192, parameters="135M"),
        ModelInfo(name="qwen2.5-coder:1.5b", installed=False),
    ),
}


class Server(Scripted):
    """A scripted provider with the models of a real one."""

    async def list_models(self) -> tuple[ModelInfo, ...]:
        return MODELS[self.name]

    async def default_model(self) -> str:
        return MODELS[self.name][0].name

    async def capabilities(self, model: str) -> Capabilities:
        window = 8192
        return Capabilities(tools=True, thinking="qwen3" in model, window=window, images=False)


class Servers:
    """Ollama, the embedded model, and one that wants a key."""

    def __init__(self, script: Script, first: str) -> None:
        self._servers = {name: Server(script, name=name) for name in MODELS}
        self._first = first

    def names(self) -> list[str]:
        return [*self._servers, "openai"]

    async def get(self, name: str) -> Provider:
        if name == "openai":
            raise AuthFailed("openai has no key", "Set OPENAI_API_KEY.")
        return self._servers[name]

    async def select(self, provider: str | None, model: str | None) -> tuple[Provider, str]:
        chosen = await self.get(provider or self._first)
        return chosen, model or await chosen.default_model()

    async def close(self) -> None:
        for server in self._servers.values():
            await server.close()


@asynccontextmanager
async def stage(
    home: Path,
    sessions: Sequence[Session] = (),
    script: Script = (),
    *,
    resume: str | None = None,
    provider: str = "ollama",
    theme: str = "dark",
    size: tuple[int, int] = (120, 40),
    jobs: SessionJobs | None = None,
) -> AsyncGenerator[tuple[OllmApp, Pilot[int]]]:
    """The application, open on a new session or on one of those it is given."""
    settings = Settings(ui=Interface(theme=theme))
    workspace = _workspace(home, sessions, Servers(script, provider), settings)
    places = Locations(SHOWN_HOME, SHOWN_HOME.parent, SHOWN_HOME.parent)
    loaded = Loaded(settings, (), {}, places)

    async def open_conversation(_: Workspace) -> tuple[Conversation, tuple[str, ...]]:
        return await workspace.resume(resume) if resume else (await workspace.begin(), ())

    abilities = Abilities(unicode=True, colours=None)
    jobs = jobs or SessionJobs(JobRegistry({}), SHOWN_HOME.parent, {})
    behind = Ready(workspace, PromptMemory(None, places.project), jobs)
    app = OllmApp(loaded, behind, open_conversation, abilities)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.conversation is not None)
        yield app, pilot
    if app.conversation:
        await app.conversation.close()
    await workspace.close()


async def until(pilot: Pilot[int], condition: Callable[[], bool]) -> None:
    """Wait for something to be on the screen, and for the screen to be drawn."""
    async with asyncio.timeout(HANGS_SECONDS):
        while not condition():
            await pilot.pause(0.02)
    await pilot.pause()


def _workspace(
    home: Path, sessions: Sequence[Session], servers: Servers, settings: Settings
) -> Workspace:
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    for session in sessions:
        library.add(session)
    recording = Recording(library.store, library.index, autosave=settings.sessions.auto_save)
    return Workspace(settings, recording, library, servers, SHOWN_HOME.parent)
