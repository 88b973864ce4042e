"""The application on a scripted model, without a terminal."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot

from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.jobs.session_jobs import SessionJobs
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.providers.scripted import Script, Scripted
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.sessions.prompt_memory import PromptMemory
from ollm_tui.settings.loaded import Loaded
from ollm_tui.settings.locations import Locations
from ollm_tui.settings.schema import Settings
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.chat.screen import ChatScreen
from ollm_tui.tui.terminal.abilities import Abilities
from tests.engine.conftest import workspace_on
from tests.tui.patience import exact_pilots as exact_pilots
from tests.tui.patience import patient

TERMINAL = Abilities(unicode=True, colours=None)
Opened = AbstractAsyncContextManager[tuple[OllmApp, Pilot[int]]]
OpenApp = Callable[..., Opened]


_PARSED: dict[object, list[RuleSet]] = {}


@pytest.fixture(autouse=True)
def styles_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every application parses the same style sheets, which is a tenth of its work in a test."""
    parse = cast(Any, Stylesheet)._parse_rules

    def parsed(self: Stylesheet, *sheet: Any, **options: Any) -> list[RuleSet]:
        variables = tuple(cast(Any, self)._variables.items())
        key = (sheet, *sorted(options.items()), variables)
        if key not in _PARSED:
            _PARSED[key] = parse(self, *sheet, **options)
        return _PARSED[key]

    monkeypatch.setattr(Stylesheet, "_parse_rules", parsed)


async def workers_done(app: OllmApp) -> None:
    """Wait until nothing runs behind the screen; following another window never ends."""
    if ending := [worker for worker in app.workers if worker.group != "follow"]:
        await app.workers.wait_for_complete(ending)  # pyright: ignore[reportUnknownMemberType] Textual leaves it open


class Ready(NamedTuple):
    """Everything behind the screen, open already."""

    workspace: Workspace
    memory: PromptMemory
    jobs: SessionJobs | None = None

    def load(self) -> None:
        """All is loaded in tests."""

    def note_opened(self) -> None:
        """Memory is nobody's concern in tests."""

    def open_workspace(self) -> Workspace:
        return self.workspace

    def open_memory(self) -> PromptMemory:
        return self.memory

    def open_jobs(self) -> SessionJobs:
        assert self.jobs, "this test has no shell"
        return self.jobs


def jobs_on(home: Path) -> SessionJobs:
    """Real shells, in the directory of the test; one variable is withheld."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home.parent)}
    withheld = {"DEPLOY_TOKEN": "swordfish-and-more"}
    redactor = Redactor(withheld.values())
    jobs = JobRegistry(environment, home / "sessions" / "jobs", redact=redactor.redact)
    return SessionJobs(jobs, Path.cwd(), withheld, redactor)


@pytest.fixture
def open_app(home: Path) -> OpenApp:
    """Opens the application, on a new session or on one that exists; that waits for `opens`."""

    @asynccontextmanager
    async def opened(
        script: Script | Scripted = (),
        *,
        session_id: str | None = None,
        size: tuple[int, int] = (80, 24),
        settings: Settings | None = None,
        abilities: Abilities = TERMINAL,
        opens: asyncio.Event | None = None,
    ) -> AsyncGenerator[tuple[OllmApp, Pilot[int]]]:
        settings = settings or Settings()
        workspace = workspace_on(home, script, settings)
        places = Locations(home, home.parent, home.parent / "project")
        loaded = Loaded(settings, (), {}, places)

        async def open_conversation(_: Workspace) -> tuple[Conversation, tuple[str, ...]]:
            if opens:
                await opens.wait()
            if session_id:
                return await workspace.resume(session_id)
            return await workspace.begin(), ()

        jobs = jobs_on(home)
        behind = Ready(workspace, PromptMemory(home, places.project), jobs)
        app = OllmApp(loaded, behind, open_conversation, abilities)
        async with app.run_test(size=size) as pilot:
            patient(pilot)
            if not opens:
                while cast(ChatScreen, app.screen).lines.doing:  # it is still being opened
                    await pilot.pause(0.01)
                await workers_done(app)
            await pilot.pause()
            yield app, pilot
        await jobs.close()
        for conversation in app.conversations:
            await conversation.close()
        await workspace.close()

    return opened
