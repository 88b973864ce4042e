"""A job: one tracked execution, its output and its events."""

from __future__ import annotations

from typing import Literal

import msgspec

from ollm_tui.core.intake import clean

JobStatus = Literal["running", "completed", "failed", "killed", "timeout"]
JobLanguage = Literal["shell", "python", "command"]
"""`command` is a program with its arguments, started by cmd() in Python code."""

_LONGEST_CHARACTER = 4
"""Bytes of the longest character in UTF-8."""


class ProcessMark(msgspec.Struct, frozen=True, rename="camel"):
    """Identifies a process for good; a pid alone may later be given to another process."""

    pid: int
    started: int
    """Clock ticks after boot, as in field 22 of /proc/PID/stat."""
    boot: str
    """The id of that boot of the machine."""


class Job(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One execution in a session's shell."""

    id: str
    session_id: str
    sequence: int
    code: str
    language: JobLanguage
    cwd: str
    """Where it was started."""
    background: bool
    started_at: str
    pid: int
    status: JobStatus = "running"
    exit_code: int | None = None
    """128 plus the number of the signal where a signal ended it."""
    completed_at: str | None = None
    duration: int | None = None
    """Milliseconds."""
    note: str = ""
    """How it ended, in words, where the status does not say enough."""
    by_model: bool = False
    """Whether the model ran it; its result is then in the session as the answer to the call."""
    parent: str | None = None
    """The job whose cmd() started this one."""
    stdout_bytes: int = 0
    """All bytes it printed, including those no longer kept."""
    stderr_bytes: int = 0
    stdout_truncated: bool = False
    stderr_truncated: bool = False
    trimmed: bool = False
    """Whether its output was dropped because the jobs of the session kept too much."""

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.status == "running"


class StreamPart(msgspec.Struct, frozen=True):
    """Bytes of one stream from one absolute offset on."""

    start: int
    data: bytes = b""
    truncated: bool = False
    """Whether earlier bytes of the stream are no longer kept."""

    @property
    def end(self) -> int:
        """The offset at which the next read continues."""
        return self.start + len(self.data)

    def on_character_borders(self, *, ended: bool) -> StreamPart:
        """Drop incomplete characters at the start and, unless the stream `ended`, at the end.

        What is dropped at the end comes with the next read.
        """
        data = self.data
        first = 0
        # At offset 0 nothing can have been cut off. Bytes 0b10xxxxxx continue a character.
        most = min(len(data), _LONGEST_CHARACTER - 1) if self.start else 0
        while first < most and data[first] & 0xC0 == 0x80:
            first += 1
        last = len(data) if ended else _complete(data)
        return StreamPart(self.start + first, data[first : max(first, last)], self.truncated)

    def text(self) -> str:
        """Decode the bytes and remove everything that steers a terminal."""
        return clean(self.on_character_borders(ended=True).data.decode("utf-8", "replace"))


class JobOutput(msgspec.Struct, frozen=True):
    """What is kept of a job's output, from the offsets asked for."""

    job: Job
    stdout: StreamPart
    stderr: StreamPart


class JobStarted(msgspec.Struct, frozen=True, tag="job-started"):
    """A job has started."""

    job: Job


class JobOutputArrived(msgspec.Struct, frozen=True, tag="job-output"):
    """A job printed something; several prints may share one event."""

    job_id: str
    stdout_end: int
    stderr_end: int


class JobMoved(msgspec.Struct, frozen=True, tag="job-moved"):
    """A job that was waited for goes on in the background."""

    job: Job


class JobFinished(msgspec.Struct, frozen=True, tag="job-finished"):
    """A job ended; nothing of it runs any more, and all it printed has arrived."""

    job: Job


JobEvent = JobStarted | JobOutputArrived | JobMoved | JobFinished


def _complete(data: bytes) -> int:
    """Return where the last whole character ends; invalid bytes count as whole characters."""
    for back in range(1, min(_LONGEST_CHARACTER, len(data) + 1)):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        length = 2 if byte & 0xE0 == 0xC0 else 3 if byte & 0xF0 == 0xE0 else 4
        return len(data) - back if byte >= 0xC0 and back < length else len(data)
    return len(data)
