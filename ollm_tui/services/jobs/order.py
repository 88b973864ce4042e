"""What the app, the launcher and a job's supervisor say to one another.

Also loaded by the launcher, so it imports nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

LONGEST_MESSAGE = 4096

M = TypeVar("M", bound="tuple[Any, ...]")


class Order(NamedTuple):
    """What to run. The files named here travel beside it, in this order."""

    argv: list[str]
    cwd: str
    environment: dict[str, str]
    files: list[int]
    """Under which numbers the job finds what comes after its stdout and stderr."""
    most_processes: int
    """Above this the job is ended."""
    most_tasks: int
    """The kernel's limit for all threads of the user together."""
    own_session: bool = True
    """False where the program has walls around it, and begins a session only behind them."""
    placeholders: Mapping[str, str | None] | None = None
    """What has to stand somewhere while the job runs: a file's content, None is a directory."""
    writable: Sequence[str] | None = None
    """Where Landlock lets it write; None: it does not hold the job."""
    tcp: bool = True
    """Whether Landlock lets it."""


class Begun(NamedTuple):
    """The job runs. Supervisor to app."""

    pid: int
    started: int
    supervisor: int
    supervisor_started: int


class Stop(NamedTuple):
    """End the job: this signal, and after some seconds one nobody can ignore. App to supervisor."""

    signal: int
    grace_seconds: float


class Ended(NamedTuple):
    """Nothing of the job runs any more. Supervisor to app."""

    code: int
    stopped: bool
    """It was told to end, and did not end by itself before."""
    outside: bool
    """Told by somebody else than the app."""
    crowded: bool
    """It had too many processes."""
    left: int
    """How many processes it had left running; they were ended."""
    alive: int
    """How many of them could not be ended."""


def memory_file(name: str, content: bytes = b"") -> int:
    """A file without a place on disk, to be read from its start."""
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def write_order(order: Order) -> int:
    """An order as a file: it may be longer than any message."""
    return memory_file("ollm-order", json.dumps(order._asdict()).encode())


def read_order(descriptor: int) -> Order:
    """The order in a file, which is closed."""
    with open(descriptor, "rb") as file:
        return Order(**json.loads(file.read()))


def send(channel: socket.socket, message: Begun | Stop | Ended) -> None:
    """Send a message; whoever is gone does not need it."""
    try:
        channel.send(json.dumps(message._asdict()).encode())
    except OSError:
        pass


def received(data: bytes, kind: type[M]) -> M:
    """A message as it was sent."""
    fields: Mapping[str, Any] = json.loads(data)
    return kind(**fields)
