"""What is kept of jobs: the last bytes of each stream, and the limits that decide what goes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from ollm_tui.core.job import StreamPart

TAIL_BYTES = 1024 * 1024
"""Kept of one stream, unless another limit is given."""
SLACK_BYTES = 256 * 1024
"""Kept beyond the limit for a while: cutting at each read of a flood would move all of the tail."""


class OutputTail:
    """Keeps the last bytes of a stream at their absolute offsets; `total` counts all that came."""

    def __init__(self, most: int = TAIL_BYTES) -> None:
        self._most = most
        self._kept = bytearray()
        self.total = 0
        self._forgotten = False

    def add(self, data: bytes) -> None:
        """Append bytes of the stream."""
        self.total += len(data)
        if self._forgotten:
            return
        self._kept += data
        if len(self._kept) > self._most + SLACK_BYTES:
            del self._kept[: -self._most]

    def read(self, start: int = 0) -> StreamPart:
        """The bytes from an absolute offset on, as far as they are kept."""
        first = self.total - self.kept
        begin = min(max(start, first), self.total)
        at = len(self._kept) - (self.total - begin)
        data = bytes(memoryview(self._kept)[at:]) if begin < self.total else b""
        return StreamPart(begin, data, start < first)

    @property
    def kept(self) -> int:
        """How many bytes can be read."""
        return min(len(self._kept), self._most)

    @property
    def truncated(self) -> bool:
        """Whether the first bytes of the stream can no longer be read."""
        return self.kept < self.total

    def forget(self) -> None:
        """Drop what is kept, now and from now on; offsets go on counting."""
        self._kept = bytearray()
        self._forgotten = True

    def settle(self) -> None:
        """Give back spare memory after the stream has ended."""
        if len(self._kept) > self._most:
            del self._kept[: -self._most]
        # A copy: a bytearray may keep the room that it once grew to.
        self._kept = bytearray(self._kept)


MEGABYTE = 1024 * 1024


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of shells and jobs; the defaults are the documented ones."""

    stream_bytes: int = TAIL_BYTES
    """Bytes kept of each stream of a job."""
    session_bytes: int = 50 * MEGABYTE
    """Bytes kept of all jobs and variables of a session; above that the oldest output goes."""
    young_seconds: float = 300.0
    """The output of a job that ended more recently than this always stays."""
    finished_jobs: int = 1000
    """How many ended jobs of a session stay in memory."""
    shells: int = 10
    """How many shells may be open; for one more, the least recently used idle one is closed."""
    running_jobs: int = 250
    """How many jobs of all shells may run at once."""
    variable_bytes: int = 10 * MEGABYTE
    """Bytes of variables that a shell carries from one job to the next."""
    processes: int = 1000
    """How many processes one job may have before it is ended."""
    tasks: int = 4000
    """How many threads the user may have beyond those that exist when a job starts. The kernel
    counts those of all programs and exempts root; `processes` is exact."""
    stop_grace_seconds: float = 5.0
    """The time between SIGTERM and SIGKILL."""


class Kept(NamedTuple):
    """What `to_trim` needs to know about a job that ended."""

    job_id: str
    size: int
    ended: float
    """When it ended, in seconds of a clock that only goes forward."""


class ShellUsage(NamedTuple):
    """What `to_close` needs to know about a shell."""

    session_id: str
    last_used: int
    busy: bool
    """Whether it has running jobs."""


def to_trim(ended: Sequence[Kept], used: int, now: float, limits: Limits) -> list[str]:
    """The ids of jobs whose output goes so that a session fits again, the oldest first, none young.

    `ended` is in the order in which they ended; `used` is all that the session keeps, in bytes.
    """
    gone: list[str] = []
    for kept in ended:
        if used <= limits.session_bytes:
            break
        if kept.size and now - kept.ended >= limits.young_seconds:
            gone.append(kept.job_id)
            used -= kept.size
    return gone


def to_close(shells: Iterable[ShellUsage], limits: Limits) -> list[str]:
    """The ids of shells that go so that one more fits: the least recently used of the idle ones."""
    all_shells = sorted(shells, key=lambda shell: shell.last_used)
    over = len(all_shells) + 1 - limits.shells
    idle = [shell.session_id for shell in all_shells if not shell.busy]
    return idle[: max(0, over)]
