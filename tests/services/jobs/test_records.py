"""Jobs on disk: what is written, and what a new start says about jobs of the one before."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from ollm_tui.core.errors import JobError
from ollm_tui.core.job import Job, ProcessMark
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.jobs.process_tree import process
from ollm_tui.services.jobs.records import (
    ENDED_NOW,
    GONE,
    JobRecord,
    JobRecords,
    end_elsewhere,
    is_alive,
    mark,
    reconcile,
    this_program,
)
from tests.conftest import REPOSITORY
from tests.services.jobs.conftest import ENVIRONMENT, SESSION, printed

NOBODY = ProcessMark(2**22 + 1, 1, "another boot")


def record(number: int, process: ProcessMark = NOBODY, owner: ProcessMark = NOBODY) -> JobRecord:
    """A job that was running when this was written."""
    job = Job(
        id=f"job-{SESSION}-{number}",
        session_id=SESSION,
        sequence=number,
        code="sleep 60",
        language="shell",
        cwd="/",
        background=True,
        started_at="2026-01-01T00:00:00.000000Z",
        pid=process.pid,
    )
    return JobRecord(job=job, process=process, supervisor=NOBODY, owner=owner)


async def test_small_records_are_kept_for_this_user_only(jobs: JobRegistry, tmp_path: Path) -> None:
    job = await jobs.exec(SESSION, f"echo {'x' * 5000}")
    await jobs.close()
    file = tmp_path / "jobs" / f"{SESSION}.jsonl"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    (kept,) = JobRecords(tmp_path / "jobs").of(SESSION)
    assert kept.job == msgspec.structs.replace(job, code=job.code[:4096])
    assert kept.owner == this_program()
    assert b"xxxx\\n" not in file.read_bytes(), "the output is not kept"


async def test_what_is_written_is_redacted(tmp_path: Path) -> None:
    jobs = JobRegistry(
        ENVIRONMENT, tmp_path / "jobs", redact=lambda text: text.replace("hush", "***")
    )
    await jobs.open_shell(SESSION, tmp_path)
    assert await printed(jobs, "echo hush") == "hush\n"
    await jobs.close()
    assert b"hush" not in (tmp_path / "jobs" / f"{SESSION}.jsonl").read_bytes()


async def test_earlier_jobs_are_listed_and_numbers_go_on(jobs: JobRegistry, tmp_path: Path) -> None:
    first = await jobs.exec(SESSION, "echo one; echo two >&2; exit 3")
    await jobs.close()
    again = JobRegistry(ENVIRONMENT, tmp_path / "jobs")
    await again.open_shell(SESSION, tmp_path)
    second = await again.exec(SESSION, "true")
    assert second.id == f"job-{SESSION}-2"
    assert again.list_jobs(SESSION) == [second, first]
    output = again.job_output(first.id)
    assert (output.stdout.data, output.stdout.start, output.stdout.truncated) == (b"", 4, True)
    assert await again.kill(first.id) == first
    await again.close()


async def test_a_killed_program_is_told_of_at_the_next_start(tmp_path: Path) -> None:
    program = _program(tmp_path)
    pid = int(program.stdout.readline()) if program.stdout else 0
    program.kill()
    program.wait()
    while process(pid):
        await asyncio.sleep(0.02)
    jobs = JobRegistry(ENVIRONMENT, tmp_path / "jobs")
    (settled,) = await jobs.reconcile()
    assert (settled.status, settled.note, settled.pid) == ("killed", GONE, pid)
    assert await jobs.reconcile() == [], "it is told once"
    await jobs.open_shell(SESSION, tmp_path)
    statuses = [(job.sequence, job.status) for job in jobs.list_jobs(SESSION)]
    assert statuses == [(2, "killed"), (1, "completed")]
    await jobs.close()


def test_a_job_that_outlived_its_program_is_ended(tmp_path: Path) -> None:
    job_id = f"job-{SESSION}-1"
    left = subprocess.Popen(
        ["sh", "-c", "trap '' TERM; setsid sleep 60 & sleep 60"], env={"OLLM_JOB": job_id}
    )
    records = JobRecords(tmp_path)
    records.write(record(1, mark(left.pid)))
    ending = subprocess.Popen([sys.executable, "-c", f"import os; os.waitpid({left.pid}, 0)"])
    ending.wait()
    (settled,) = reconcile(records)
    assert (settled.status, settled.note) == ("killed", ENDED_NOW)
    # Where the sleep it waits for dies first, the shell may still tell so before it dies itself.
    assert left.wait() in (-signal.SIGKILL, 128 + signal.SIGKILL)
    assert reconcile(records) == []


def test_a_number_used_again_is_not_the_same_process(tmp_path: Path) -> None:
    own = this_program()
    records = JobRecords(tmp_path)
    another = msgspec.structs.replace(own, started=own.started - 1)
    records.write(record(1, another))
    records.write(record(2, msgspec.structs.replace(own, boot="before")))
    assert [job.note for job in reconcile(records)] == [GONE, GONE]
    assert is_alive(own)


def test_jobs_of_a_program_that_runs_are_left_to_it(tmp_path: Path) -> None:
    records = JobRecords(tmp_path)
    records.write(record(1, owner=this_program()))
    assert reconcile(records) == []
    assert [each.job.running for each in records.all()] == [True]


def test_damaged_lines_hide_no_others(tmp_path: Path) -> None:
    records = JobRecords(tmp_path)
    records.write(record(1))
    with (tmp_path / f"{SESSION}.jsonl").open("ab") as file:
        file.write(b'{"job": {\n\xff\n[]\n')
    records.write(record(2))
    assert [each.job.sequence for each in records.all()] == [1, 2]


def test_files_of_long_ago_go(tmp_path: Path) -> None:
    records = JobRecords(tmp_path)
    records.write(record(1))
    long_ago = time.time() - 31 * 86_400
    reconcile(records)
    os.utime(tmp_path / f"{SESSION}.jsonl", (long_ago, long_ago))
    reconcile(records)
    assert records.sessions() == []


def test_a_disk_that_takes_nothing_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    records = JobRecords(tmp_path / "file")
    records.write(record(1))
    assert records.of(SESSION) == []


async def test_a_job_can_be_ended_from_another_program(jobs: JobRegistry, tmp_path: Path) -> None:
    job = await jobs.exec(SESSION, "sleep 60", background=True)
    records = JobRecords(tmp_path / "jobs")
    while not records.of(SESSION):
        await asyncio.sleep(0.02)
    (kept,) = records.of(SESSION)
    await asyncio.to_thread(end_elsewhere, kept)
    ended = await jobs.wait(job.id)
    assert (ended.status, ended.note) == ("killed", "killed from outside")
    with pytest.raises(JobError, match="is not running"):
        end_elsewhere(kept)


async def test_a_job_of_another_running_program_is_shown_but_not_touched(tmp_path: Path) -> None:
    JobRecords(tmp_path).write(record(1, owner=this_program()))
    jobs = JobRegistry(ENVIRONMENT, tmp_path)
    await jobs.reconcile()
    await jobs.open_shell(SESSION, tmp_path)
    (job,) = jobs.list_jobs(SESSION, status="running")
    with pytest.raises(JobError, match="runs in another ollm"):
        await jobs.kill(job.id)
    await jobs.close()


def _program(folder: Path) -> subprocess.Popen[bytes]:
    """Another process with one job that ended and one that runs; it prints that one's pid."""
    code = (
        "import asyncio, pathlib\n"
        "from tests.services.jobs.conftest import *\n"
        "async def main():\n"
        f"    jobs = JobRegistry(ENVIRONMENT, pathlib.Path({str(folder / 'jobs')!r}))\n"
        f"    await jobs.open_shell({SESSION!r}, pathlib.Path('/'))\n"
        f"    await jobs.exec({SESSION!r}, 'true')\n"
        f"    job = await jobs.exec({SESSION!r}, 'sleep 60', background=True)\n"
        "    await asyncio.sleep(0.5)\n"
        "    print(job.pid, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    return subprocess.Popen([sys.executable, "-c", code], cwd=REPOSITORY, stdout=subprocess.PIPE)
