"""Records of jobs on disk: a line when a job starts and one when it ends, never its output.

Also settles jobs that ran when an earlier run of the program ended.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from ollm_tui.core.errors import JobError
from ollm_tui.core.job import Job, ProcessMark
from ollm_tui.services.jobs import process_tree
from ollm_tui.services.jobs.process_tree import boot_id, process
from ollm_tui.storage.files.atomic_file import read_regular
from ollm_tui.storage.files.shared_file import append_line, keep_last_lines
from ollm_tui.storage.store_layout import is_valid_name

SUFFIX = ".jsonl"
MOST_LINES = 2_000
MOST_BYTES = 4_000_000
"""To this many lines and bytes the file of a session is cut back when its shell is opened."""
KEPT_DAYS = 30
"""How long the file of a session stays after its last line."""
LONGEST_CODE = 4096
"""Characters of a job's code that are recorded."""

log = logging.getLogger(__name__)


class JobRecord(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A job, and the processes that run it."""

    job: Job
    process: ProcessMark
    supervisor: ProcessMark = msgspec.field(name="keeper")  # as earlier versions wrote it
    owner: ProcessMark
    """The program that started it; while that runs, no other one settles the job."""


class JobRecords:
    """The record files in one folder, one for each session."""

    def __init__(self, folder: Path, redact: Callable[[str], str] = str) -> None:
        self._folder = folder
        self._redact = redact

    def write(self, record: JobRecord) -> None:
        """Append a record; one that cannot be written is only logged."""
        job = record.job
        short = msgspec.structs.replace(job, code=self._redact(job.code)[:LONGEST_CODE])
        line = msgspec.json.encode(msgspec.structs.replace(record, job=short))
        try:
            append_line(self._path(job.session_id), line)
        except OSError as error:
            log.warning("a job cannot be recorded: %s", error)

    def of(self, session_id: str) -> list[JobRecord]:
        """The jobs of a session, the oldest first, each as it was recorded last."""
        try:
            lines = read_regular(self._path(session_id)).splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            log.warning("earlier jobs cannot be read: %s", error)
            return []
        found = {record.job.id: record for record in map(_record, lines) if record}
        return sorted(found.values(), key=lambda record: record.job.sequence)

    def all(self) -> Iterator[JobRecord]:
        """The jobs of every session."""
        for session_id in self.sessions():
            yield from self.of(session_id)

    def sessions(self) -> list[str]:
        """The ids of sessions that have records, the latest first."""
        try:
            paths = sorted(self._folder.glob(f"*{SUFFIX}"), key=_time, reverse=True)
        except OSError:
            return []
        return [path.name.removesuffix(SUFFIX) for path in paths]

    def cut_back(self, session_id: str) -> None:
        """Drop all but the newest lines of a session's file."""
        try:
            keep_last_lines(self._path(session_id), MOST_LINES, MOST_BYTES)
        except FileNotFoundError:
            pass
        except OSError as error:
            log.warning("earlier jobs cannot be cut back: %s", error)

    def remove_old(self) -> None:
        """Remove files to which nothing was added for `KEPT_DAYS`."""
        before = time.time() - KEPT_DAYS * 86_400
        for session_id in self.sessions():
            path = self._path(session_id)
            if 0 < _time(path) < before:  # 0 where the time is unknown
                path.unlink(missing_ok=True)

    def _path(self, session_id: str) -> Path:
        assert is_valid_name(session_id)
        return self._folder / f"{session_id}{SUFFIX}"


def this_program() -> ProcessMark:
    """The mark of this process."""
    return mark(os.getpid())


def mark(pid: int, started: int | None = None) -> ProcessMark:
    """The mark of a process of this boot; its start time is 0 if that process is gone."""
    if started is None:
        found = process(pid)
        started = found.started if found else 0
    return ProcessMark(pid, started, boot_id())


def is_alive(marked: ProcessMark) -> bool:
    """Whether exactly that process still runs: numbers are given to new processes again."""
    found = process(marked.pid)
    same = found is not None and found.started == marked.started and found.state != "Z"
    return same and marked.boot == boot_id()


def _record(line: bytes) -> JobRecord | None:
    """The record in a line, or None if it is damaged."""
    try:
        return msgspec.json.decode(line, type=JobRecord)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _time(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


class RecordQueue:
    """Writes records in their order, in a thread; `flush` waits for the last one."""

    def __init__(self, records: JobRecords) -> None:
        self._records = records
        self._waiting: list[JobRecord] = []
        self._writing: asyncio.Task[None] | None = None

    def add(self, record: JobRecord) -> None:
        """Have a record written soon."""
        self._waiting.append(record)
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())

    async def flush(self) -> None:
        """Wait until everything is written."""
        while self._writing is not None:
            await asyncio.shield(self._writing)

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            await asyncio.to_thread(self._write_all, batch)
        self._writing = None

    def _write_all(self, batch: list[JobRecord]) -> None:
        for record in batch:
            self._records.write(record)


# Both are on disk as notes of jobs, and `was_cut_off` knows such jobs by them.
GONE = "ollm quit while it ran"
ENDED_NOW = "ollm quit while it ran; it was still running and has been killed"
STOP_SECONDS = 5.0
"""How long processes may take to end after SIGTERM."""
KILL_SECONDS = 2.0
"""How long they may take after SIGKILL."""
LOOK_EVERY_SECONDS = 0.05


def reconcile(records: JobRecords, session_id: str | None = None) -> list[Job]:
    """Settle and return every job that was running when its program ended.

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
    """Have a job of another program ended by its supervisor. JobError if it does not end."""
    if not is_alive(record.supervisor):
        raise JobError(f"{record.job.id} is not running", "ollm jobs list --running")
    os.kill(record.supervisor.pid, signal.SIGTERM)
    # The supervisor needs up to 5 s until it kills, and up to 5 s more until it gives up.
    until = time.monotonic() + 2 * STOP_SECONDS + KILL_SECONDS
    while is_alive(record.supervisor):
        if time.monotonic() > until:
            raise JobError(f"cannot kill {record.job.id}", f"kill -9 {record.job.pid}")
        time.sleep(LOOK_EVERY_SECONDS)


def _end(record: JobRecord) -> bool:
    """End the processes that are left of a job; whether there were any."""
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
