"""Tries out what a sandbox allows: `python -m ollm_tui.services.sandbox.canary JSON`.

This program tries what it must not do and prints what succeeded. Standard library only.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ollm_tui.services.sandbox.landlock import LandlockRules, restrict

CONNECT_SECONDS = 2.0
"""How long a connection may take."""


class Attempts(NamedTuple):
    """What to try."""

    inside: str
    """A file in the scope that does not exist and may be created."""
    protected: list[str]
    """Files in the scope that must not be created."""
    outside: str
    """A directory outside of the scope, in which nothing may be written."""
    outside_number: int
    """The inode of `outside`: another directory of that name in the sandbox does not count."""
    readable: str
    """A file that programs must be able to read."""
    tcp_port: int
    udp_port: int
    writable: list[str] | None = None
    """The paths that Landlock lets it write; None if it does not restrict itself first."""
    tcp: bool = True
    """Whether Landlock lets it use TCP."""


class Findings(NamedTuple):
    """What could be done in the sandbox."""

    reads: bool
    writes_inside: bool
    writes_protected: bool
    writes_outside: bool
    changes_modes: bool
    """Whether the mode of the directory outside could be changed."""
    tcp: bool
    udp: bool


def tried(attempts: Attempts) -> dict[str, bool]:
    """Try it all, and return what succeeded. Whoever listens to the ports sees what got through."""
    outside = Path(attempts.outside)
    seen = outside.is_dir() and outside.stat().st_ino == attempts.outside_number
    _can(lambda: _connect(socket.SOCK_STREAM, attempts.tcp_port))
    _can(lambda: _connect(socket.SOCK_DGRAM, attempts.udp_port))
    return {
        "reads": _can(lambda: os.close(os.open(attempts.readable, os.O_RDONLY))),
        "writes_inside": _can(lambda: _write(Path(attempts.inside))),
        "writes_protected": _can_any(attempts.protected),
        "writes_outside": seen and _can(lambda: _write(outside / f".ollm-canary-{os.getpid()}")),
        "changes_modes": seen and _can(lambda: outside.chmod(outside.stat().st_mode & 0o7777)),
    }


def _can(attempt: Callable[[], None]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True


def _can_any(paths: list[str]) -> bool:
    return any(_can(lambda path=path: _write(Path(path))) for path in paths)


def _write(path: Path) -> None:
    if not path.parent.exists():
        path.parent.mkdir()
    with path.open("x", encoding="ascii") as file:
        file.write("canary")
    path.unlink()


def _connect(kind: int, port: int) -> None:
    with socket.socket(socket.AF_INET, kind) as connection:
        connection.settimeout(CONNECT_SECONDS)
        connection.connect(("127.0.0.1", port))
        connection.send(b"canary")


def main() -> None:
    """Try what the first argument says and print what could be done."""
    attempts = Attempts(**json.loads(sys.argv[1]))
    if attempts.writable is not None:
        restrict(LandlockRules(tuple(attempts.writable), attempts.tcp))
    sys.stdout.write(json.dumps(tried(attempts)))


if __name__ == "__main__":
    main()
