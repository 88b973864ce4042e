"""The job tools as other programs call them: their names, parameters and answers.

Times are milliseconds here and offsets are bytes of the stream as it was printed.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from ollm_tui.core.errors import JobError
from ollm_tui.core.job import Job, JobStatus, StreamPart
from ollm_tui.core.session.session import new_session_id
from ollm_tui.core.tool import Action
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.jobs.safe_text import LEAD_BYTES, safe_part
from ollm_tui.services.jobs.shell import ShellView
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.sandbox.confinement import Confinement

Count = Annotated[int, Meta(ge=0)]
Check = Callable[[str, Action], None]
"""Returns if a tool may do something."""
Milliseconds = Annotated[float, Meta(gt=0, description="milliseconds")]


# The docstrings of these classes are the descriptions that other programs are given.
class ToolCall(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """Parameters of a tool."""


class StartSession(ToolCall, frozen=True):
    """Start a shell session. Its directory, environment and variables last from exec to exec."""

    cwd: str | None = None
    env: dict[str, str] = {}
    vars: dict[str, Any] = {}


class UpdateSession(ToolCall, frozen=True):
    """Change the directory, environment or variables of a session."""

    session_id: str
    cwd: str | None = None
    env: dict[str, str] = {}
    vars: dict[str, Any] = {}


class EndSession(ToolCall, frozen=True):
    """End a session and all its jobs."""

    session_id: str


class ListSessions(ToolCall, frozen=True):
    """List the sessions, the most recently used first."""


class Exec(ToolCall, frozen=True):
    """Run code as a job, in a session or in a temporary one. In Python code cmd("ls", ["-la"])
    runs a program as a job of its own. With background true the answer comes at once."""

    code: str
    session_id: str | None = None
    language: Literal["shell", "python"] = "shell"
    background: bool = False
    timeout: Milliseconds | None = None
    env: dict[str, str] = {}


class JobFilter(ToolCall, frozen=True):
    """Which jobs to list."""

    status: JobStatus | None = None
    background: bool | None = None
    limit: Count | None = None


class ListJobs(ToolCall, frozen=True):
    """List the jobs of a session, the newest first, each with the end of its output."""

    session_id: str
    filter: JobFilter = JobFilter()


class StreamOffsets(ToolCall, frozen=True):
    """A byte offset for each stream."""

    stdout: Count = 0
    stderr: Count = 0


class GetJobOutput(ToolCall, frozen=True):
    """Read what a job printed; with since, only what came after an offset answered before."""

    session_id: str
    job_id: str
    since: Annotated[
        Count | StreamOffsets,
        Meta(description="an offset answered before, or a byte offset for each stream"),
    ] = 0


class KillJob(ToolCall, frozen=True):
    """End a job and all it started: SIGTERM, or the signal given by name or number, and SIGKILL 5
    seconds later. SIGUSR1, SIGSTOP, SIGCONT and others that do not end jobs are only sent."""

    session_id: str
    job_id: str
    signal: str | int = "SIGTERM"


class WaitJob(ToolCall, frozen=True):
    """Wait until a job has ended, or until the timeout; then its status is still running."""

    session_id: str
    job_id: str
    timeout: Milliseconds | None = None


LISTED_BYTES = 4096
"""Bytes of each stream that a list of jobs shows, the last ones; of the code, characters."""
MOST_LISTED_BYTES = 512 * 1024
"""Bytes of output that one list shows; the oldest jobs stand in it without any."""
MOST_MARKS = 1000
"""The most offsets of one job that are remembered as pairs."""


class JobTool(NamedTuple):
    """A tool: its name, what it does, and the JSON schema of its parameters."""

    name: str
    description: str
    schema: dict[str, Any]


class _Shown(NamedTuple):
    """What an answer has of one stream."""

    text: str
    end: int
    """The absolute byte offset behind the text."""
    truncated: bool
    """Whether it lacks something of what was printed before its end and asked for."""


class _Read(NamedTuple):
    """A job and what it printed from some offsets on."""

    job: Job
    stdout: _Shown
    stderr: _Shown

    def amounts(self) -> dict[str, Any]:
        """How much was printed in all, and whether this answer lacks some of it."""
        return {
            "truncated": {"stdout": self.stdout.truncated, "stderr": self.stderr.truncated},
            "bytes": {"stdout": self.job.stdout_bytes, "stderr": self.job.stderr_bytes},
        }


class JobTools:
    """Answers calls with plain values, ready for JSON. Secrets in outputs are hidden.

    `check` raises JobError for what is not allowed; `confinement` is the sandbox of all jobs.
    """

    def __init__(
        self,
        jobs: JobRegistry,
        cwd: Path,
        redactor: Redactor | None = None,
        check: Check | None = None,
        confinement: Confinement | None = None,
    ) -> None:
        self._jobs = jobs
        self._redactor = redactor or Redactor()
        self._cwd = cwd
        self._check = check
        self._confinement = confinement
        self._marks: dict[str, dict[int, tuple[int, int]]] = {}
        """By job: each offset that was answered, and the offsets of both streams it stands for."""
        self._answers: dict[type[ToolCall], Callable[[Any], Awaitable[Any]]] = {
            StartSession: self._start_session,
            UpdateSession: self._update_session,
            EndSession: self._end_session,
            ListSessions: self._list_sessions,
            Exec: self._exec,
            ListJobs: self._list_jobs,
            GetJobOutput: self._job_output,
            KillJob: self._kill,
            WaitJob: self._wait,
        }
        self._calls = {_camel(kind.__name__): kind for kind in self._answers}

    def tools(self) -> list[JobTool]:
        """All tools with their descriptions and parameters."""
        return [
            JobTool(name, " ".join((kind.__doc__ or "").split()), _schema(kind))
            for name, kind in self._calls.items()
        ]

    async def call(self, name: str, arguments: dict[str, Any]) -> Any:
        """Call a tool. JobError if there is no such tool, or its arguments or the call fail."""
        if name not in self._calls:
            raise JobError(f"no tool {name!r}", f"available: {', '.join(self._calls)}")
        kind = self._calls[name]
        try:
            call = msgspec.convert(arguments, kind)
        except msgspec.ValidationError as error:
            raise JobError(f"{name}: {error}", "see the tool's parameters") from error
        if self._check and (action := self._action(call)):
            # In a thread: long code is looked through for a while.
            await asyncio.to_thread(self._check, *action)
        return await self._answers[kind](call)

    def _action(self, call: ToolCall) -> tuple[str, Action] | None:
        """What a call would do, by the name of the model's own tool that does the same; None for
        what does nothing by itself."""
        if isinstance(call, Exec):
            place = str(self._cwd)
            if call.session_id is not None:
                place = self._jobs.directory(call.session_id)
            return "exec", Action("run", "run", call.code, place, language=call.language)
        if isinstance(call, ListJobs | GetJobOutput | KillJob | WaitJob):
            return "jobs", Action("none", "use jobs", call.session_id)
        return None

    async def _start_session(self, call: StartSession) -> dict[str, Any]:
        cwd = self._cwd / (call.cwd or ".")
        if not cwd.is_dir():
            raise JobError(f"no directory {cwd}", "name one that exists")
        view = await self._jobs.open_shell(new_session_id(), cwd, call.env, call.vars)
        return _session(view)

    async def _update_session(self, call: UpdateSession) -> dict[str, Any]:
        cwd = None if call.cwd is None else Path(call.cwd)
        return _session(self._jobs.change_shell(call.session_id, cwd, call.env, call.vars))

    async def _end_session(self, call: EndSession) -> dict[str, Any]:
        for job in self._jobs.list_jobs(call.session_id):
            self._marks.pop(job.id, None)
        await self._jobs.close_shell(call.session_id)
        return {"sessionId": call.session_id, "ended": True}

    async def _list_sessions(self, _call: ListSessions) -> list[dict[str, Any]]:
        return [_session(view) for view in self._jobs.shells()]

    async def _exec(self, call: Exec) -> dict[str, Any]:
        if call.session_id is not None:
            return await self._exec_in(call.session_id, call)
        if call.background:
            raise JobError("a background job needs a session", "call startSession first")
        session_id = new_session_id()
        await self._jobs.open_shell(session_id, self._cwd, temporary=True)
        try:
            return await self._exec_in(session_id, call)
        finally:
            await self._jobs.close_shell(session_id)

    async def _exec_in(self, session_id: str, call: Exec) -> dict[str, Any]:
        job = await self._jobs.exec(
            session_id,
            call.code,
            call.language,
            call.background,
            call.timeout and call.timeout / 1000,
            call.env,
            self._confinement,
        )
        if call.background:
            return {"jobId": job.id, "pid": job.pid}
        return {**await self._result(job.id), "jobId": job.id}

    async def _list_jobs(self, call: ListJobs) -> list[dict[str, Any]]:
        which = call.filter
        jobs = self._jobs.list_jobs(call.session_id, which.status, which.background, which.limit)
        room, listed = MOST_LISTED_BYTES, list[dict[str, Any]]()
        for job in jobs:
            shown, taken = await self._listed(job.id, min(LISTED_BYTES, room // 2))
            room -= taken
            listed.append(shown)
        return listed

    async def _job_output(self, call: GetJobOutput) -> dict[str, Any]:
        job = self._job(call)
        marks = self._marks.setdefault(job.id, {})
        if isinstance(call.since, int):
            # A number that was never answered may lie beyond the end of one stream.
            ends = self._jobs.job_output(job.id, sys.maxsize, sys.maxsize)
            here = min(call.since, ends.stdout.end), min(call.since, ends.stderr.end)
            since = marks.get(call.since, here)
        else:
            since = call.since.stdout, call.since.stderr
        read = await self._read(job.id, *since)
        stdout, stderr = read.stdout, read.stderr
        # One number stands for both offsets: at equal sums nothing has come in between.
        marks[stdout.end + stderr.end] = stdout.end, stderr.end
        if len(marks) > MOST_MARKS:
            del marks[next(iter(marks))]
        return {
            "stdout": stdout.text,
            "stderr": stderr.text,
            "offset": stdout.end + stderr.end,
            "offsets": {"stdout": stdout.end, "stderr": stderr.end},
            "status": read.job.status,
            "exitCode": read.job.exit_code,
            "note": read.job.note,
            **read.amounts(),
        }

    async def _kill(self, call: KillJob) -> dict[str, Any]:
        job = await self._jobs.kill(self._job(call).id, call.signal)
        return {"jobId": job.id, "status": job.status, "exitCode": job.exit_code, "note": job.note}

    async def _wait(self, call: WaitJob) -> dict[str, Any]:
        job = await self._jobs.wait(self._job(call).id, call.timeout and call.timeout / 1000)
        return {**await self._result(job.id), "duration": job.duration}

    def _job(self, call: GetJobOutput | KillJob | WaitJob) -> Job:
        job = self._jobs.job(call.job_id)
        if job.session_id != call.session_id:
            raise JobError(f"{job.id} is not a job of that session", f"it is of {job.session_id}")
        return job

    async def _read(self, job_id: str, stdout_from: int = 0, stderr_from: int = 0) -> _Read:
        """Safe text from two offsets on; a word that may still grow is left for the next read.

        Looking for secrets takes time that grows with the output, so a thread does it.
        """
        starts = (max(start - LEAD_BYTES, 0) for start in (stdout_from, stderr_from))
        output = self._jobs.job_output(job_id, *starts)
        ended = not output.job.running

        def shown() -> _Read:
            return _Read(
                output.job,
                _shown(output.stdout, self._redactor, stdout_from, ended=ended),
                _shown(output.stderr, self._redactor, stderr_from, ended=ended),
            )

        return await asyncio.to_thread(shown)

    async def _result(self, job_id: str) -> dict[str, Any]:
        read = await self._read(job_id)
        return {
            "stdout": read.stdout.text,
            "stderr": read.stderr.text,
            "code": read.job.exit_code,
            "success": read.job.status == "completed",
            "status": read.job.status,
            "note": read.job.note,
            **read.amounts(),
        }

    async def _listed(self, job_id: str, most: int) -> tuple[dict[str, Any], int]:
        """A job as a list shows it, and the bytes of output that takes: `most` of each stream."""
        ends = self._jobs.job_output(job_id, sys.maxsize, sys.maxsize)
        starts = max(ends.stdout.end - most, 0), max(ends.stderr.end - most, 0)
        read = await self._read(job_id, *starts)
        out, err = read.stdout, read.stderr
        read = read._replace(
            stdout=out._replace(truncated=out.truncated or starts[0] > 0),
            stderr=err._replace(truncated=err.truncated or starts[1] > 0),
        )
        code = read.job.code[: LISTED_BYTES + LEAD_BYTES]
        shown = msgspec.to_builtins(read.job)
        shown["code"] = (await asyncio.to_thread(self._redactor.redact, code))[:LISTED_BYTES]
        shown |= {"stdout": read.stdout.text, "stderr": read.stderr.text, **read.amounts()}
        return shown, len(read.stdout.text) + len(read.stderr.text)


def _shown(part: StreamPart, redactor: Redactor, since: int, *, ended: bool) -> _Shown:
    text, end = safe_part(part, redactor, since, ended=ended)
    return _Shown(text, end, part.start > since)


def _camel(name: str) -> str:
    return name[0].lower() + name[1:]


def _schema(kind: type[ToolCall]) -> dict[str, Any]:
    (_, shared) = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    own = shared.pop(kind.__name__)
    return {**own, "$defs": shared} if shared else own


def _session(view: ShellView) -> dict[str, Any]:
    return {
        "id": view.id,
        "sessionId": view.id,
        "cwd": view.cwd,
        "env": view.environment,
        "vars": view.variables,
        "createdAt": view.created_at,
        "lastActivityAt": view.last_activity_at,
        "jobs": view.jobs,
        "runningJobs": view.running_jobs,
    }
