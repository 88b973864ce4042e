"""What tests of commands and jobs share: typing one, waiting for what must happen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from textual.pilot import Pilot
from textual.widgets import Static

from ollm_tui.core.errors import JobError
from ollm_tui.core.job import Job, ProcessMark
from ollm_tui.services.jobs.records import JobRecord, JobRecords, this_program
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.jobs.job_list import JobList, JobTail
from ollm_tui.tui.jobs.screen import JobsScreen
from ollm_tui.tui.kit.choice_list import Choice
from ollm_tui.tui.kit.live_keys import LiveKeys
from tests.tui.seen import chat, prompt

GONE = ProcessMark(2**22 + 1, 1, "another boot")
"""A program that ended long ago."""
HANGS_SECONDS = 120
GATE = "until [ -e go ]; do sleep 0.05; done"
"""A command that runs until the test makes a file."""


async def until(pilot: Pilot[int], condition: Callable[[], bool]) -> None:
    """Wait for something that has to happen; what never comes ends the test, not the day."""
    async with asyncio.timeout(HANGS_SECONDS):
        while not condition():
            await pilot.pause(0.02)
    await pilot.pause()


async def run(app: OllmApp, pilot: Pilot[int], command: str) -> None:
    """Send a command and wait until it is seen to run, or to be over."""
    count = len(jobs(app))
    prompt(app).put(f"!{command}")
    await pilot.press("enter")
    await until(pilot, lambda: len(jobs(app)) > count)
    await until(pilot, lambda: jobs(app)[0].id in chat(app).transcript.keys)


async def run_through(app: OllmApp, pilot: Pilot[int], command: str) -> None:
    """Send a command and wait for its end."""
    await run(app, pilot, command)
    key = jobs(app)[0].id
    await until(pilot, lambda: "exit" in chat(app).transcript.entry(key).footer)


def jobs(app: OllmApp) -> list[Job]:
    """The jobs of the session, the newest first."""
    assert app.conversation
    try:
        return app.jobs.jobs(app.conversation.session_id)
    except JobError:
        return []  # no shell yet


def record_elsewhere(
    home: Path, session_id: str, owner: ProcessMark | None = None, **facts: Any
) -> None:
    """Another program runs a job of a session; it is alive unless it is said which."""
    own = owner or this_program()
    job = Job(
        id=f"job-{session_id}-1",
        session_id=session_id,
        sequence=1,
        code="sleep 60",
        language="shell",
        cwd="/",
        background=True,
        started_at="2026-01-01T00:00:00.000000Z",
        pid=own.pid,
    )
    job = replace(job, **facts)
    record = JobRecord(job=job, process=own, supervisor=own, owner=own)
    JobRecords(home / "sessions" / "jobs").write(record)


async def open_panel(app: OllmApp, pilot: Pilot[int]) -> JobsScreen:
    """F8."""
    await pilot.press("f8")
    await until(pilot, lambda: isinstance(app.screen, JobsScreen))
    return panel(app)


def panel(app: OllmApp) -> JobsScreen:
    """The panel that is open."""
    return next(screen for screen in app.screen_stack if isinstance(screen, JobsScreen))


def listed(app: OllmApp) -> list[str]:
    """The lines of the list."""
    choices = panel(app).query_one(JobList)
    lines = [choices.render_line(y).text for y in range(choices.size.height)]
    return [" ".join(line.split()) for line in lines if line.strip()]


def chosen(app: OllmApp) -> Choice | None:
    """The line that is highlighted."""
    return panel(app).query_one(JobList).highlighted


def tail(app: OllmApp) -> str:
    """The output of the chosen job."""
    return panel(app).query_one(JobTail).text


def said(app: OllmApp) -> str:
    """The lowest line of the panel."""
    return "  ".join(panel(app).query_one(LiveKeys).hints)


def heading(app: OllmApp) -> str:
    """The line on top."""
    return str(app.screen.query_one("#heading", Static).content)
