"""What follows from one execution: events, records, and the state its shell takes over."""

from __future__ import annotations

import logging
import os

from ollm_tui.core.job import JobEvent, JobFinished, JobOutputArrived, JobStarted, ProcessMark
from ollm_tui.services.jobs.records import JobRecord, RecordQueue, mark
from ollm_tui.services.jobs.running_job import RunningJob
from ollm_tui.services.jobs.shell import Shell
from ollm_tui.services.jobs.shell_state import state_after
from ollm_tui.services.topic import Topic

log = logging.getLogger(__name__)


class JobListeners:
    """Passes on news of jobs: events to whoever listens, records to the queue if there is one."""

    def __init__(self, owner: ProcessMark, queue: RecordQueue | None) -> None:
        self.events: Topic[JobEvent] = Topic()
        self._owner = owner
        self._queue = queue

    def record(self, running: RunningJob) -> None:
        """Record a job as it is now; without a queue nothing is recorded."""
        if self._queue is not None:
            begun = running.begun
            process = mark(begun.pid, begun.started)
            supervisor = mark(begun.supervisor, begun.supervisor_started)
            job = running.job
            self._queue.add(
                JobRecord(job=job, process=process, supervisor=supervisor, owner=self._owner)
            )


class Execution:
    """Listens to one job on behalf of its shell.

    `report` is the file in which the job leaves its state, `only_then` the environment of this job
    alone, `most` the limit for variables in bytes. `held` says whether it runs in a sandbox.
    """

    def __init__(
        self,
        shell: Shell,
        listeners: JobListeners,
        report: int | None,
        only_then: dict[str, str],
        most: int,
        held: bool = False,
    ) -> None:
        self._shell = shell
        self._listeners = listeners
        self._report = report
        self._only_then = only_then
        self._most = most
        self._held = held

    def started(self, running: RunningJob) -> None:
        """Record and publish that the job runs."""
        job = running.job
        log.info("%s started: %s", job.id, job.language, extra={"session": job.session_id})
        self._listeners.record(running)
        self._listeners.events.publish(JobStarted(running.job))

    def printed(self, running: RunningJob) -> None:
        """Publish how far its output reaches now."""
        ends = running.stdout.total, running.stderr.total
        self._listeners.events.publish(JobOutputArrived(running.job.id, *ends))

    def ended(self, running: RunningJob) -> None:
        """Take over the state, end the jobs it started by cmd(), record and publish the end."""
        self._take_over(running)
        for child in self._shell.children(running.job.id):
            child.stop(note="the job that started it has ended")
        if not running.job.pid:
            # Its process never began: the job is neither listed nor recorded.
            self._shell.remove(running.job.id)
            return
        self._shell.trim()
        job = running.job
        ended = f"{job.id} ended: {job.status}, exit {job.exit_code}"
        log.info(ended, extra={"session": job.session_id})
        self._listeners.record(running)
        self._listeners.events.publish(JobFinished(running.job))

    def _take_over(self, running: RunningJob) -> None:
        if self._report is None:
            return
        job, shell = running.job, self._shell
        # Directory and environment stand before the variables, so more than their limit is read.
        # A report that is longer still is cut here, and then its variables are not taken over.
        report = os.pread(self._report, self._most * 2, 0)
        os.close(self._report)
        self._report = None
        # A job that was ended, or for which nobody waits any more, does not change the shell.
        if job.status in ("completed", "failed") and not job.background:
            after = state_after(
                report,
                shell.state_for(self._held),
                self._only_then,
                python=job.language == "python",
                most=self._most,
            )
            shell.take_over(after.state, self._held, job.id)
            if after.variables_dropped:
                running.add_note(f"variables of more than {self._most:,} bytes were not kept")
