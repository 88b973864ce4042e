"""The sandbox: what holding a short command costs over running it as a job, for each kind."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.measure import Outcome, Promise, interleaved, milliseconds
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.jobs.starting import JobRequest
from ollm_tui.services.sandbox.confinement import Confinement
from ollm_tui.services.sandbox.sandbox import Kind, Sandbox

ROUNDS = 40
BWRAP = Promise("a short command in bubblewrap", "the same as a job that is not held", 4)
LANDLOCK = Promise("a short command under Landlock", "the same as a job that is not held", 1.5)
PROMISES = (BWRAP, LANDLOCK)

SESSION = "bench"
ENVIRONMENT = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
KINDS: dict[Kind, Promise] = {"bwrap": BWRAP, "landlock": LANDLOCK}


def main() -> list[Outcome]:
    """Measure in one program, side by side; a kind this machine does not have is left out."""
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        project = Path(folder)
        held = {kind: Sandbox.find([project], False, kinds=(kind,)) for kind in KINDS}
        for sandbox in held.values():
            print(f"{sandbox.words}  {'; '.join(sandbox.notes)}".rstrip())
        jobs = JobRegistry(ENVIRONMENT)
        runner.run(jobs.open_shell(SESSION, project))
        subjects = {"free": _job(runner, jobs, None)}
        subjects |= {
            kind: _job(runner, jobs, sandbox.confinement)
            for kind, sandbox in held.items()
            if sandbox.level == kind
        }
        runs = interleaved(subjects, ROUNDS, warm_up=3)
        runner.run(jobs.close())
    least = {name: min(times) for name, times in runs.items()}
    print(", ".join(f"{name} {milliseconds(seconds)}" for name, seconds in least.items()))
    return [
        Outcome(promise, least[kind] / least["free"])
        for kind, promise in KINDS.items()
        if kind in least
    ]


def _job(
    runner: asyncio.Runner, jobs: JobRegistry, confinement: Confinement | None
) -> Callable[[], float]:
    async def work() -> None:
        job = await jobs.start(SESSION, JobRequest(code="true", confinement=confinement))
        await jobs.wait(job.id)

    def run() -> float:
        start = time.perf_counter()
        runner.run(work())
        return time.perf_counter() - start

    return run
