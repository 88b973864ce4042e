"""The last bytes of a stream, at their absolute offsets, however long the stream is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from ollm_tui.core.job import StreamPart

TAIL_BYTES = 1024 * 1024
SLACK_BYTES = 256 * 1024
"""Kept beyond that for a moment: cutting at every read of a flood would move the tail each time."""


class OutputTail:
    """Keeps the last bytes; `total` counts all that ever came."""

    def __init__(self, most: int = TAIL_BYTES) -> None:
        self._most = most
        self._kept = bytearray()
        self.total = 0
        self._forgotten = False

    def add(self, data: bytes) -> None:
        """More of the stream."""
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
        """Drop what is kept; the offsets stay."""
        self._kept = bytearray()
        self._forgotten = True

    def settle(self) -> None:
        """The stream has ended: give back the memory that was only there for speed."""
        if len(self._kept) > self._most:
            del self._kept[: -self._most]
        self._kept = bytearray(self._kept)


MEGABYTE = 1024 * 1024


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers; the defaults are the documented ones."""

    stream_bytes: int = TAIL_BYTES
    """Kept of each stream of a job."""
    session_bytes: int = 50 * MEGABYTE
    """Kept of all jobs and variables of a session; then the oldest output goes."""
    young_seconds: float = 300.0
    """The output of a job that ended more recently than this always stays."""
    finished_jobs: int = 1000
    """Ended jobs a session remembers."""
    shells: int = 10
    """Then the least recently used one without running jobs is closed."""
    running_jobs: int = 250
    variable_bytes: int = 10 * MEGABYTE
    """Variables a shell carries from one job to the next."""
    processes: int = 1000
    """Of one job; it is ended above that."""
    tasks: int = 4000
    """Threads the user may have besides those there are when a job starts. The kernel counts
    them over all programs and does not hold root to it; `processes` is exact."""
    stop_grace_seconds: float = 5.0
    """Between the signal that asks and the one that cannot be ignored."""


class Kept(NamedTuple):
    """What a limit needs to know about a job that ended."""

    job_id: str
    size: int
    ended: float
    """Seconds of any clock that only goes forward."""


class ShellUsage(NamedTuple):
    """What a limit needs to know about a shell."""

    session_id: str
    last_used: int
    busy: bool
    """It has running jobs."""


def to_trim(ended: Sequence[Kept], used: int, now: float, limits: Limits) -> list[str]:
    """Whose output goes so that a session fits again: the oldest first, no young one.

    `ended` is in the order in which they ended; `used` is all that the session keeps.
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
    """Which shells go so that one more fits: the least recently used, none with running jobs."""
    all_shells = sorted(shells, key=lambda shell: shell.last_used)
    over = len(all_shells) + 1 - limits.shells
    idle = [shell.session_id for shell in all_shells if not shell.busy]
    return idle[: max(0, over)]
