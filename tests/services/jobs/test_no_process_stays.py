"""Nothing a job starts outlives it, and nothing outlives the program, however it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.jobs.output_tail import Limits
from ollm_tui.services.jobs.process_tree import descendants, marked, process, processes
from tests.conftest import REPOSITORY
from tests.services.jobs.conftest import ENVIRONMENT, SESSION, printed, until, until_gone

FAMILY = """
sleep 61.{mark} &
setsid sleep 62.{mark} &
(setsid sh -c 'trap "" TERM HUP; sleep 63.{mark} & wait' &)
python3 -c '
import os
if not os.fork():
    os.setsid()
    if not os.fork():
        os.execve("/bin/sleep", ["sleep", "64.{mark}"], {{}})
'
echo ready
"""
"""Own sessions, orphans, deaf to signals, one without the mark of its job. The number after
the point tells the families of tests that run side by side apart."""


def family(mark: int | None = None) -> str:
    """The code that starts a family."""
    return FAMILY.format(mark=mark or os.getpid())


def sleepers(mark: int | None = None) -> list[int]:
    """A family's processes, by their arguments: one of them hides its environment."""
    wanted = {f"sleep\0{age}.{mark or os.getpid()}\0".encode() for age in (61, 62, 63, 64)}
    found: list[int] = []
    for line in processes():
        try:
            if Path(f"/proc/{line.pid}/cmdline").read_bytes() in wanted:
                found.append(line.pid)
        except OSError:
            continue
    return found


async def started_family(jobs: JobRegistry, mark: int | None = None) -> str:
    """A job with all of a family running; its id."""
    job = await jobs.exec(SESSION, family(mark) + "sleep 60", background=True)
    await until(lambda: len(sleepers(mark)) == 4)
    return job.id


async def test_killing_a_job_ends_its_whole_family(jobs: JobRegistry) -> None:
    job_id = await started_family(jobs)
    ended = await jobs.kill(job_id, "SIGKILL")
    assert ended.status == "killed"
    assert not sleepers()
    assert not marked(job_id)


async def test_what_a_job_leaves_running_ends_with_it_and_is_told(jobs: JobRegistry) -> None:
    job = await jobs.exec(SESSION, family())
    assert job.status == "completed"
    assert "processes it left running" in job.note
    assert not sleepers()


async def test_a_job_that_ignores_the_first_signal_is_killed(tmp_path: Path) -> None:
    jobs = JobRegistry(ENVIRONMENT, limits=Limits(stop_grace_seconds=0.3))
    await jobs.open_shell(SESSION, tmp_path)
    job = await jobs.exec(
        SESSION, "trap '' TERM INT HUP; echo deaf; while :; do sleep 60; done", background=True
    )
    await until(lambda: jobs.job_output(job.id).stdout.data == b"deaf\n")
    ended = await jobs.kill(job.id)
    assert (ended.status, ended.exit_code) == ("killed", 137)
    assert not marked(job.id)
    await jobs.close()


async def test_a_job_ends_by_the_first_signal_whenever_it_comes(tmp_path: Path) -> None:
    jobs = JobRegistry(ENVIRONMENT, limits=Limits(stop_grace_seconds=600))
    await jobs.open_shell(SESSION, tmp_path)
    for milliseconds in range(0, 30, 1):
        job = await jobs.exec(SESSION, "sleep 60", background=True)
        await asyncio.sleep(milliseconds / 2000)
        assert (await jobs.kill(job.id)).exit_code == 143
    await jobs.close()


async def test_a_stopped_job_can_be_ended(jobs: JobRegistry) -> None:
    job = await jobs.exec(SESSION, "sleep 60 & kill -STOP $! $$", background=True)
    await until(lambda: (line := process(job.pid)) is not None and line.state == "T")
    assert (await jobs.kill(job.id)).status == "killed"
    assert not marked(job.id)


async def test_a_fork_bomb_is_ended(tmp_path: Path) -> None:
    jobs = JobRegistry(ENVIRONMENT, limits=Limits(processes=60, tasks=1500))
    await jobs.open_shell(SESSION, tmp_path)
    job = await jobs.exec(SESSION, "b() { b | b & }; b; sleep 300", timeout=200)
    assert (job.status, job.note) == ("killed", "it had more than 60 processes")
    assert not marked(job.id)
    assert await printed(jobs, "echo on") == "on\n"
    await jobs.close()


async def test_many_processes_of_others_are_no_reason_to_end_a_job(tmp_path: Path) -> None:
    jobs = JobRegistry(ENVIRONMENT, limits=Limits(processes=20))
    await jobs.open_shell(SESSION, tmp_path)
    job = await jobs.exec(SESSION, "sleep 1; echo fine", background=True)
    others = [subprocess.Popen(["sleep", "60"]) for _ in range(40)]
    assert (await jobs.wait(job.id)).status == "completed"
    for other in others:
        other.kill()
        other.wait()
    await jobs.close()


async def test_closing_ends_every_job(tmp_path: Path) -> None:
    jobs = JobRegistry(ENVIRONMENT)
    await jobs.open_shell(SESSION, tmp_path)
    job_id = await started_family(jobs)
    await jobs.close()
    assert not sleepers()
    assert not marked(job_id)
    assert jobs.job(job_id).status == "killed"
    assert not [line for line in descendants(os.getpid()) if _is_ours(line.pid)]


async def test_closing_a_shell_ends_its_jobs_and_no_others(
    jobs: JobRegistry, tmp_path: Path
) -> None:
    await jobs.open_shell("other", tmp_path)
    kept = await jobs.exec("other", "sleep 60", background=True)
    gone = await jobs.exec(SESSION, "sleep 60", background=True)
    await jobs.close_shell(SESSION)
    assert not marked(gone.id)
    assert jobs.job(kept.id).running


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
async def test_ending_the_program_leaves_no_process(tmp_path: Path, how: int) -> None:
    program = await _program(tmp_path)
    below = descendants(program.pid)
    assert len(below) > 4
    program.send_signal(how)
    await program.wait()
    await until(lambda: not sleepers())
    await until(lambda: not any(process(line.pid) for line in below))


async def test_a_killed_launcher_leaves_running_jobs_alone_and_is_replaced(
    jobs: JobRegistry,
) -> None:
    job = await jobs.exec(SESSION, "sleep 0.5; echo fine", background=True)
    os.kill(_launcher(job.pid), signal.SIGKILL)
    await asyncio.sleep(0.1)
    assert await printed(jobs, "echo again") == "again\n"
    assert (await jobs.wait(job.id)).status == "completed"
    assert jobs.job_output(job.id).stdout.data == b"fine\n"


async def test_a_killed_keeper_ends_its_job(jobs: JobRegistry) -> None:
    job_id = await started_family(jobs)
    line = process(jobs.job(job_id).pid)
    assert line is not None
    os.kill(line.parent, signal.SIGKILL)
    ended = await jobs.wait(job_id)
    assert (ended.status, ended.note) == ("killed", "killed from outside")
    await until(lambda: not sleepers())
    await until_gone(job_id)


def _launcher(job: int) -> int:
    supervisor = process(job)
    assert supervisor is not None
    launcher = process(supervisor.parent)
    assert launcher is not None
    return launcher.parent


def _is_ours(pid: int) -> bool:
    try:
        return b"ollm_tui.services.jobs" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


async def _program(folder: Path) -> asyncio.subprocess.Process:
    """Another process that runs FAMILY as a job."""
    code = (
        "import asyncio, pathlib\n"
        "from tests.services.jobs.test_no_process_stays import *\n"
        "async def main():\n"
        "    jobs = JobRegistry(ENVIRONMENT)\n"
        "    await jobs.open_shell(SESSION, pathlib.Path('/'))\n"
        f"    await started_family(jobs, {os.getpid()})\n"
        "    print('ready', flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    program = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        code,
        cwd=REPOSITORY,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert program.stdout is not None
    assert await program.stdout.readline() == b"ready\n"
    return program
