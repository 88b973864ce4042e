"""Real shells and real processes, small limits, and a look at what is left."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.jobs.process_tree import marked

ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "LANG": "C.UTF-8"}
SESSION = f"session-{os.getpid()}"
"""Tests that run side by side must not find each other's jobs by their marks."""
HANGS_SECONDS = 120
GATE = "until [ -e go ]; do sleep 0.05; done"
"""Code that waits for the test to create a file."""


@pytest.fixture
async def jobs(tmp_path: Path) -> AsyncIterator[JobRegistry]:
    """Jobs with one shell, in an empty directory."""
    folder = tmp_path / "work"
    folder.mkdir()
    made = JobRegistry(ENVIRONMENT, tmp_path / "jobs")
    await made.open_shell(SESSION, folder)
    yield made
    await made.close()


async def printed(jobs: JobRegistry, code: str, language: str = "shell") -> str:
    """What code prints; it has to succeed."""
    job = await jobs.exec(SESSION, code, "python" if language == "python" else "shell")
    output = jobs.job_output(job.id)
    assert job.status == "completed", output.stderr.text()
    return output.stdout.text()


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that has to happen; what never comes ends the test, not the day."""
    async with asyncio.timeout(HANGS_SECONDS):
        while not condition():
            await asyncio.sleep(0.02)


async def until_gone(job_id: str) -> None:
    """Wait until no process bears the mark of a job."""
    await until(lambda: not marked(job_id))
