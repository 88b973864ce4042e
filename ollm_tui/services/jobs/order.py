"""The messages between the app, the launcher and a job's supervisor.

Also loaded by the launcher, so it imports nothing but the standard library.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

READ_BYTES = 4096
"""The most that is read at once from the channel between app and supervisor."""

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


class SendSignal(NamedTuple):
    """App to supervisor: send the job a signal, and SIGKILL after the grace period."""

    signal: int
    grace_seconds: float | None
    """None for a signal that is not meant to end the job: no SIGKILL follows."""


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


def encoded(order: Order) -> bytes:
    """The content of the file by which an order travels: it may be longer than any message."""
    return json.dumps(order._asdict()).encode()


def read_order(descriptor: int) -> Order:
    """Read the order from a file and close it."""
    with open(descriptor, "rb") as file:
        return Order(**json.loads(file.read()))


def send(channel: socket.socket, message: Begun | SendSignal | Ended) -> None:
    """Send a message; does nothing if the other side is gone."""
    try:
        channel.sendall(json.dumps(message._asdict()).encode() + b"\n")
    except OSError:
        pass


class Inbox:
    """Cuts what arrives into messages, one a line: macOS has no sockets that keep them apart."""

    def __init__(self) -> None:
        self._begun = b""

    def add(self, data: bytes) -> list[bytes]:
        """Return the messages that are complete with what has just arrived."""
        *complete, self._begun = (self._begun + data).split(b"\n")
        return complete


def decoded(line: bytes, kind: type[M]) -> M:
    """Decode a message of this kind."""
    fields: Mapping[str, Any] = json.loads(line)
    return kind(**fields)
