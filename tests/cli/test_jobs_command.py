"""`ollm jobs`: what other processes run and ran, and ending it from here."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.jobs.records import JobRecords
from tests.cli.conftest import Run

SESSION = "3f2a0000-0000-4000-8000-000000000001"


async def opened(home: Path) -> JobRegistry:
    """Jobs as the chat has them, with one that ended."""
    jobs = JobRegistry({"PATH": os.environ["PATH"]}, home / "jobs")
    await jobs.open_shell(SESSION, Path.cwd())
    await jobs.exec(SESSION, "echo 'a\x1b[31mb'; exit 3")
    return jobs


def test_an_empty_list_teaches(run_ollm: Run) -> None:
    assert run_ollm("jobs", "list").stdout == "No jobs yet. !command in the chat runs one.\n"
    assert run_ollm("jobs", "list", "--running").stdout == "No running jobs.\n"
    assert json.loads(run_ollm("jobs", "list", "--json").stdout) == []


async def test_jobs_are_listed_shown_and_ended_from_outside(home: Path, run_ollm: Run) -> None:
    jobs = await opened(home)
    job = await jobs.exec(SESSION, "sleep 60", background=True)
    while len(JobRecords(home / "jobs").of(SESSION)) < 2:
        await asyncio.sleep(0.02)
    listed = (await asyncio.to_thread(run_ollm, "jobs", "list")).stdout.splitlines()
    assert [line.split()[:2] for line in listed] == [
        [f"job-{SESSION}-2", "running"],
        [f"job-{SESSION}-1", "failed"],
    ]
    assert listed[1].endswith("echo 'ab'; exit 3")
    done = await asyncio.to_thread(run_ollm, "jobs", "kill", f"job-{SESSION}-2")
    assert (done.returncode, done.stdout) == (0, f"job-{SESSION}-2 ended\n")
    assert (await jobs.wait(job.id)).status == "killed"
    await jobs.close()
    shown = run_ollm("jobs", "show", f"{SESSION}-2").stdout
    assert "killed, code 143" in shown
    assert "killed from outside" in shown
    again = run_ollm("jobs", "kill", f"job-{SESSION}-2")
    assert (again.returncode, again.stderr) == (
        1,
        f"ollm: job-{SESSION}-2 is not running (ollm jobs list --running)\n",
    )


async def test_lists_can_be_narrowed_and_read_by_programs(home: Path, run_ollm: Run) -> None:
    jobs = await opened(home)
    await jobs.open_shell("other", Path.cwd())
    await jobs.exec("other", "true")
    await jobs.close()
    every = json.loads(run_ollm("jobs", "list", "--json").stdout)
    assert [each["sessionId"] for each in every] == ["other", SESSION]
    assert len(json.loads(run_ollm("jobs", "list", "--limit", "1", "--json").stdout)) == 1
    (found,) = json.loads(run_ollm("jobs", "list", "--session", "3f2a", "--json").stdout)
    assert (found["status"], found["exitCode"]) == ("failed", 3)
    one = json.loads(run_ollm("jobs", "show", "3f2a", "--json").stdout)
    assert one == found
    assert run_ollm("jobs", "list", "--running").stdout == "No running jobs.\n"


async def test_ids_that_fit_no_job_or_several_are_said(home: Path, run_ollm: Run) -> None:
    jobs = await opened(home)
    await jobs.exec(SESSION, "true")
    await jobs.close()
    none = run_ollm("jobs", "show", "nothing")
    assert none.stderr == "ollm: no job 'nothing' (see ollm jobs list)\n"
    several = run_ollm("jobs", "show", "job-3f2a")
    assert several.stderr.startswith("ollm: 2 jobs start with 'job-3f2a' (use a longer id")
    assert none.returncode == several.returncode == 1
