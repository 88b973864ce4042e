"""What became of jobs whose program is gone, and ending jobs from another process."""

from __future__ import annotations

import os
import signal
import time

import msgspec

from ollm_tui.core.errors import JobError
from ollm_tui.core.job import Job
from ollm_tui.services.jobs import process_tree
from ollm_tui.services.jobs.records import JobRecord, JobRecords, is_alive

GONE = "ollm ended while it ran"
ENDED_NOW = "ollm ended while it ran; it was still running and was ended now"
STOP_SECONDS = 5.0
KILL_SECONDS = 2.0
LOOK_EVERY_SECONDS = 0.05


def reconcile(records: JobRecords, session_id: str | None = None) -> list[Job]:
    """Settle every job that was running when its program ended; what was settled comes back.

    With a session only its jobs are looked at, which reads one small file. A job that still runs
    is ended, not taken over: its output went to the program that is gone, so nobody could ever
    see what it does.
    """
    settled: list[Job] = []
    for record in records.all() if session_id is None else records.of(session_id):
        if not record.job.running or is_alive(record.owner):
            continue
        note = ENDED_NOW if _end(record) else GONE
        job = msgspec.structs.replace(record.job, status="killed", note=note)
        records.write(msgspec.structs.replace(record, job=job))
        settled.append(job)
    if session_id is None:
        records.remove_old()
    return settled


def was_cut_off(job: Job) -> bool:
    """Whether a job ran when its program ended."""
    return job.status == "killed" and job.note in (GONE, ENDED_NOW)


def end_elsewhere(record: JobRecord) -> None:
    """End a job that another program runs: its keeper does it. JobError if it does not end."""
    if not is_alive(record.keeper):
        raise JobError(f"{record.job.id} does not run", "ollm jobs list shows what does")
    os.kill(record.keeper.pid, signal.SIGTERM)
    until = time.monotonic() + 2 * STOP_SECONDS + KILL_SECONDS
    while is_alive(record.keeper):
        if time.monotonic() > until:
            raise JobError(f"{record.job.id} does not end", f"kill -9 {record.job.pid}")
        time.sleep(LOOK_EVERY_SECONDS)


def _end(record: JobRecord) -> bool:
    """End what is left of a job; whether there was anything."""
    if not _members(record):
        return False
    for number, seconds in ((signal.SIGTERM, STOP_SECONDS), (signal.SIGKILL, KILL_SECONDS)):
        until = time.monotonic() + seconds
        members = _members(record)
        process_tree.send(members, number)
        while members and time.monotonic() < until:
            time.sleep(LOOK_EVERY_SECONDS)
            members = _members(record)
    return True


def _members(record: JobRecord) -> set[int]:
    """The job's process and all below it, those of its session, and those that bear its mark."""
    lines = process_tree.processes()
    members = set(process_tree.marked(record.job.id, lines))
    if is_alive(record.process):
        leading = record.process.pid
        members |= {leading, *(line.pid for line in process_tree.descendants(leading, lines))}
        members |= {line.pid for line in lines if line.session == leading and line.state != "Z"}
    return members
