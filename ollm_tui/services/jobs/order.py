"""The messages between the app, the launcher and a job's supervisor.

Also loaded by the launcher, so it imports nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

LONGEST_MESSAGE = 4096
"""Bytes of a message between app and supervisor; orders are files and may be longer."""

M = TypeVar("M", bound="tuple[Any, ...]")


class Order(NamedTuple):
    """What to run. The files it needs travel beside it: stdout, stderr, then `files`."""

    argv: list[str]
    cwd: str
    environment: dict[str, str]
    files: list[int]
    """The descriptor numbers under which the job finds the files after stdout and stderr."""
    most_processes: int
    """The job is ended when it has more processes than this."""
    most_tasks: int
    """The kernel's limit for all threads of the user together."""
    own_session: bool = True
    """False for bubblewrap, which begins a session itself inside of the sandbox."""
    placeholders: Mapping[str, str | None] | None = None
    """Placeholders that must exist while the job runs: path to content, None for a directory."""
    writable: Sequence[str] | None = None
    """The paths that Landlock lets it write; None where Landlock does not confine the job."""
    tcp: bool = True
    """Whether Landlock lets it use TCP."""


class Begun(NamedTuple):
    """Supervisor to app: the job runs. Start times are clock ticks after boot."""

    pid: int
    started: int
    supervisor: int
    supervisor_started: int


class Stop(NamedTuple):
    """App to supervisor: end the job by this signal, and by SIGKILL after the grace period."""

    signal: int
    grace_seconds: float


class Ended(NamedTuple):
    """Supervisor to app, its last message: how the job ended."""

    code: int
    stopped: bool
    """Whether it was told to end before it ended by itself."""
    outside: bool
    """Whether somebody other than the app sent the supervisor a signal to end it."""
    crowded: bool
    """Whether it was ended for having too many processes."""
    left: int
    """How many processes it left running when it ended; they were ended then."""
    alive: int
    """How many of its processes could not be ended."""


def memory_file(name: str, content: bytes = b"") -> int:
    """A descriptor of a file in memory with this content, positioned at its start."""
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def write_order(order: Order) -> int:
    """A descriptor of a file with the order: it may be longer than any message."""
    return memory_file("ollm-order", json.dumps(order._asdict()).encode())


def read_order(descriptor: int) -> Order:
    """Read the order from a file and close it."""
    with open(descriptor, "rb") as file:
        return Order(**json.loads(file.read()))


def send(channel: socket.socket, message: Begun | Stop | Ended) -> None:
    """Send a message; does nothing if the other side is gone."""
    try:
        channel.send(json.dumps(message._asdict()).encode())
    except OSError:
        pass


def received(data: bytes, kind: type[M]) -> M:
    """Decode a message of this kind."""
    fields: Mapping[str, Any] = json.loads(data)
    return kind(**fields)
