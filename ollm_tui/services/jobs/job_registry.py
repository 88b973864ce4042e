"""The jobs of all sessions: opens shells in which it starts, lists, reads and ends jobs."""

from __future__ import annotations

import asyncio
import logging
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
from ollm_tui.services.jobs.signals import ENDING, signal_number
from ollm_tui.services.jobs.starting import JobRequest, JobStarter
from ollm_tui.services.sandbox.confinement import Confinement
from ollm_tui.services.topic import Topic
from ollm_tui.storage.store_layout import is_valid_name

log = logging.getLogger(__name__)

CLOSE_GRACE_SECONDS = 1.0
"""How long a job may take to end by itself when its shell or the program is closed."""
CLOSE_SECONDS = 3.0
"""How long closing waits before it abandons the jobs that still run."""
MOST_EVICTED = 1000
"""How many sessions that were closed to make room are remembered."""


class JobRegistry:
    """Shells and their jobs. `environment` is what a new shell begins with, cleaned already.

    With a folder, records of the jobs are kept there, with their code as `redact` returns it;
    without one nothing is on disk.
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
        self._listeners = JobListeners(this_program(), self._queue)
        self._starter = JobStarter(self._limits, self._listeners)
        self._shells: dict[str, Shell] = {}
        """Shells by the id of their session, the least recently used first."""
        self._temporary: set[str] = set()
        """Sessions whose shells do not count towards the limit of shells."""
        self._evicted: dict[str, None] = {}
        """Sessions whose shells were closed to make room, the earliest first."""

    @property
    def events(self) -> Topic[JobEvent]:
        """The events of every job: that it started, printed, moved to the background, ended."""
        return self._listeners.events

    async def reconcile(self, session_id: str | None = None) -> list[Job]:
        """Settle the jobs that earlier runs of the program left, of one session or of all.

        Returns those that were settled.
        """
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
        """Open a session's shell, or find the open one. JobError if too many have running jobs.

        A temporary shell is closed by whoever opened it, so no other shell is closed for it.
        """
        if session_id not in self._shells:
            if not is_valid_name(session_id):
                raise JobError(f"{session_id!r} cannot be the id of a session", "use a UUID")
            earlier = await self._earlier(session_id)
            # Another call may have opened it while the records were read.
            if session_id not in self._shells:
                if not temporary:
                    self._make_room()
                start = ShellState(cwd=str(cwd.absolute()), environment=self._environment)
                shell = Shell(session_id, start, self._limits, earlier)
                shell.change(None, dict(env or {}), dict(variables or {}))
                self._shells[session_id] = shell
                self._evicted.pop(session_id, None)
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
        """Set a shell's directory, environment, variables; what is not given stays.

        JobError if there is no such shell or directory, or the variables take too much room.
        """
        shell = self._used(session_id)
        directory = None if cwd is None else Path(shell.state.cwd, cwd)
        if directory is not None and not directory.is_dir():
            raise JobError(f"no directory {directory}", "name one that exists")
        shell.change(directory and str(directory), dict(env or {}), dict(variables or {}))
        return shell.view()

    def shells(self) -> list[ShellView]:
        """Every shell, the most recently used first."""
        return [shell.view() for shell in reversed(self._shells.values())]

    def directory(self, session_id: str) -> str:
        """The directory in which the next job of a session starts. JobError without a shell."""
        return self._find_shell(session_id).state.cwd

    async def close_shell(self, session_id: str) -> None:
        """End a shell and all its jobs; their records on disk stay."""
        shell = self._find_shell(session_id)
        await _end_all(shell.running())
        self._shells.pop(session_id, None)
        self._temporary.discard(session_id)

    async def start(self, session_id: str, request: JobRequest) -> Job:
        """Start a job and do not wait for its end. JobError if it cannot be started."""
        return (await self._start(session_id, request)).job

    async def exec(
        self,
        session_id: str,
        code: str,
        language: Literal["shell", "python"] = "shell",
        background: bool = False,
        timeout: float | None = None,
        env: Mapping[str, str] | None = None,
        confinement: Confinement | None = None,
    ) -> Job:
        """Run code to its end, or until it is moved to the background.

        With `background` it is only started. `timeout` is in seconds.
        """
        request = JobRequest(
            code=code,
            language=language,
            background=background,
            timeout=timeout,
            env=dict(env or {}),
            confinement=confinement,
        )
        running = await self._start(session_id, request)
        if not background:
            try:
                await running.released.wait()
            except asyncio.CancelledError:
                running.stop()
                raise
        return running.job

    def move_to_background(self, job_id: str) -> Job:
        """Let whoever waits for a job go on; the job no longer changes the shell."""
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
        raise self._no_job(job_id)

    def job_output(self, job_id: str, stdout_from: int = 0, stderr_from: int = 0) -> JobOutput:
        """What is kept of a job's output, from absolute byte offsets on. JobError without a job."""
        for shell in self._shells.values():
            if output := shell.output(job_id, stdout_from, stderr_from):
                return output
        raise self._no_job(job_id)

    def is_ours(self, job_id: str) -> bool:
        """Whether this run of the program started a job; others are only known from records."""
        return any(shell.find(job_id) for shell in self._shells.values())

    async def kill(self, job_id: str, signal: str | int = "SIGTERM") -> Job:
        """End a job with all it started, and wait for that. A job that has ended stays as it is.

        A signal that does not ask to end, such as SIGUSR1 or SIGSTOP, is sent and no more.
        """
        number = signal_number(signal)
        if self.job(job_id).running:
            running = self._running(job_id)
            if number in ENDING:
                running.stop(number=number)
                await running.finished.wait()
            else:
                running.pass_on(number)
        return self.job(job_id)

    async def wait(self, job_id: str, timeout: float | None = None) -> Job:
        """Wait for a job's end, at most `timeout` seconds; then it is returned still running."""
        if self.job(job_id).running:
            try:
                async with asyncio.timeout(timeout):
                    await self._running(job_id).finished.wait()
            except TimeoutError:
                pass
        return self.job(job_id)

    async def close(self) -> None:
        """End every job and the launcher, and write the last records."""
        everything = [running for shell in self._shells.values() for running in shell.running()]
        await _end_all(everything)
        await self._starter.close()
        if self._queue is not None:
            await self._queue.flush()

    async def _start(self, session_id: str, request: JobRequest) -> RunningJob:
        shell = self._used(session_id)
        busy = sum(1 for each in self._shells.values() for _ in each.running())
        if busy >= self._limits.running_jobs:
            raise JobError(f"{busy} jobs are running", "wait for some, or kill them")
        return await self._starter.start(shell, request)

    async def _earlier(self, session_id: str) -> list[Job]:
        """The jobs that earlier runs of the program recorded."""
        records = self._records
        if records is None:
            return []
        await asyncio.to_thread(records.cut_back, session_id)
        return [record.job for record in await asyncio.to_thread(records.of, session_id)]

    def _make_room(self) -> None:
        """Close shells without running jobs until one more fits. JobError if too few can be."""
        lasting = [each for each in self._shells.values() if each.session_id not in self._temporary]
        closing = to_close((shell.use(at) for at, shell in enumerate(lasting)), self._limits)
        for session_id in closing:
            del self._shells[session_id]
            self._evicted[session_id] = None
            log.info("session %s is closed to make room", session_id)
        while len(self._evicted) > MOST_EVICTED:
            del self._evicted[next(iter(self._evicted))]
        if (count := len(lasting) - len(closing)) >= self._limits.shells:
            raise JobError(f"{count} shells have running jobs", "wait for one, or kill its jobs")

    def _find_shell(self, session_id: str) -> Shell:
        if session_id in self._shells:
            return self._shells[session_id]
        if session_id in self._evicted:
            raise self._was_evicted(session_id)
        raise JobError(f"no session {session_id!r}", "start one first")

    def _was_evicted(self, session_id: str) -> JobError:
        return JobError(
            f"session {session_id} was closed to make room",
            f"at most {self._limits.shells} are open; start another one",
        )

    def _no_job(self, job_id: str) -> JobError:
        session_id = job_id.removeprefix("job-").rpartition("-")[0]
        if session_id in self._evicted:
            return self._was_evicted(session_id)
        return JobError(f"no job {job_id!r}", "listJobs or /jobs lists all")

    def _used(self, session_id: str) -> Shell:
        """A session's shell, which becomes the most recently used one."""
        shell = self._find_shell(session_id)
        self._shells[session_id] = self._shells.pop(session_id)
        return shell

    def _running(self, job_id: str) -> RunningJob:
        found: Iterator[RunningJob | None] = (shell.find(job_id) for shell in self._shells.values())
        running = next((each for each in found if each), None)
        if running is None:
            # Raises for an unknown job; any other is known from a record only.
            self.job(job_id)
            raise JobError(f"{job_id} runs in another ollm", f"ollm jobs kill {job_id}")
        return running


async def _end_all(running: Iterable[RunningJob]) -> None:
    """Ask jobs to end; the supervisors of those that take too long kill them."""
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
