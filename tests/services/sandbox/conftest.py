"""Jobs behind the walls of this machine."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from ollm_tui.core.job import Job
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.jobs.starting import JobRequest
from ollm_tui.services.sandbox.sandbox import Kind, Sandbox
from tests.conftest import REPOSITORY

SESSION = f"sandboxed-{os.getpid()}"
FindSandbox = Callable[..., Sandbox]


class Said(NamedTuple):
    """How a job ended and what it printed."""

    job: Job
    stdout: str
    stderr: str


class HeldJobs:
    """One shell in a project whose jobs are all held."""

    def __init__(self, jobs: JobRegistry, sandbox: Sandbox) -> None:
        self.jobs = jobs
        self.sandbox = sandbox

    async def start(self, code: str, language: str = "shell") -> Job:
        """Start code behind the walls."""
        wanted = JobRequest(
            code=code,
            language="python" if language == "python" else "shell",
            confinement=self.sandbox.confinement,
        )
        return await self.jobs.start(SESSION, wanted)

    async def run(self, code: str, language: str = "shell") -> Said:
        """Run code behind the walls to its end."""
        job = await self.jobs.wait((await self.start(code, language)).id)
        output = self.jobs.job_output(job.id)
        return Said(job, output.stdout.text(), output.stderr.text())


HoldJobs = Callable[[Sandbox], HeldJobs]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that is no repository."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A directory out of the project and, where possible, not below /tmp: jobs have another one."""
    base = REPOSITORY / ".cache"
    base.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=base) as folder:
        yield Path(folder)


@pytest.fixture
def find_sandbox(project: Path, tmp_path: Path) -> FindSandbox:
    """Find one of a kind for the project; where the machine really has none, the test is skipped.

    Temporary files go to a directory of the test: all others of the test are below /tmp too.
    """
    temporary = tmp_path / "temporary"
    temporary.mkdir()

    def find(kind: Kind, network: bool = False, read_only: tuple[Path, ...] = ()) -> Sandbox:
        found = Sandbox.find([project], network, read_only, (kind,), temporary)
        if found.level != kind:
            pytest.skip(f"this machine has none: {'; '.join(found.notes)}")
        return found

    return find


@pytest.fixture
async def held_jobs(project: Path) -> AsyncIterator[HoldJobs]:
    """Makes jobs for a sandbox."""
    environment = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "LANG": "C.UTF-8"}
    jobs = JobRegistry(environment)
    await jobs.open_shell(SESSION, project)
    yield lambda sandbox: HeldJobs(jobs, sandbox)
    await jobs.close()
