"""The user's commands in the stream: live while they run, whole when they are over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_tui.core.job import Job
from ollm_tui.engine.jobs.job_text import capped, ending
from ollm_tui.tui.stream.entries.job_entries import command_entry, keep_open, running_entry
from ollm_tui.tui.stream.transcript.entry import Entry

if TYPE_CHECKING:
    from ollm_tui.engine.jobs.session_jobs import JobsKeeper
    from ollm_tui.tui.chat.screen import ChatScreen


class JobStream:
    """Has an entry for each job it is told to show, as long as its session is the open one."""

    def __init__(self, chat: ChatScreen, jobs: JobsKeeper) -> None:
        self._chat = chat
        self._jobs = jobs
        self._running: set[str] = set()

    def begin(self, job: Job) -> None:
        """Show a job from now on, to its end."""
        self._running.add(job.id)
        self._chat.transcript.go_to_end()

    async def show(self, job_id: str) -> None:
        """Draw a job as it is now, if it is one of those that are shown."""
        if job_id not in self._running:
            return
        job = self._jobs.job(job_id)
        if job.running:
            how = f"in the background · job {job.sequence}" if job.background else "running"
            entry = running_entry(job.id, self._jobs.code(job), self._jobs.tail(job.id), how)
        else:
            self._running.discard(job_id)
            text = capped(await self._jobs.text(job.id))
            code = self._jobs.code(job)
            entry = command_entry(job.id, code, text, ending(job), job.started_at)
        self._put(job, entry)

    def _put(self, job: Job, entry: Entry) -> None:
        conversation = self._chat.app.conversation
        if conversation is None or conversation.session_id != job.session_id:
            return
        transcript = self._chat.transcript
        if entry.key in transcript.stack:
            before = transcript.entry(entry.key)
            entry = keep_open(entry, before) if job.running else entry
        transcript.add(entry)
