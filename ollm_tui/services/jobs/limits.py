"""How much jobs may take: of memory, of processes, at once; and what has to go first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from ollm_tui.services.jobs.output_tail import TAIL_BYTES

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


class Use(NamedTuple):
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


def to_close(shells: Iterable[Use], limits: Limits) -> list[str]:
    """Which shells go so that one more fits: the least recently used, none with running jobs."""
    all_shells = sorted(shells, key=lambda shell: shell.last_used)
    over = len(all_shells) + 1 - limits.shells
    idle = [shell.session_id for shell in all_shells if not shell.busy]
    return idle[: max(0, over)]
