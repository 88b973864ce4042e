"""The application on sample sessions and scripted servers, as pictures are taken of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from inspect import getfile
from pathlib import Path
from typing import NamedTuple

from textual.pilot import Pilot

from ollm_tui.core.errors import AuthFailed
from ollm_tui.core.provider import Capabilities, ChatRequest, ModelInfo, Provider, Selection
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
from tests.snapshots.samples import MODEL, all_sessions, id_of
from tests.tui.conftest import Ready
from tests.tui.seen import chat

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

    async def count_tokens(self, request: ChatRequest) -> int | None:
        return None


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

    async def select(self, provider: str | None, model: str | None) -> Selection:
        chosen = await self.get(provider or self._first)
        return Selection(chosen, model or await chosen.default_model())

    async def close(self) -> None:
        for server in self._servers.values():
            await server.close()


class StagedApp(OllmApp):
    """The application, which cleans up behind itself when it ends."""

    # Textual looks for it beside the class.
    CSS_PATH = Path(getfile(OllmApp)).with_name("chat") / "screen.tcss"

    cleanup: AsyncExitStack

    async def on_unmount(self) -> None:
        if self.conversation:
            await self.conversation.close()
        await self.cleanup.aclose()


Opening = Callable[[Path, str], StagedApp]
"""Makes the application in a home and a theme, not running yet."""
Play = Callable[[StagedApp, Pilot[int]], Awaitable[None]]


class Scene(NamedTuple):
    """A state of the application: what it is opened on, and what a person does then."""

    open: Opening
    play: Play

    async def bring_about(self, app: StagedApp, pilot: Pilot[int]) -> None:
        """Do what the person does, and wait until nothing on the screen moves any more."""
        await until(pilot, lambda: app.conversation is not None)
        await self.play(app, pilot)
        before, now = "", app.export_screenshot(simplify=True)
        while before != now:
            await pilot.pause(0.05)
            before, now = now, app.export_screenshot(simplify=True)


def scene(opening: Opening) -> Callable[[Play], Scene]:
    """Turn what a person does into a scene that begins with an opening."""
    return lambda play: Scene(opening, play)


def stage(
    home: Path,
    theme: str,
    sessions: Sequence[Session] = (),
    script: Script = (),
    *,
    resume: str | None = None,
    provider: str = "ollama",
    jobs: SessionJobs | None = None,
) -> StagedApp:
    """Make the application; it opens a new session, or one of those it is given."""
    settings = Settings(ui=Interface(theme=theme, timestamps=False))  # times differ each day
    workspace = _workspace(home, sessions, Servers(script, provider), settings)
    places = Locations(SHOWN_HOME, SHOWN_HOME.parent, SHOWN_HOME.parent)

    async def open_conversation(_: Workspace) -> tuple[Conversation, tuple[str, ...]]:
        return await workspace.resume(resume) if resume else (await workspace.begin(), ())

    jobs = jobs or SessionJobs(JobRegistry({}), SHOWN_HOME.parent, {})
    behind = Ready(workspace, PromptMemory(None, places.project), jobs)
    abilities = Abilities(unicode=True, colours=None)
    app = StagedApp(Loaded(settings, (), {}, places), behind, open_conversation, abilities)
    app.cleanup = AsyncExitStack()
    app.cleanup.push_async_callback(workspace.close)
    app.cleanup.push_async_callback(jobs.close)
    return app


def new_session(script: Script = (), provider: str = "ollama") -> Opening:
    """Open a session in which nobody has said anything yet."""
    return lambda home, theme: stage(home, theme, script=script, provider=provider)


def sample(number: int, script: Script = ()) -> Opening:
    """Open one of the sample sessions."""
    return lambda home, theme: stage(home, theme, all_sessions(), script, resume=id_of(number))


async def say(app: OllmApp, pilot: Pilot[int], text: str) -> None:
    """Send a message, or a command."""
    chat(app).prompt.put(text)
    await pilot.press("enter")
    await pilot.pause()


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
