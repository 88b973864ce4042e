"""Jobs: how they end, what is told of them, how they are read, waited for and ended."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ollm_tui.core.errors import JobError
from ollm_tui.core.job import (
    Job,
    JobEvent,
    JobFinished,
    JobMoved,
    JobOutputArrived,
    JobStarted,
)
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.jobs.output_tail import Limits
from ollm_tui.services.jobs.process_tree import process
from ollm_tui.services.jobs.starting import JobRequest
from tests.cases import some
from tests.services.jobs.conftest import ENVIRONMENT, GATE, SESSION, until


def told(jobs: JobRegistry) -> list[JobEvent]:
    """What is published from now on."""
    events: list[JobEvent] = []
    jobs.events.subscribe(events.append)
    return events


@some(
    3,
    ("code", "status", "exit_code"),
    [
        ("true", "completed", 0),
        ("exit 3", "failed", 3),
        ("no-such-command", "failed", 127),
        ("if", "failed", 2),
        ("kill -SEGV $$", "failed", 139),
        ("exec false", "failed", 1),
    ],
)
async def test_a_job_ends_as_its_code_does(
    jobs: JobRegistry, code: str, status: str, exit_code: int
) -> None:
    job = await jobs.exec(SESSION, code)
    assert (job.status, job.exit_code) == (status, exit_code)


async def test_a_job_has_all_that_is_to_be_known_about_it(
    jobs: JobRegistry, tmp_path: Path
) -> None:
    job = await jobs.exec(SESSION, "echo out; echo problem >&2; echo $$; exit 1")
    output = jobs.job_output(job.id)
    assert output.stdout.data == b"out\n%d\n" % job.pid
    assert output.stderr.data == b"problem\n"
    assert job.duration is not None
    assert job == Job(
        id=f"job-{SESSION}-1",
        session_id=SESSION,
        sequence=1,
        code="echo out; echo problem >&2; echo $$; exit 1",
        language="shell",
        cwd=str(tmp_path / "work"),
        background=False,
        started_at=job.started_at,
        pid=job.pid,
        status="failed",
        exit_code=1,
        completed_at=job.completed_at,
        duration=job.duration,
        stdout_bytes=len(output.stdout.data),
        stderr_bytes=8,
    )
    assert job.completed_at is not None
    assert job.completed_at >= job.started_at


async def test_a_signal_that_ended_a_job_is_named(jobs: JobRegistry) -> None:
    assert (await jobs.exec(SESSION, "kill -SEGV $$")).note == "killed by SIGSEGV"


async def test_a_background_job_runs_on_and_can_be_waited_for(jobs: JobRegistry) -> None:
    job = await jobs.exec(SESSION, "sleep 0.2; echo done", background=True)
    assert job.running
    assert (await jobs.wait(job.id, timeout=0.01)).running
    assert (await jobs.wait(job.id)).status == "completed"
    assert jobs.job_output(job.id).stdout.data == b"done\n"


async def test_a_job_that_takes_too_long_is_ended_and_says_so(jobs: JobRegistry) -> None:
    job = await jobs.exec(SESSION, "echo begun; sleep 60", timeout=1.5)
    assert (job.status, job.exit_code) == ("timeout", 143)
    assert job.note == "it took longer than 1.5 seconds"
    assert jobs.job_output(job.id).stdout.data == b"begun\n"


async def test_a_killed_job_is_gone_when_kill_returns(jobs: JobRegistry) -> None:
    job = await jobs.exec(SESSION, "sleep 60", background=True)
    ended = await jobs.kill(job.id)
    assert (ended.status, ended.exit_code) == ("killed", 143)
    assert process(job.pid) is None


async def test_another_signal_can_be_named(jobs: JobRegistry) -> None:
    code = "trap 'echo asked; exit 5' INT; echo ready; while :; do sleep 0.1; done"
    job = await jobs.exec(SESSION, code, background=True)
    await until(lambda: bool(jobs.job_output(job.id).stdout.data))
    ended = await jobs.kill(job.id, "SIGINT")
    assert (ended.status, ended.exit_code) == ("killed", 5)
    for wrong in ("SIGFOO", "", "0", 4711):
        with pytest.raises(JobError, match=f"there is no signal {wrong!r}"):
            await jobs.kill(job.id, wrong)


@some(1, "name", ["TERM", "sigterm", "15", 15])
async def test_a_signal_has_a_name_and_a_number(jobs: JobRegistry, name: str | int) -> None:
    job = await jobs.exec(SESSION, "sleep 60", background=True)
    assert (await jobs.kill(job.id, name)).exit_code == 143


@some(1, "name", ["SIGUSR1", "USR1", "10"])
async def test_a_signal_that_does_not_end_a_job_reaches_who_handles_it(
    jobs: JobRegistry, name: str
) -> None:
    server = "trap 'echo asked' USR1; echo ready; until [ -e go ]; do sleep 0.05; done; echo over"
    job = await jobs.exec(SESSION, f'bash -c "{server}"; echo after', background=True)
    await until(lambda: jobs.job_output(job.id).stdout.data == b"ready\n")
    assert (await jobs.kill(job.id, name)).running
    await until(lambda: b"asked" in jobs.job_output(job.id).stdout.data)
    Path(job.cwd, "go").touch()
    ended = await jobs.wait(job.id)
    assert (ended.status, ended.note) == ("completed", "")
    assert jobs.job_output(job.id).stdout.data == b"ready\nasked\nover\nafter\n"


async def test_a_job_can_be_stopped_and_continued(jobs: JobRegistry) -> None:
    job = await jobs.exec(SESSION, "until [ -e go ]; do sleep 0.05; done", background=True)
    await jobs.kill(job.id, "SIGSTOP")

    def state() -> str:
        line = process(job.pid)
        return line.state if line else "gone"

    await until(lambda: state() == "T")
    await jobs.kill(job.id, "SIGCONT")
    await until(lambda: state() not in ("T", "gone"))
    Path(job.cwd, "go").touch()
    assert (await jobs.wait(job.id)).status == "completed"


async def test_killing_a_job_that_has_ended_changes_nothing(jobs: JobRegistry) -> None:
    job = await jobs.exec(SESSION, "true")
    assert await jobs.kill(job.id) == job


async def test_a_job_moved_to_the_background_lets_go_of_who_waits(jobs: JobRegistry) -> None:
    events = told(jobs)
    waiting = asyncio.create_task(jobs.exec(SESSION, "cd /; sleep 0.3; echo done"))
    await until(lambda: bool(events))
    moved = jobs.move_to_background(f"job-{SESSION}-1")
    assert await waiting == moved
    assert (moved.running, moved.background) == (True, True)
    ended = await jobs.wait(moved.id)
    assert (ended.status, ended.background) == ("completed", True)
    assert JobMoved(moved) in events
    assert jobs.shells()[0].cwd != "/", "it no longer changes the shell"


async def test_a_job_moved_to_the_background_has_as_long_as_it_needs(jobs: JobRegistry) -> None:
    events = told(jobs)
    waiting = asyncio.create_task(jobs.exec(SESSION, "sleep 3; echo done", timeout=2))
    await until(lambda: bool(events))
    moved = jobs.move_to_background(f"job-{SESSION}-1")
    assert await waiting == moved
    assert (await jobs.wait(moved.id)).status == "completed"


async def test_a_job_moved_the_moment_it_begins_has_as_long_too(jobs: JobRegistry) -> None:
    def move(event: JobEvent) -> None:
        if isinstance(event, JobStarted):
            jobs.move_to_background(event.job.id)

    jobs.events.subscribe(move)
    moved = await jobs.exec(SESSION, "sleep 0.5; echo done", timeout=0.1)
    assert (await jobs.wait(moved.id)).status == "completed"


async def test_giving_up_waiting_ends_the_job(jobs: JobRegistry) -> None:
    events = told(jobs)
    waiting = asyncio.create_task(jobs.exec(SESSION, "sleep 60"))
    await until(lambda: bool(events))
    waiting.cancel()
    assert (await jobs.wait(f"job-{SESSION}-1")).status == "killed"


async def test_every_job_is_told_from_start_to_end(jobs: JobRegistry, tmp_path: Path) -> None:
    events = told(jobs)
    job = await jobs.start(SESSION, JobRequest(code=f"echo a; {GATE}; echo b"))
    await until(lambda: JobOutputArrived(job.id, 2, 0) in events)
    (tmp_path / "work" / "go").touch()
    ended = await jobs.wait(job.id)
    assert events[0] == JobStarted(job)
    assert events[-1] == JobFinished(ended)
    assert events[1:-1] == [JobOutputArrived(job.id, 2, 0), JobOutputArrived(job.id, 4, 0)]


async def test_many_prints_make_few_events(jobs: JobRegistry) -> None:
    events = told(jobs)
    await jobs.exec(SESSION, "for i in {1..300}; do echo $i; done")
    assert len(events) < 30
    assert isinstance(events[-2], JobOutputArrived)


async def test_jobs_are_listed_newest_first_and_filtered(jobs: JobRegistry) -> None:
    await jobs.exec(SESSION, "true")
    await jobs.exec(SESSION, "false")
    running = await jobs.exec(SESSION, "sleep 60", background=True)
    assert [job.sequence for job in jobs.list_jobs(SESSION)] == [3, 2, 1]
    assert [job.sequence for job in jobs.list_jobs(SESSION, limit=2)] == [3, 2]
    assert [job.sequence for job in jobs.list_jobs(SESSION, status="failed")] == [2]
    assert jobs.list_jobs(SESSION, background=True) == [running]


async def test_output_is_read_from_offsets_of_its_own_stream(jobs: JobRegistry) -> None:
    job = await jobs.exec(SESSION, "echo abc; echo defg >&2")
    output = jobs.job_output(job.id, stdout_from=2, stderr_from=3)
    assert (output.stdout.data, output.stderr.data) == (b"c\n", b"g\n")
    assert (output.stdout.end, output.stderr.end) == (4, 5)


async def test_a_flood_is_kept_exactly_at_its_end(jobs: JobRegistry) -> None:
    size, most = 64 * 1024 * 1024, 1024 * 1024
    writer = "import sys\nfor n in range(1024): sys.stdout.buffer.write(b'%07d\\n' % n * 8192)"
    job = await jobs.exec(SESSION, f'python3 -c "{writer}"')
    expected = b"".join(b"%07d\n" % n * 8192 for n in range(1024 - 16, 1024))
    output = jobs.job_output(job.id)
    assert job.status == "completed", output.stderr.text()
    assert (output.stdout.start, output.stdout.end) == (size - most, size)
    assert output.stdout.data == expected
    assert (job.stdout_bytes, job.stdout_truncated) == (size, True)


async def test_two_hundred_jobs_run_at_once(jobs: JobRegistry) -> None:
    started = [await jobs.exec(SESSION, "sleep 60", background=True) for _ in range(200)]
    assert len(jobs.list_jobs(SESSION, status="running")) == 200
    ended = await asyncio.gather(*(jobs.kill(job.id, "SIGKILL") for job in started))
    assert {job.status for job in ended} == {"killed"}
    assert not any(process(job.pid) for job in started)


async def test_what_does_not_exist_is_said_with_a_hint(jobs: JobRegistry) -> None:
    with pytest.raises(JobError, match="no session 'nobody'"):
        await jobs.exec("nobody", "true")
    with pytest.raises(JobError, match="no job 'job-x-1'"):
        jobs.job("job-x-1")
    with pytest.raises(JobError, match="cannot be the id of a session"):
        await jobs.open_shell("../x", Path("/"))
    with pytest.raises(JobError, match="NUL"):
        await jobs.exec(SESSION, "echo \0")


async def test_without_a_folder_nothing_is_on_disk(tmp_path: Path) -> None:
    jobs = JobRegistry(ENVIRONMENT, limits=Limits())
    await jobs.open_shell(SESSION, tmp_path)
    await jobs.exec(SESSION, "true")
    await jobs.close()
    assert {path.name for path in tmp_path.iterdir()} == {"home", "project"}
