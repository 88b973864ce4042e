"""One execution from the shell's view: what is told, recorded and taken over when it ends."""

from __future__ import annotations

import os

from ollm_tui.core.job import JobEvent, JobFinished, JobOutputArrived, JobStarted, ProcessMark
from ollm_tui.services.jobs.records import JobRecord, RecordQueue, mark
from ollm_tui.services.jobs.running_job import RunningJob
from ollm_tui.services.jobs.shell import Shell
from ollm_tui.services.jobs.shell_state import state_after
from ollm_tui.services.topic import Topic


class JobListeners:
    """Who hears of jobs: those who listen, and the files on disk if there are any."""

    def __init__(self, owner: ProcessMark, queue: RecordQueue | None) -> None:
        self.events: Topic[JobEvent] = Topic()
        self._owner = owner
        self._queue = queue

    def record(self, running: RunningJob) -> None:
        """Write down how a job is now."""
        if self._queue is not None:
            begun = running.begun
            process = mark(begun.pid, begun.started)
            supervisor = mark(begun.supervisor, begun.supervisor_started)
            job = running.job
            self._queue.add(
                JobRecord(job=job, process=process, supervisor=supervisor, owner=self._owner)
            )


class Execution:
    """Listens to one job on behalf of its shell."""

    def __init__(
        self,
        shell: Shell,
        told: JobListeners,
        report: int | None,
        only_then: dict[str, str],
        most: int,
        held: bool = False,
    ) -> None:
        self._shell = shell
        self._told = told
        self._report = report
        self._only_then = only_then
        self._most = most
        self._held = held

    def started(self, running: RunningJob) -> None:
        """Tell and record that it runs."""
        self._told.record(running)
        self._told.events.publish(JobStarted(running.job))

    def printed(self, running: RunningJob) -> None:
        """Tell that there is more output."""
        ends = running.stdout.total, running.stderr.total
        self._told.events.publish(JobOutputArrived(running.job.id, *ends))

    def ended(self, running: RunningJob) -> None:
        """Take over the state, end what it started through cmd(), tell and record."""
        self._take_over(running)
        for child in self._shell.children(running.job.id):
            child.stop(note="the job that started it has ended")
        if not running.job.pid:
            self._shell.remove(running.job.id)
            return
        self._shell.trim()
        self._told.record(running)
        self._told.events.publish(JobFinished(running.job))

    def _take_over(self, running: RunningJob) -> None:
        if self._report is None:
            return
        job, shell = running.job, self._shell
        # Read before it is closed, but taken over only where somebody waited for the end.
        report = os.pread(self._report, self._most * 2, 0)
        os.close(self._report)
        self._report = None
        if job.status in ("completed", "failed") and not job.background:
            after = state_after(
                report,
                shell.state_for(self._held),
                self._only_then,
                python=job.language == "python",
                most=self._most,
            )
            shell.take_over(after, self._held, job.id)
