"""The processes of the machine and who started whom, read from /proc or told by `ps`.

Also loaded by the launcher, so it imports nothing but the standard library.
"""

from __future__ import annotations

import os
import signal as signals
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

MARK_VARIABLE = "OLLM_JOB"
"""Holds the job's id in the environment of its processes, which finds those that lost their
parent."""


class ProcessLine(NamedTuple):
    """What the system says about a process."""

    pid: int
    name: bytes
    """The name of its program, shortened by the kernel."""
    state: str
    parent: int
    group: int
    session: int
    started: int
    """When it started: in clock ticks after boot, or in seconds after 1970 where `ps` tells it."""


def has_proc() -> bool:
    """Whether the system tells about processes by files, as Linux does: fast, and in full."""
    return os.access("/proc/self/stat", os.R_OK)


def process(pid: int) -> ProcessLine | None:
    """The process with a number, or None if there is none."""
    if not has_proc():
        return next(iter(_listed("-p", str(pid))), None)
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            line = file.read()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name stands in brackets and may hold anything, brackets and spaces too.
    opening, closing = line.index(b"("), line.rindex(b")")
    fields = line[closing + 2 :].split()
    # After the state (field 3 in proc(5)): parent, group, session, and the start time (field 22).
    numbers = (int(fields[at]) for at in (1, 2, 3, 19))
    return ProcessLine(pid, line[opening + 1 : closing], fields[0].decode(), *numbers)


def processes() -> list[ProcessLine]:
    """Every process of the machine."""
    if not has_proc():
        return _listed("-A")
    with os.scandir("/proc") as entries:
        numbers = [int(entry.name) for entry in entries if entry.name.isdecimal()]
    return [found for found in map(process, numbers) if found]


def descendants(root: int, lines: Iterable[ProcessLine] | None = None) -> list[ProcessLine]:
    """The processes that one started, directly or not, without itself and without zombies.

    Without `lines` the kernel's own lists of children are read, where it has them: two hundred
    supervisors that each look through all processes would take a minute.
    """
    if lines is None and Path("/proc/self/task", str(os.getpid()), "children").exists():
        children_of = _children
    else:
        children: dict[int, list[ProcessLine]] = {}
        for line in processes() if lines is None else lines:
            children.setdefault(line.parent, []).append(line)

        def children_of(pid: int) -> list[ProcessLine]:
            return children.get(pid, [])

    found: list[ProcessLine] = []
    open_numbers = [root]
    while open_numbers:
        for line in children_of(open_numbers.pop()):
            open_numbers.append(line.pid)
            if line.state != "Z":
                found.append(line)
    return found


def marked(job_id: str, lines: Iterable[ProcessLine] | None = None) -> list[int]:
    """The numbers of processes whose environment says that they belong to a job."""
    mark = f"{MARK_VARIABLE}={job_id}".encode()
    return [
        line.pid
        for line in (processes() if lines is None else lines)
        if line.state != "Z" and mark in _environment(line.pid)
    ]


def send(numbers: Iterable[int], signal: int) -> None:
    """Send a signal to processes; some may be gone, some may not be ours to end."""
    for number in numbers:
        try:
            os.kill(number, signal)
        except (ProcessLookupError, PermissionError):
            pass


def send_to_groups(lines: Iterable[ProcessLine], *signals: int) -> None:
    """Send signals to processes of a job, a group at a time.

    One call for a group reaches all of it, also those that are being forked right now: with
    single processes a fork bomb is faster than we are. A job begins a session of its own, so
    nobody else is in its groups; our own group is never meant.
    """
    for group in {line.group for line in lines} - {os.getpgrp()}:
        for signal in signals:
            send_to_group(group, signal)


def pass_on(root: int, signal: int) -> None:
    """Send a signal to the innermost processes below one that handle it, or to all if none does.

    A shell that waits for a server would end by the SIGUSR1 that is meant for the server: bash
    handles every signal, in order to clean up.
    """
    below = {line.pid: line.parent for line in descendants(root)}
    handling: set[int] = set()
    if signal not in (signals.SIGSTOP, signals.SIGCONT):
        handling = {pid for pid in below if _handles(pid, signal) and not _is_fork(pid, below[pid])}
    outer: set[int] = set()
    for pid in handling:
        while (pid := below.get(pid, root)) != root:
            outer.add(pid)
    send((handling - outer) or below, signal)


def _is_fork(pid: int, parent: int) -> bool:
    """Whether a process still is a copy of its parent. Between fork and exec it seems to handle
    what its parent handles, and a signal that reaches it there is lost."""
    try:
        commands = {Path(f"/proc/{each}/cmdline").read_bytes() for each in (pid, parent)}
    except OSError:
        return False
    return len(commands) == 1


def send_to_group(group: int, signal: int) -> None:
    """Send a signal to a process group, which may be gone."""
    try:
        os.killpg(group, signal)
    except (ProcessLookupError, PermissionError):
        pass


def boot_id() -> str:
    """The id of this boot, from which start times count; empty where the system does not say."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def task_count() -> int:
    """How many threads the machine has, or processes where it does not say; 0 for unknown."""
    if not has_proc():
        return len(processes())
    try:
        with open("/proc/loadavg", "rb") as file:
            return int(file.read().split()[3].partition(b"/")[2])
    except (OSError, IndexError, ValueError):
        return 0


def _listed(*which: str) -> list[ProcessLine]:
    """The processes that `ps` lists, without itself; none where there is no `ps`."""
    import subprocess

    columns = ("pid", "ppid", "pgid", "state", "lstart", "comm")
    command = ["ps", *which, *(word for column in columns for word in ("-o", f"{column}="))]
    environment = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC0"}
    try:
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        ) as ps:
            told, _ = ps.communicate()
    except OSError:
        return []
    return [line for line in map(_line_of_ps, told.splitlines()) if line and line.pid != ps.pid]


def _line_of_ps(text: bytes) -> ProcessLine | None:
    """The process in a line such as `12 1 12 Ss Tue Nov 17 23:48:47 2026 /bin/sh`."""
    from calendar import timegm

    fields = text.split(None, 9)
    try:
        pid, parent, group = map(int, fields[:3])
        started = time.strptime(b" ".join(fields[4:9]).decode(), "%a %b %d %H:%M:%S %Y")
        session = os.getsid(pid)
    except (ValueError, OSError):
        return None  # no process, or one that has ended meanwhile
    state = fields[3][:1].decode()
    return ProcessLine(pid, fields[9], state, parent, group, session, timegm(started))


def _children(pid: int) -> list[ProcessLine]:
    """The running processes that the threads of a process started."""
    numbers: list[int] = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            numbers += map(int, (task / "children").read_bytes().split())
    except (FileNotFoundError, ProcessLookupError):
        pass  # it ended meanwhile; its children are somebody else's now
    return [line for line in map(process, numbers) if line]


def _handles(pid: int, signal: int) -> bool:
    """Whether a process has a handler for a signal."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    _, _, mask = lines.partition("\nSigCgt:")
    return bool(int(mask.split(maxsplit=1)[0], 16) >> (signal - 1) & 1) if mask else False


def _environment(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []
