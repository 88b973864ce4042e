"""Runs a canary in a sandbox, and listens for what gets out."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import msgspec

import ollm_tui
from ollm_tui.core.errors import JobError
from ollm_tui.services.sandbox.canary import Attempts, Findings
from ollm_tui.services.sandbox.confinement import Confinement, HeldProgram
from ollm_tui.services.sandbox.placeholders import Placeholders

MOST_SECONDS = 20.0
"""How long the canary may take."""
COMMAND = (sys.executable, "-S", "-P", "-m", "ollm_tui.services.sandbox.canary")
_HERE = Path(ollm_tui.__file__).parent.parent


def probed(confinement: Confinement | None, scope: Sequence[Path], temporary: Path) -> Findings:
    """What can be done in a sandbox, or without one. JobError if nothing can be run in it."""
    with ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="ollm-canary-"))
        project = Path(scratch, "project").resolve()
        repositories = (project / ".git", project / "nested" / ".git")
        for git in repositories:
            git.mkdir(parents=True)
        if confinement is not None:
            confinement = msgspec.structs.replace(confinement, scope=(*confinement.scope, project))
        stream = stack.enter_context(closing(_listener(socket.SOCK_STREAM)))
        datagrams = stack.enter_context(closing(_listener(socket.SOCK_DGRAM)))
        outside = _outside(scope, temporary)
        attempts = Attempts(
            inside=str(project / "file"),
            protected=[str(git / "hooks" / "pre-commit") for git in repositories],
            outside=str(outside),
            outside_number=outside.stat().st_ino,
            readable=sys.executable,
            tcp_port=stream.getsockname()[1],
            udp_port=datagrams.getsockname()[1],
        )
        found = _run(confinement, attempts, str(project))
        return Findings(**found, tcp=_arrived(stream), udp=_arrived(datagrams))


def _listener(kind: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, kind)
    made.bind(("127.0.0.1", 0))
    if kind == socket.SOCK_STREAM:
        made.listen()
    made.setblocking(False)
    return made


def _arrived(listener: socket.socket) -> bool:
    try:
        if listener.type == socket.SOCK_DGRAM:
            listener.recv(64)
        else:
            listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def _outside(scope: Sequence[Path], temporary: Path) -> Path:
    """A directory that we can write and a job must not; usually the home directory."""
    inside = (*scope, temporary.resolve())
    places = [place.resolve() for place in (Path.home(), *(root.parent for root in scope), _HERE)]
    fitting = [
        place
        for place in places
        if os.access(place, os.W_OK) and not any(place.is_relative_to(root) for root in inside)
    ]
    # Those below /tmp come last: a job sees another directory there, which proves little.
    fitting.sort(key=lambda place: place.is_relative_to("/tmp"))
    return fitting[0] if fitting else Path("/")


def _run(confinement: Confinement | None, attempts: Attempts, cwd: str) -> dict[str, bool]:
    environment = {"PYTHONPATH": str(_HERE)}
    # Landlock can only be put on by the process itself.
    if confinement is not None and confinement.kind == "landlock":
        rules = confinement.rules()
        attempts = attempts._replace(writable=list(rules.writable), tcp=rules.tcp)
    argv = [*COMMAND, json.dumps(attempts._asdict())]
    with tempfile.TemporaryFile() as arguments:
        held = (
            confinement.hold(argv, cwd, environment, arguments.fileno())
            if confinement is not None
            else HeldProgram(argv, environment)
        )
        arguments.write(held.arguments or b"")
        arguments.seek(0)
        return _output(held, arguments.fileno(), cwd)


def _output(held: HeldProgram, arguments_file: int, cwd: str) -> dict[str, bool]:
    placeholders = Placeholders(held.placeholders)
    try:
        placeholders.hold()
        done = subprocess.run(
            held.argv,
            env=held.environment,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            pass_fds=(arguments_file,),
            timeout=MOST_SECONDS,
            check=False,
        )
        return json.loads(done.stdout) if done.stdout else _failed(done.stderr)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise JobError(f"the sandbox cannot be tried: {error}") from error
    finally:
        placeholders.release()


def _failed(stderr: bytes) -> dict[str, bool]:
    """Raise JobError with the last line that the sandbox printed."""
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    raise JobError(lines[-1] if lines else "the sandbox says nothing")
