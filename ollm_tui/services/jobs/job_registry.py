"""The jobs of all sessions: starting, listing, reading, ending. Owner of every such process."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from ollm_tui.core.errors import JobError
from ollm_tui.core.job import Job, JobEvent, JobMoved, JobOutput, JobStatus
from ollm_tui.services.jobs.execution import JobListeners
from ollm_tui.services.jobs.output_tail import Limits, to_close
from ollm_tui.services.jobs.records import (
    JobRecords,
    RecordQueue,
    reconcile,
    this_program,
    was_cut_off,
)
from ollm_tui.services.jobs.running_job import RunningJob
from ollm_tui.services.jobs.shell import Shell, ShellView
from ollm_tui.services.jobs.shell_state import ShellState
from ollm_tui.services.jobs.starting import JobRequest, JobStarter
from ollm_tui.services.topic import Topic
from ollm_tui.storage.store_layout import is_valid_name

CLOSE_GRACE_SECONDS = 1.0
"""What ends with the program has this long to do so by itself."""
CLOSE_SECONDS = 3.0
SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGKILL")


class JobRegistry:
    """Shells and their jobs. `environment` is what a new shell begins with, cleaned already.

    With a folder, small records of the jobs are kept there; without one nothing is on disk.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        folder: Path | None = None,
        limits: Limits | None = None,
        redact: Callable[[str], str] = str,
    ) -> None:
        self._environment = dict(environment)
        self._limits = limits or Limits()
        self._records = JobRecords(folder, redact) if folder else None
        self._queue = RecordQueue(self._records) if self._records else None
        self._told = JobListeners(this_program(), self._queue)
        self._starter = JobStarter(self._limits, self._told)
        self._shells: dict[str, Shell] = {}
        """The least recently used first."""
        self._temporary: set[str] = set()
        """Shells that do not count."""

    @property
    def events(self) -> Topic[JobEvent]:
        """Tells of every job when it starts, prints, moves to the background and ends."""
        return self._told.events

    async def reconcile(self, session_id: str | None = None) -> list[Job]:
        """Settle what earlier runs of the program left, in one session or in all."""
        if self._records is None:
            return []
        return await asyncio.to_thread(reconcile, self._records, session_id)

    async def cut_off(self, session_id: str) -> list[Job]:
        """The jobs of a session that ran when an earlier run of the program ended."""
        if self._records is None:
            return []
        records = await asyncio.to_thread(self._records.of, session_id)
        return [record.job for record in records if was_cut_off(record.job)]

    async def open_shell(
        self,
        session_id: str,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        variables: Mapping[str, Any] | None = None,
        *,
        temporary: bool = False,
    ) -> ShellView:
        """A session's shell; made if there is none. JobError if there are too many busy ones.

        A temporary one is closed by whoever opened it: it takes no other's place.
        """
        if session_id not in self._shells:
            if not is_valid_name(session_id):
                raise JobError(f"{session_id!r} cannot be the id of a session", "use a UUID")
            earlier = await self._earlier(session_id)
            if session_id not in self._shells:
                if not temporary:
                    self._make_room()
                start = ShellState(cwd=str(cwd.absolute()), environment=self._environment)
                shell = Shell(session_id, start, self._limits, earlier)
                shell.change(None, dict(env or {}), dict(variables or {}))
                self._shells[session_id] = shell
                if temporary:
                    self._temporary.add(session_id)
        return self._used(session_id).view()

    def change_shell(
        self,
        session_id: str,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        variables: Mapping[str, Any] | None = None,
    ) -> ShellView:
        """Set a shell's directory, environment, variables; what is not given stays."""
        shell = self._used(session_id)
        place = None if cwd is None else Path(shell.state.cwd, cwd)
        if place is not None and not place.is_dir():
            raise JobError(f"there is no directory {place}", "name one that exists")
        shell.change(place and str(place), dict(env or {}), dict(variables or {}))
        return shell.view()

    def shells(self) -> list[ShellView]:
        """Every shell, the most recently used first."""
        return [shell.view() for shell in reversed(self._shells.values())]

    async def close_shell(self, session_id: str) -> None:
        """End a shell and all its jobs; their records on disk stay."""
        shell = self._find_shell(session_id)
        await _end_all(shell.running())
        self._shells.pop(session_id, None)
        self._temporary.discard(session_id)

    async def start(self, session_id: str, wanted: JobRequest) -> Job:
        """Start a job and do not wait for it."""
        return (await self._start(session_id, wanted)).job

    async def exec(
        self,
        session_id: str,
        code: str,
        language: Literal["shell", "python"] = "shell",
        background: bool = False,
        timeout: float | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Job:
        """Run code: to its end, or until it is moved to the background, or only start it."""
        wanted = JobRequest(
            code=code,
            language=language,
            background=background,
            timeout=timeout,
            env=dict(env or {}),
        )
        running = await self._start(session_id, wanted)
        if not background:
            try:
                await running.released.wait()
            except asyncio.CancelledError:
                running.stop()
                raise
        return running.job

    def move_to_background(self, job_id: str) -> Job:
        """Whoever waits for the job goes on; it no longer changes the shell."""
        running = self._running(job_id)
        if running.job.running and not running.job.background:
            running.to_background()
            self.events.publish(JobMoved(running.job))
        return running.job

    def list_jobs(
        self,
        session_id: str,
        status: JobStatus | None = None,
        background: bool | None = None,
        limit: int | None = None,
    ) -> list[Job]:
        """The jobs of a session, the newest first; also those of earlier runs of the program."""
        return self._find_shell(session_id).jobs(status, background, limit)

    def job(self, job_id: str) -> Job:
        """One job as it is now. JobError if there is none."""
        for shell in self._shells.values():
            if job := shell.job(job_id):
                return job
        raise _no_job(job_id)

    def job_output(self, job_id: str, stdout_from: int = 0, stderr_from: int = 0) -> JobOutput:
        """What is kept of a job's output, from absolute byte offsets on."""
        for shell in self._shells.values():
            if output := shell.output(job_id, stdout_from, stderr_from):
                return output
        raise _no_job(job_id)

    def is_ours(self, job_id: str) -> bool:
        """Whether a job is of this run of the program: others are only known from records."""
        return any(shell.find(job_id) for shell in self._shells.values())

    async def kill(self, job_id: str, signal_name: str = "SIGTERM") -> Job:
        """End a job with all it started, and wait for that. One that has ended stays as it is."""
        if signal_name not in SIGNALS:
            raise JobError(f"{signal_name!r} does not end jobs", f"use {', '.join(SIGNALS)}")
        if self.job(job_id).running:
            running = self._running(job_id)
            running.stop(number=signal.Signals[signal_name])
            await running.finished.wait()
        return self.job(job_id)

    async def wait(self, job_id: str, timeout: float | None = None) -> Job:
        """Wait for a job's end, at most some seconds; then it comes back still running."""
        if self.job(job_id).running:
            try:
                async with asyncio.timeout(timeout):
                    await self._running(job_id).finished.wait()
            except TimeoutError:
                pass
        return self.job(job_id)

    async def close(self) -> None:
        """End every job and write the last record; nothing stays behind."""
        everything = [running for shell in self._shells.values() for running in shell.running()]
        await _end_all(everything)
        await self._starter.close()
        if self._queue is not None:
            await self._queue.flush()

    async def _start(self, session_id: str, wanted: JobRequest) -> RunningJob:
        shell = self._used(session_id)
        busy = sum(1 for each in self._shells.values() for _ in each.running())
        if busy >= self._limits.running_jobs:
            raise JobError(f"{busy} jobs are running", "wait for some of them, or end them")
        return await self._starter.start(shell, wanted)

    async def _earlier(self, session_id: str) -> list[Job]:
        records = self._records
        if records is None:
            return []
        await asyncio.to_thread(records.cut_back, session_id)
        return [record.job for record in await asyncio.to_thread(records.of, session_id)]

    def _make_room(self) -> None:
        lasting = [each for each in self._shells.values() if each.session_id not in self._temporary]
        closing = to_close((shell.use(at) for at, shell in enumerate(lasting)), self._limits)
        for session_id in closing:
            del self._shells[session_id]
        if (count := len(lasting) - len(closing)) >= self._limits.shells:
            raise JobError(f"{count} shells have running jobs", "wait for one, or end its jobs")

    def _find_shell(self, session_id: str) -> Shell:
        if session_id not in self._shells:
            raise JobError(f"there is no session {session_id!r}", "start one first")
        return self._shells[session_id]

    def _used(self, session_id: str) -> Shell:
        shell = self._find_shell(session_id)
        self._shells[session_id] = self._shells.pop(session_id)
        return shell

    def _running(self, job_id: str) -> RunningJob:
        found: Iterator[RunningJob | None] = (shell.find(job_id) for shell in self._shells.values())
        running = next((each for each in found if each), None)
        if running is None:
            self.job(job_id)
            raise JobError(f"{job_id} runs in another ollm", f"ollm jobs kill {job_id}")
        return running


async def _end_all(running: Iterable[RunningJob]) -> None:
    """End jobs, with little patience: first they are asked, then their supervisors see to it."""
    ending = list(running)
    for each in ending:
        each.stop(grace_seconds=CLOSE_GRACE_SECONDS, note="its shell was closed")
    waits = [asyncio.create_task(each.finished.wait()) for each in ending]
    if waits:
        await asyncio.wait(waits, timeout=CLOSE_SECONDS)
    for each in ending:
        each.abandon()
    if waits:
        await asyncio.wait(waits)


def _no_job(job_id: str) -> JobError:
    return JobError(f"there is no job {job_id!r}", "listJobs or /jobs shows what there is")
