"""What the job tools take: one value a tool, its docstring the description others read."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from ollm_tui.core.job import JobStatus

Count = Annotated[int, Meta(ge=0)]
Milliseconds = Annotated[float, Meta(gt=0, description="milliseconds")]


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
    """End a job and all it started: SIGTERM, or the signal named, and SIGKILL 5 seconds later."""

    session_id: str
    job_id: str
    signal: str = "SIGTERM"


class WaitJob(ToolCall, frozen=True):
    """Wait until a job has ended, or until the timeout; then its status is still running."""

    session_id: str
    job_id: str
    timeout: Milliseconds | None = None
