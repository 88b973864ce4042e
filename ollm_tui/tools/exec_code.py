"""The tool exec, which runs code in the session's shell as a job."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta

from ollm_tui.core.errors import JobError, ToolError
from ollm_tui.core.job import Job, JobEvent, JobFinished, JobMoved, JobOutputArrived
from ollm_tui.core.tool import Action, PlannedCall, Tell, ToolOutcome
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.jobs.starting import JobRequest
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.sandbox.confinement import Confinement
from ollm_tui.tools.call_arguments import Arguments, Planned, spec_of, understood
from ollm_tui.tools.job_printing import JobPrinting, ending

CANCEL_GRACE_SECONDS = 1.0
"""How long a cancelled job may take to end by itself before it is killed."""
TOLD_CHARACTERS = 50_000
"""The most output that is passed on at once while a job runs; nobody can read more."""


class _Arguments(Arguments, frozen=True):
    code: str
    language: Literal["shell", "python"] = "shell"
    background: bool = False
    timeout: Annotated[float | None, Meta(description="seconds")] = None


class Exec:
    """Runs code; the directory, environment and variables last from call to call."""

    spec = spec_of(
        "exec",
        "Run code in the session's shell; cd and variables last. "
        "With background it goes on as a job.",
        _Arguments,
    )

    def __init__(
        self,
        jobs: JobRegistry,
        session_id: str,
        open_shell: Callable[[], Awaitable[None]],
        timeout_seconds: float,
        confinement: Confinement | None = None,
        redactor: Redactor | None = None,
    ) -> None:
        self._jobs = jobs
        self._session_id = session_id
        self._open_shell = open_shell
        self._timeout_seconds = timeout_seconds
        self._confinement = confinement
        self._redactor = redactor or Redactor()

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Find out in which directory the code would run. ToolError if there is no code."""
        arguments = understood(self.spec.name, _Arguments, args)
        if not arguments.code.strip():
            raise ToolError("exec needs code: the command or program to run")
        directory = await self._directory()

        async def work(tell: Tell) -> ToolOutcome:
            return await self._run(arguments, directory, tell)

        action = Action(
            effect="run",
            title="run in the background" if arguments.background else "run",
            subject=arguments.code,
            place=directory,
            language=arguments.language,
        )
        return Planned(action, work)

    async def _directory(self) -> str:
        try:
            await self._open_shell()
        except JobError as error:
            raise ToolError(error.message, error.hint) from error
        views = self._jobs.shells()
        return next((view.cwd for view in views if view.id == self._session_id), "")

    async def _run(self, arguments: _Arguments, directory: str, tell: Tell) -> ToolOutcome:
        # The user approved the code for the directory that was shown, not for another one.
        now = await self._directory()
        if now != directory:
            raise ToolError(f"the shell went from {directory} to {now} meanwhile; call it again")
        try:
            return await self._job(arguments, tell)
        except JobError as error:
            raise ToolError(error.message, error.hint) from error

    async def _job(self, arguments: _Arguments, tell: Tell) -> ToolOutcome:
        waiting = _Waiting(self._jobs, self._redactor, tell)
        stop_listening = self._jobs.events.subscribe(waiting.hear)
        starting = asyncio.create_task(self._jobs.start(self._session_id, self._request(arguments)))
        try:
            # Shielded: a start cut off halfway would leave a job behind that nobody can end.
            job = await asyncio.shield(starting)
            return _in_background(job) if arguments.background else await waiting.outcome(job)
        except asyncio.CancelledError:
            await asyncio.wait((starting,))
            if not starting.exception():
                await _end(self._jobs, starting.result().id)
            raise
        finally:
            stop_listening()

    def _request(self, arguments: _Arguments) -> JobRequest:
        timeout = arguments.timeout if arguments.timeout and arguments.timeout > 0 else None
        # Only a background job may run longer than the limit: nothing waits for it.
        if not arguments.background:
            timeout = min(timeout or self._timeout_seconds, self._timeout_seconds)
        return JobRequest(
            code=arguments.code,
            language=arguments.language,
            background=arguments.background,
            timeout=timeout,
            by_model=True,
            confinement=self._confinement,
        )


class _Waiting:
    """Listens to one job until it ends or is moved to the background."""

    def __init__(self, jobs: JobRegistry, redactor: Redactor, tell: Tell) -> None:
        self._jobs = jobs
        self._redactor = redactor
        self._tell = tell
        self._job_id = ""
        self._printing: JobPrinting | None = None
        self._released = asyncio.Event()

    async def outcome(self, job: Job) -> ToolOutcome:
        """Wait for the job and return its output and how it ended."""
        self._job_id = job.id
        self._printing = JobPrinting(
            lambda out, err: self._jobs.job_output(job.id, out, err), self._redactor
        )
        # It may have ended before its id was known here; then no event comes any more.
        now = self._jobs.job(job.id)
        if now.running and not now.background:
            await self._released.wait()
        now = self._jobs.job(job.id)
        self._print(ended=not now.running)
        return _outcome(now, self._printing.text)

    def hear(self, event: JobEvent) -> None:
        """Take an event of the registry; events of other jobs are ignored."""
        match event:
            case JobOutputArrived(job_id=job_id) if job_id == self._job_id:
                self._print()
            case JobFinished(job=job) | JobMoved(job=job) if job.id == self._job_id:
                self._released.set()
            case _:
                pass

    def _print(self, *, ended: bool = False) -> None:
        if self._printing and (text := self._printing.more(ended=ended)):
            self._tell(text[-TOLD_CHARACTERS:])


async def _end(jobs: JobRegistry, job_id: str) -> None:
    try:
        async with asyncio.timeout(CANCEL_GRACE_SECONDS):
            await jobs.kill(job_id)
    except TimeoutError:
        await jobs.kill(job_id, "SIGKILL")


def _in_background(job: Job) -> ToolOutcome:
    text = f"[job {job.sequence} runs in the background; see it with jobs]"
    return ToolOutcome(text=text, summary=f"job {job.sequence}")


def _outcome(job: Job, printed: str) -> ToolOutcome:
    end = "" if not printed or printed.endswith("\n") else "\n"
    if job.running:
        last = _in_background(job)
        return ToolOutcome(text=f"{printed}{end}{last.text}", summary=last.summary)
    how = ending(job)
    summary = how.split(" · ", 1)[0]
    return ToolOutcome(
        text=f"{printed}{end}[{how}]", is_error=job.status != "completed", summary=summary
    )
