"""The command `ollm` from a process that has the program loaded already and forks for each one.

Every command is a process of its own, with its own arguments, environment, directory, streams and
end, as a user starts it. Only the modules, which are most of the work of a short command, are
loaded once.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, cast

import ollm_tui

OLLM = Path(sys.executable).with_name("ollm")
READ_AT_LOADING = ("PYTHON", "LANG", "LC_", "TEXTUAL", "LD_", "COVERAGE")
"""Variables that begin so are read when Python, Textual or coverage is loaded."""
OF_THE_TESTS = ("PYTHONDONTWRITEBYTECODE", "TEXTUAL_SNAPSHOT_TEMPDIR")
"""Variables that begin so, too, and that change nothing in a command."""
LOADED_LATE = (
    "ollm_tui.__main__",
    *("ollm_tui.cli.mcp_command", "ollm_tui.mcp_server"),
    "ollm_tui.web",
)
"""The first runs the command; the others take a second to load, and few need them."""
REQUEST_BYTES = 200_000


class Started:
    """A command that runs; the process that forked it tells its end."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self.pid = int(end.recv(20))
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code as `subprocess` has it; None as long as the command runs."""
        return self._wait(socket.MSG_DONTWAIT)

    def wait(self) -> int:
        """Wait for the end and give the exit code."""
        code = self._wait(0)
        assert code is not None
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it."""
        self.send_signal(signal.SIGKILL)

    def _wait(self, flags: int) -> int | None:
        if self.returncode is None:
            try:
                self.returncode = int(self._end.recv(20, flags))
            except BlockingIOError:
                return None
            self._end.close()
        return self.returncode


def can_be_warm(environment: Mapping[str, str]) -> bool:
    """Whether a command in this environment is the same if it is forked."""
    return "COVERAGE_PROCESS_CONFIG" not in os.environ and not any(
        name.startswith(READ_AT_LOADING)
        and name not in OF_THE_TESTS
        and not (name in ("LANG", "LC_ALL") and value.endswith("UTF-8"))
        for name, value in environment.items()
    )


def started(arguments: Sequence[str], environment: Mapping[str, str], *streams: int) -> Started:
    """Start the command in this directory, on three streams, or on one that is its terminal."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    order = {
        "arguments": [str(OLLM), *arguments],
        "environment": dict(environment),
    }
    directory = os.open(".", os.O_PATH)  # it may be gone, and have no name
    files = [theirs.fileno(), directory, *streams]
    socket.send_fds(_loaded(), [json.dumps(order).encode()], files)
    theirs.close()
    os.close(directory)
    return Started(ours)


def run(
    arguments: Sequence[str], environment: Mapping[str, str], text: str | None
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, as `subprocess.run` does; without a text it reads nothing."""
    (out, out_end), (errors, errors_end) = os.pipe(), os.pipe()
    source, source_end = os.pipe() if text is not None else (os.open(os.devnull, os.O_RDONLY), None)
    command = started(arguments, environment, source, out_end, errors_end)
    for end in (source, out_end, errors_end):
        os.close(end)
    with ThreadPoolExecutor(3) as pool:
        printed, complained = pool.submit(_read, out), pool.submit(_read, errors)
        if source_end is not None:
            pool.submit(_write, source_end, text or "")
    return subprocess.CompletedProcess(
        [str(OLLM), *arguments], command.wait(), printed.result(), complained.result()
    )


def _read(end: int) -> str:
    with open(end, encoding="utf-8") as stream:
        return stream.read()


def _write(end: int, text: str) -> None:
    try:
        with open(end, "w", encoding="utf-8") as stream:
            stream.write(text)
    except BrokenPipeError:
        pass  # it ended without reading all of it


@cache
def _loaded() -> socket.socket:
    """The connection to the process that forks; it ends with the last of these."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for each in (ours, theirs):
        each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * REQUEST_BYTES)
    with theirs:
        command = (sys.executable, "-m", __name__, str(theirs.fileno()))
        place = Path(__file__).parents[2]
        environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        files = [theirs.fileno()]
        subprocess.Popen(
            command, env=environment, pass_fds=files, stdin=subprocess.DEVNULL, cwd=place
        )
    return ours


# In the process that has everything loaded


def serve(orders: socket.socket) -> None:
    """Fork for each order; returns in each process that is to be the command."""
    for module in pkgutil.walk_packages(ollm_tui.__path__, "ollm_tui."):
        if not module.name.startswith(LOADED_LATE):
            importlib.import_module(module.name)
    gc.collect()
    gc.freeze()
    waiting: list[int] = []
    while True:
        data, files, _, _ = socket.recv_fds(orders, REQUEST_BYTES, 5)
        waiting = [each for each in waiting if os.waitpid(each, os.WNOHANG)[0] == 0]
        if not data:
            sys.exit(0)
        if (child := os.fork()) == 0:
            orders.close()
            break
        waiting.append(child)
        for file in files:
            os.close(file)
    end, directory, *streams = files
    if child := os.fork():
        _tell(end, streams, child)
    os.fchdir(directory)
    os.close(directory)
    os.close(end)
    _become(json.loads(data), streams)


def _tell(end: int, streams: list[int], child: int) -> None:
    """Tell the id of the command, and how it ended; it alone has its streams."""
    for stream in (0, 1, 2, *streams):
        os.close(stream)
    with socket.socket(fileno=end) as told:
        told.send(str(child).encode())
        _, status = os.waitpid(child, 0)
        told.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _become(order: dict[str, Any], streams: list[int]) -> None:
    if len(streams) == 1:
        os.login_tty(streams[0])
    else:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
    for number, mode in enumerate(("r", "w", "w")):
        name = ("stdin", "stdout", "stderr")[number]
        setattr(
            sys, name, os.fdopen(number, mode, buffering=1 if number == 2 else -1, closefd=False)
        )
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.argv = order["arguments"]


def _end(command: Callable[[], int]) -> None:
    """Run the command and end as Python does, but take apart no modules: all that are loaded would
    be copied for it, which takes ten times as long as a short command."""
    try:
        code = command()
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        code = end.code or 0
    cast(Any, threading)._shutdown()  # waits for threads
    cast(Any, atexit)._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)  # Python has words and a code of its own for it
    os._exit(code)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
    from ollm_tui.cli.main import run as run_command

    _end(run_command)
