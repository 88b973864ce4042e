"""A session's shell: its state, its jobs, and how much of them is kept."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ollm_tui.core import clock
from ollm_tui.core.errors import JobError
from ollm_tui.core.job import Job, JobOutput, JobStatus, StreamPart
from ollm_tui.services.jobs.output_tail import Kept, Limits, ShellUsage, to_trim
from ollm_tui.services.jobs.running_job import RunningJob
from ollm_tui.services.jobs.shell_state import ShellState, check_environment, readable


class ShellView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A shell at one moment, as users and other programs see it."""

    id: str
    cwd: str
    environment: dict[str, str]
    variables: dict[str, Any]
    """The variables of Python code that are plain values."""
    created_at: str
    last_activity_at: str
    jobs: int
    running_jobs: int


class Shell:
    """The shell of one session. `earlier` are its jobs from before the program started."""

    def __init__(
        self, session_id: str, state: ShellState, limits: Limits, earlier: Iterable[Job] = ()
    ) -> None:
        self.session_id = session_id
        self.state = state
        self._held_state: ShellState | None = None
        """The state that jobs in a sandbox left; None as long as there was none."""
        self.home = state.cwd
        """Where it goes back to when its directory is gone."""
        self._limits = limits
        self._created_at = self._last_activity_at = clock.now()
        self._earlier = {job.id: job for job in earlier}
        self._jobs: dict[str, RunningJob] = {}
        self._late: dict[str, dict[str, str]] = {}
        """By job: environment that was set from outside while it ran, so it cannot report it."""
        self._sequence = max((job.sequence for job in self._earlier.values()), default=0)

    def state_for(self, held: bool) -> ShellState:
        """The state a job begins with. Those in a sandbox have a state of their own: a PATH or a
        function that they left would otherwise hold for the user's own commands outside."""
        if held and self._held_state is not None:
            return msgspec.structs.replace(self._held_state, cwd=self.state.cwd)
        return self.state

    def take_over(self, after: ShellState, held: bool, job_id: str = "") -> None:
        """Take over the state that a job left; the directory holds in and outside of a sandbox."""
        after = _with_environment(after, self._late.get(job_id, {}))
        if held:
            self._held_state = after
            self.state = msgspec.structs.replace(self.state, cwd=after.cwd)
        else:
            self.state = after

    def next_sequence(self) -> int:
        """The number of a new job, which also counts as activity of the shell."""
        self._last_activity_at = clock.later(self._last_activity_at, clock.now())
        self._sequence += 1
        return self._sequence

    def add(self, running: RunningJob) -> None:
        """Add a job that is being started."""
        self._jobs[running.job.id] = running

    def remove(self, job_id: str) -> None:
        """Remove a job whose process never began."""
        self._jobs.pop(job_id, None)

    def running(self) -> Iterator[RunningJob]:
        """The jobs that have not ended."""
        return (each for each in tuple(self._jobs.values()) if each.job.running)

    def children(self, parent: str) -> Iterator[RunningJob]:
        """The running jobs that a job started."""
        return (each for each in self.running() if each.job.parent == parent)

    def find(self, job_id: str) -> RunningJob | None:
        """A job of this run of the program; None where it is older or another shell's."""
        return self._jobs.get(job_id)

    def job(self, job_id: str) -> Job | None:
        """A job as it is now; None where this shell has none of that id."""
        found = self._jobs.get(job_id)
        return found.job if found else self._earlier.get(job_id)

    def jobs(
        self, status: JobStatus | None, background: bool | None, limit: int | None
    ) -> list[Job]:
        """The jobs with this status and background, the newest first; None fits all."""
        every = [*self._earlier.values(), *(each.job for each in self._jobs.values())]
        fitting = [
            job
            for job in sorted(every, key=lambda job: job.sequence, reverse=True)
            if status in (None, job.status) and background in (None, job.background)
        ]
        return fitting[:limit]

    def output(self, job_id: str, stdout_from: int, stderr_from: int) -> JobOutput | None:
        """What is kept of a job's output; of earlier runs nothing is. None without such a job."""
        if found := self._jobs.get(job_id):
            return found.output(stdout_from, stderr_from)
        if job := self._earlier.get(job_id):
            lost = [
                StreamPart(total, b"", start < total)
                for start, total in (
                    (stdout_from, job.stdout_bytes),
                    (stderr_from, job.stderr_bytes),
                )
            ]
            return JobOutput(job, lost[0], lost[1])
        return None

    def change(self, cwd: str | None, env: dict[str, str] | None, given: dict[str, Any]) -> None:
        """Set directory, environment and variables from outside, for jobs in a sandbox too.

        JobError if a name or value cannot be one, or the variables take too much room.
        """
        check_environment(env or {})
        state = self.state.with_variables(given)
        if state.size > self._limits.variable_bytes:
            most = self._limits.variable_bytes
            raise JobError(f"the variables take more than {most:,} bytes", "keep less in them")
        state = msgspec.structs.replace(state, cwd=cwd or state.cwd)
        self.state = _with_environment(state, env or {})
        if held := self._held_state:
            self._held_state = _with_environment(held.with_variables(given), env or {})
        running = {each.job.id for each in self.running()}
        self._late = {job_id: late for job_id, late in self._late.items() if job_id in running}
        for job_id in running if env else ():
            self._late.setdefault(job_id, {}).update(env or {})

    def use(self, last_used: int) -> ShellUsage:
        """What `to_close` needs to know; the shell with the lowest `last_used` goes first."""
        return ShellUsage(self.session_id, last_used, any(self.running()))

    def trim(self) -> None:
        """Drop the oldest output until the session fits its limits again."""
        ended = sorted(
            (each for each in self._jobs.values() if not each.job.running),
            key=lambda each: each.ended_at,
        )
        used = self.state.size + (self._held_state.size if self._held_state else 0)
        used += sum(each.size for each in self._jobs.values())
        kept = [
            Kept(each.job.id, 0 if each.job.trimmed else each.size, each.ended_at) for each in ended
        ]
        for job_id in to_trim(kept, used, time.monotonic(), self._limits):
            self._jobs[job_id].trim()
        # These are listed no more; their records on disk stay.
        for each in ended[: max(0, len(ended) - self._limits.finished_jobs)]:
            del self._jobs[each.job.id]

    def view(self) -> ShellView:
        """The shell as it is now; where jobs ran in a sandbox, as the next one there finds it."""
        state = self.state_for(self._held_state is not None)
        return ShellView(
            id=self.session_id,
            cwd=readable(state.cwd),
            environment={
                readable(name): readable(value) for name, value in state.environment.items()
            },
            variables=state.variables,
            created_at=self._created_at,
            last_activity_at=self._last_activity_at,
            jobs=len(self._jobs) + len(self._earlier),
            running_jobs=sum(1 for _ in self.running()),
        )


def _with_environment(state: ShellState, more: Mapping[str, str]) -> ShellState:
    return msgspec.structs.replace(state, environment={**state.environment, **more})
