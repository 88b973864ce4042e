"""Jobs: what tracking costs over a bare process, for a short command and for a flood of output."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from bench.measure import Outcome, Promise, interleaved, milliseconds
from ollm_tui.services.jobs.job_registry import JobRegistry

ROUNDS = 40
FLOOD_ROUNDS = 3
GIGABYTE = 1024**3
LITTLE = 16 * 1024**2
SHORT = Promise("running a short command as a job", "bash alone", 8)
FLOOD = Promise("1 GB of output from a job", "the same through a bare pipe", 2)
MEMORY = Promise("peak memory after 1 GB of output", "after 16 MB", 1.1)
PROMISES = (SHORT, FLOOD, MEMORY)

SESSION = "bench"
ENVIRONMENT = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
BASH = ("bash", "--noprofile", "--norc", "-c")


def main() -> list[Outcome]:
    """Measure in one program, side by side."""
    with asyncio.Runner() as runner:
        jobs = JobRegistry(ENVIRONMENT)
        runner.run(jobs.open_shell(SESSION, Path("/")))
        runner.run(jobs.exec(SESSION, _flood(LITTLE)))
        before = _peak()
        outcomes = [*_flood_costs(runner, jobs), Outcome(MEMORY, _peak() / before)]
        print(f"peak memory: {before:,} KB after 16 MB of output, {_peak():,} KB after 1 GB")
        outcomes.insert(0, _short_cost(runner, jobs))
        runner.run(jobs.close())
    return outcomes


def _short_cost(runner: asyncio.Runner, jobs: JobRegistry) -> Outcome:
    runs = interleaved(
        {"job": _job(runner, jobs, "true"), "bare": _bare("true")}, ROUNDS, warm_up=3
    )
    job, bare = min(runs["job"]), min(runs["bare"])
    print(f"a short command: {milliseconds(job)} as a job, {milliseconds(bare)} in bash alone")
    return Outcome(SHORT, job / bare)


def _flood_costs(runner: asyncio.Runner, jobs: JobRegistry) -> list[Outcome]:
    code = _flood(GIGABYTE)
    runs = interleaved(
        {"job": _job(runner, jobs, code), "bare": _bare(code)}, FLOOD_ROUNDS, warm_up=0
    )
    job, bare = min(runs["job"]), min(runs["bare"])
    print(f"1 GB of output: {job:.2f} s as a job, {bare:.2f} s through a bare pipe")
    return [Outcome(FLOOD, job / bare)]


def _flood(size: int) -> str:
    return f"head -c {size} /dev/zero"


def _job(runner: asyncio.Runner, jobs: JobRegistry, code: str) -> Callable[[], float]:
    def run() -> float:
        start = time.perf_counter()
        runner.run(jobs.exec(SESSION, code))
        return time.perf_counter() - start

    return run


def _bare(code: str) -> Callable[[], float]:
    def run() -> float:
        start = time.perf_counter()
        with subprocess.Popen((*BASH, code), env=ENVIRONMENT, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            while os.read(process.stdout.fileno(), 256 * 1024):
                pass
        return time.perf_counter() - start

    return run


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
