"""The jobs of sessions: started in the session's shell, read as safe text, recorded when they
are over; and the watch over files they change."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from msgspec.structs import replace

from ollm_tui.core.errors import JobError
from ollm_tui.core.job import Job, JobEvent, JobFinished, JobLanguage, JobMoved, JobOutputArrived
from ollm_tui.core.session.session import AFTER, ToolCall, ToolResult
from ollm_tui.engine.conversation.held_session import HeldSession
from ollm_tui.engine.jobs.job_colours import coloured
from ollm_tui.engine.jobs.job_text import Arrivals, capped, ending
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.jobs.safe_text import LEAD_BYTES
from ollm_tui.services.jobs.starting import JobRequest
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.topic import Topic

if TYPE_CHECKING:
    from ollm_tui.services.files.file_changes import FileWatch

TOOL = "exec"
"""The name under which jobs are recorded as tool calls."""
TAIL_BYTES = 16 * 1024
"""How much of each stream `tail` reads: two milliseconds' work, however long the output is."""
MOST_ORDERS = 500
"""How many jobs the order of their streams is remembered for."""


class SessionJobs:
    """Runs code in the shells of sessions. Secrets in the output are never shown.

    `withheld` are the environment variables that shells do not get unless they are granted.
    """

    def __init__(
        self,
        jobs: JobRegistry,
        place: Path,
        withheld: Mapping[str, str],
        redactor: Redactor | None = None,
    ) -> None:
        self._jobs = jobs
        self._place = place
        self._withheld = dict(withheld)
        self.redactor = redactor or Redactor()
        """Takes secrets out of a text."""
        self._safe_code = lru_cache(MOST_ORDERS)(self.redactor.redact)
        self._granted: dict[str, dict[str, str]] = {}
        self._sessions: dict[str, HeldSession] = {}
        """The session that a job is recorded in when it is over, by the id of the job."""
        self._begun_after: dict[str, str] = {}
        """The last message of the branch when a job was started, by the id of the job."""
        self._arrivals: dict[str, Arrivals] = {}
        self._recording: set[asyncio.Task[None]] = set()
        self.files = JobFiles()
        """Watches what jobs do to files, in sessions that keep copies of them."""
        self._is_settled = False
        self._settling = asyncio.Lock()
        self._settled: set[str] = set()
        """Jobs that were cut off in an earlier run and not reported by `settle` yet."""
        jobs.events.subscribe(self._hear)

    @property
    def service(self) -> JobRegistry:
        """The registry that runs the jobs, for the tools of the model."""
        return self._jobs

    @property
    def events(self) -> Topic[JobEvent]:
        """Publishes when a job starts, prints, moves to the background and ends."""
        return self._jobs.events

    # Running

    async def open(self, session_id: str) -> None:
        """Open the shell of a session; the first time, settle the jobs that earlier runs left."""
        async with self._settling:
            if not self._is_settled:
                self._is_settled = True
                self._settled |= {job.id for job in await self._jobs.reconcile()}
        await self._jobs.open_shell(session_id, self._place, self._granted.get(session_id))

    async def settle(self, session: HeldSession) -> list[Job]:
        """The jobs of a session that ran when the program last ended; they are recorded there, and
        each is returned only once."""
        mine = session.session_id
        async with self._settling:
            self._settled |= {job.id for job in await self._jobs.reconcile(mine)}
        known = {call.id for call in session.state.tool_calls}
        reported: list[Job] = []
        for job in await self._jobs.cut_off(mine):
            # What the model ran is recorded by its tool call, and a child job with its parent.
            is_missing = not job.by_model and job.parent is None and job.id not in known
            if is_missing:
                await session.add_tool_call(_tool_call(job, self.code(job), ""))
            if job.parent is None and (is_missing or job.id in self._settled):
                reported.append(job)
            self._settled.discard(job.id)
        return reported

    async def start(
        self,
        session: HeldSession,
        code: str,
        language: JobLanguage = "shell",
        *,
        background: bool = False,
    ) -> Job:
        """Run code in a session's shell; it is recorded there when it is over. JobError if it
        cannot be started."""
        await self.open(session.session_id)
        await self.files.before(session.session_id)
        request = JobRequest(code=code, language=language, background=background)
        started = await self._jobs.start(session.session_id, request)
        self._sessions[started.id] = session
        self._begun_after[started.id] = session.state.header.head or ""
        session.before_closing = partial(self._leave, session)
        # It may be over already, and its end came before its session was known here.
        job = self.job(started.id)
        if not job.running:
            self._begin_recording(job)
        return job

    def to_background(self, job_id: str) -> Job:
        """Move a job to the background, where it no longer changes the shell."""
        return self._jobs.move_to_background(job_id)

    async def kill(self, job_id: str, signal: str = "SIGTERM") -> Job:
        """End a job with everything it started, and wait for its end."""
        return await self._jobs.kill(job_id, signal)

    async def wait(self, job_id: str) -> Job:
        """Wait for a job's end."""
        return await self._jobs.wait(job_id)

    # Reading

    def jobs(self, session_id: str) -> list[Job]:
        """The jobs of a session, the newest first, then those that run in other sessions."""
        own = self._jobs.list_jobs(session_id)
        return own + [job for job in self.running if job.session_id != session_id]

    @property
    def running(self) -> list[Job]:
        """The jobs that run now and end with the program: none that another process runs, and no
        child jobs, which count with their parent."""
        return [
            job
            for shell in self._jobs.shells()
            for job in self._jobs.list_jobs(shell.id, "running")
            if job.parent is None and self._jobs.is_ours(job.id)
        ]

    def job(self, job_id: str) -> Job:
        """One job as it is now. JobError if there is none."""
        return self._jobs.job(job_id)

    def find(self, session_id: str, wanted: str) -> Job:
        """A job by its number in the session, or by its id. JobError if there is none."""
        for job in self.jobs(session_id):
            if wanted in (job.id, str(job.sequence)):
                return job
        raise JobError(f"no job {wanted!r}", "/jobs lists all")

    def tail(self, job_id: str) -> str:
        """The end of what a job printed so far, safe to show."""
        # Read from beyond the end, an output has no text and tells where its streams end.
        empty = self._jobs.job_output(job_id, sys.maxsize, sys.maxsize)
        more = TAIL_BYTES + LEAD_BYTES
        starts = [max(part.end - more, 0) for part in (empty.stdout, empty.stderr)]
        output = self._jobs.job_output(job_id, *starts)
        text = self._order(job_id).joined(output, self.redactor)
        # More is read than shown: a secret that begins before the tail must be recognised.
        return text[-TAIL_BYTES:] if any(starts) else text

    async def text(self, job_id: str) -> str:
        """All that is kept of what a job printed, safe to show; made in a thread."""
        output = self._jobs.job_output(job_id)
        joined = self._order(job_id).joined
        return await asyncio.to_thread(joined, output, self.redactor)

    async def coloured(self, job_id: str) -> str:
        """The same as `text` with its colours, as sequences that change nothing else; empty if
        it has none, or if they cannot be told from what must not be shown."""
        output = self._jobs.job_output(job_id)
        safe = await self.text(job_id)
        return await asyncio.to_thread(coloured, output, safe)

    def code(self, job: Job) -> str:
        """The code of a job, with marks in place of secrets, to be shown or recorded."""
        return self._safe_code(job.code)

    def shown(self, job: Job) -> Job:
        """A job that is safe to show: its code has marks in place of secrets."""
        return replace(job, code=self.code(job))

    # The environment

    def withheld(self, session_id: str) -> tuple[str, ...]:
        """The names of the variables that the jobs of a session do not get."""
        granted = self.granted(session_id)
        return tuple(name for name in sorted(self._withheld) if name not in granted)

    def granted(self, session_id: str) -> tuple[str, ...]:
        """The names of the variables that were granted to a session."""
        return tuple(sorted(self._granted.get(session_id, ())))

    def grant(self, session_id: str, name: str) -> None:
        """Give a withheld variable to the jobs that a session starts from now on."""
        value = {name: self._withheld[name]}
        self._granted.setdefault(session_id, {}).update(value)
        if any(shell.id == session_id for shell in self._jobs.shells()):
            self._jobs.change_shell(session_id, env=value)

    async def close(self) -> None:
        """End every job and record it. To be called before conversations are closed."""
        await self._jobs.close()
        await asyncio.gather(*self._recording)
        await self.files.close()

    # Recording

    def _hear(self, event: JobEvent) -> None:
        self.files.hear(event)
        if isinstance(event, JobOutputArrived):
            order = self._arrivals.setdefault(event.job_id, Arrivals())
            order.note(event.stdout_end, event.stderr_end)
            if len(self._arrivals) > MOST_ORDERS:
                del self._arrivals[next(iter(self._arrivals))]
        elif isinstance(event, JobFinished):
            self._begin_recording(event.job)

    def _order(self, job_id: str) -> Arrivals:
        return self._arrivals.get(job_id) or Arrivals()

    def _begin_recording(self, job: Job) -> None:
        """Record a job that is over. If its session is not known yet, `start` calls this again;
        the jobs of tools are not recorded here."""
        if session := self._sessions.pop(job.id, None):
            task = asyncio.create_task(self._record(session, job))
            self._recording.add(task)
            task.add_done_callback(self._recording.discard)

    async def _record(self, session: HeldSession, job: Job) -> None:
        text = await self.text(job.id)
        call = _tool_call(job, self.code(job), text)
        if after := self._begun_after.pop(job.id, ""):
            call = replace(call, args=call.args | {AFTER: after})
        await session.add_tool_call(call)

    async def _leave(self, session: HeldSession) -> None:
        """Record the jobs of a session that still run, as they are, before it is closed."""
        for job_id in [job_id for job_id, each in self._sessions.items() if each is session]:
            del self._sessions[job_id]
            await self._record(session, self.job(job_id))
        await asyncio.gather(*self._recording)


class JobFiles:
    """Compares files before and after jobs that no tool waits for.

    The watch of a session is held weakly: it lives as long as the tools of the session.
    """

    def __init__(self) -> None:
        self._watches: WeakValueDictionary[str, FileWatch] = WeakValueDictionary()
        self._comparing: set[asyncio.Task[object]] = set()

    def add(self, session_id: str, watch: FileWatch) -> None:
        """Watch the jobs of a session from now on."""
        self._watches[session_id] = watch

    async def before(self, session_id: str) -> None:
        """Remember the files before a command of the user. Before a tool has changed anything
        there is nothing to go back to, and no reason to let the user wait."""
        watch = self._watches.get(session_id)
        if watch and watch.has_looked:
            await asyncio.to_thread(watch.before)

    def hear(self, event: JobEvent) -> None:
        """Compare the files when a job ends; those of a job that a tool waits for are compared by
        the call of the tool."""
        if isinstance(event, JobOutputArrived):
            return
        job = event.job
        watch = self._watches.get(job.session_id)
        if watch is None:
            return
        if isinstance(event, JobFinished):
            if watch.ended(job.id):
                task = asyncio.create_task(asyncio.to_thread(watch.settle))
                self._comparing.add(task)
                task.add_done_callback(self._comparing.discard)
        elif isinstance(event, JobMoved) or _is_alone(job):
            watch.begun(job.id)

    async def close(self) -> None:
        """Wait for the comparisons that still run."""
        await asyncio.gather(*self._comparing)


def _is_alone(job: Job) -> bool:
    """Whether a job was started without a tool call waiting for it."""
    return job.parent is None and (job.background or not job.by_model)


def _tool_call(job: Job, code: str, text: str) -> ToolCall:
    """A job as a tool call for the record; the last line of its result says how it ended."""
    shown = capped(text.rstrip("\n"))
    result = f"{shown}\n[{ending(job)}]".lstrip("\n")
    args = {"code": code, "language": job.language}
    return ToolCall(job.id, TOOL, args, ToolResult(result), job.started_at)
