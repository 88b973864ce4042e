"""Commands that the model runs: counted, asked about before leaving, moved, told of."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from ollm_tui.engine.tools.tool_setup import ToolSetup
from ollm_tui.settings.schema import Settings, Tools
from ollm_tui.storage.files.cipher import Plain
from ollm_tui.storage.store_layout import StoreLayout
from ollm_tui.tui.app import OllmApp
from tests.tui.conftest import OpenApp
from tests.tui.jobs_desk import GATE, jobs, open_panel, run_through, said, until
from tests.tui.seen import chat, prompt, settled, state
from tests.tui.tool_desk import calls, says

SETTINGS = Settings(tools=Tools(permissions={"exec": "auto"}))


@asynccontextmanager
async def working(
    open_app: OpenApp, home: Path, **args: Any
) -> AsyncGenerator[tuple[OllmApp, Pilot[int]]]:
    """The model has called exec in the project of the test."""
    script = [calls(("exec", args)), says("It runs.")]
    async with open_app(script, settings=SETTINGS, size=(120, 30)) as (app, pilot):
        assert app.conversation
        tool_setup = ToolSetup(
            settings=SETTINGS,
            project=Path.cwd(),
            home=home,
            layout=StoreLayout(home / "sessions"),
            cipher=Plain(),
            environ=os.environ,
            open_jobs=lambda: app.jobs,
        )
        app.conversation.tools.make_toolkit = partial(tool_setup.toolkit, keeps=True)
        prompt(app).put("go")
        await pilot.press("enter")
        await until(pilot, lambda: bool(jobs(app)))
        yield app, pilot


async def test_a_background_job_of_the_model_is_counted_and_told_of_when_it_ends(
    open_app: OpenApp, home: Path
) -> None:
    async with working(open_app, home, code=GATE, background=True) as (app, pilot):
        await settled(app, pilot)
        assert state(app).endswith("1 job running")
        Path("go").touch()
        await until(pilot, lambda: state(app).startswith("Job 1 ended: exit 0 · "))
        assert "job running" not in state(app)


async def test_quitting_asks_before_it_ends_a_job_of_the_model(
    open_app: OpenApp, home: Path
) -> None:
    async with working(open_app, home, code=GATE, background=True) as (app, pilot):
        await settled(app, pilot)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: state(app).startswith("1 job running. Press again to quit"))
        assert app.is_running and jobs(app)[0].running


async def test_the_command_the_model_waits_for_moves_to_the_background_by_a_key(
    open_app: OpenApp, home: Path
) -> None:
    async with working(open_app, home, code=GATE) as (app, pilot):
        await until(pilot, lambda: "Alt+B background" in state(app))
        await pilot.press("alt+b")
        await until(pilot, lambda: not chat(app).chat.is_busy)
        assert jobs(app)[0].running and jobs(app)[0].background
        assert "job 1 runs in the background" in _answer(app)
        Path("go").touch()
        await until(pilot, lambda: not jobs(app)[0].running)


@pytest.mark.more
async def test_the_panel_moves_what_the_model_waits_for_to_the_background_first(
    open_app: OpenApp, home: Path
) -> None:
    async with working(open_app, home, code=GATE) as (app, pilot):
        await open_panel(app, pilot)
        assert "b background" in said(app)
        await pilot.press("b")
        await until(pilot, lambda: "in the background" in said(app))
        await until(pilot, lambda: not chat(app).chat.is_busy)
        assert "job 1 runs in the background" in _answer(app)
        await pilot.press("b")
        await until(pilot, lambda: "in the foreground" in said(app))


async def test_files_that_a_background_job_or_the_user_changed_later_can_be_taken_back(
    open_app: OpenApp, home: Path
) -> None:
    code = f"{GATE}; echo x > late"
    async with working(open_app, home, code=code, background=True) as (app, pilot):
        await settled(app, pilot)
        assert app.conversation
        tools = app.conversation.tools
        Path("go").touch()
        await until(pilot, lambda: "late" in {each.path for each in tools.file_versions()})
        await run_through(app, pilot, "echo y > mine")
        await until(pilot, lambda: "mine" in {each.path for each in tools.file_versions()})


def _answer(app: OllmApp) -> str:
    """What the model was told about its call."""
    assert app.conversation
    return app.conversation.state.tool_calls[0].result.llm_content
