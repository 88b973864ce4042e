"""The program that runs a job's Python code, started by the Python of the job's own PATH.

Standard library only, and nothing newer than Python 3.8. Variables that are plain, that can be
pickled, or that are modules are there again in the shell's next job.
"""

from __future__ import annotations

import base64
import itertools
import json
import linecache
import os
import pickle
import socket
import sys
import threading
import traceback
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

NAME = "<job>"
"""The name of the code in tracebacks, in place of a file name."""
PLAIN = (type(None), bool, int, float, str, list, dict)
CANNOT_BE_KEPT = (
    pickle.PickleError,
    ArithmeticError,
    AttributeError,
    ImportError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What objects raise that cannot be pickled or cannot be loaded again."""


class Finished:
    """The result of a command: its output and exit code."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.job_id: str = answer["jobId"]
        self.code: int = answer["code"]
        self.stdout: str = answer["stdout"]
        self.stderr: str = answer["stderr"]
        self.success: bool = self.code == 0

    def __repr__(self) -> str:
        return f"<{self.job_id} ended with {self.code}>"


class Commands:
    """Asks the app to run commands, each as a job of its own; threads may ask side by side."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._lines = channel.makefile("rb")
        self._asking = threading.Lock()
        self._numbers = itertools.count()
        self._news = threading.Condition()
        self._is_read = False
        """Whether a thread waits for the next line; it reads for all others too."""
        self._answers: dict[int, dict[str, Any]] = {}

    def run(
        self,
        program: str,
        arguments: Sequence[str] = (),
        timeout: float | None = None,
        env: dict[str, str] | None = None,
    ) -> Finished:
        """Run a program as a job and wait for its end; RuntimeError if it cannot be run.

        `timeout` is in seconds.
        """
        number = next(self._numbers)
        request = {
            "number": number,
            "argv": [str(program), *map(str, arguments)],
            "cwd": str(Path.cwd()),
            "environment": {**os.environ, **(env or {})},
            "timeout": timeout,
        }
        with self._asking:
            self._channel.sendall(json.dumps(request).encode() + b"\n")
        answer = self._answer(number)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return Finished(answer)

    def _answer(self, number: int) -> dict[str, Any]:
        """Wait for the answer to a request; answers come in any order."""
        with self._news:
            while number not in self._answers:
                if self._is_read:
                    self._news.wait()
                else:
                    self._read()
            return self._answers.pop(number)

    def _read(self) -> None:
        """Read the next answer, and let the others look meanwhile and afterwards."""
        self._is_read = True
        self._news.release()
        try:
            line = self._lines.readline()
        finally:
            self._news.acquire()
            self._is_read = False
            self._news.notify_all()
        if not line:
            raise RuntimeError("ollm no longer takes commands")
        answer = json.loads(line)
        self._answers[answer["number"]] = answer


def load(data: bytes, space: dict[str, Any]) -> None:
    """Put the variables of earlier jobs into a namespace; what no longer loads is left out."""
    kept = json.loads(data)
    for name, module in kept["modules"].items():
        try:
            __import__(module)
            space[name] = sys.modules[module]
        except CANNOT_BE_KEPT:
            pass
    for name, text in kept["pickles"].items():
        try:
            space[name] = pickle.loads(base64.b64decode(text))
        except CANNOT_BE_KEPT:
            pass
    space.update(kept["values"])


def saved(space: dict[str, Any]) -> bytes:
    """The variables of a namespace as JSON; what cannot be kept is left out."""
    kept: dict[str, dict[str, Any]] = {"values": {}, "pickles": {}, "modules": {}}
    for name, value in list(space.items()):
        if name.startswith("__") or name == "cmd":
            continue
        if isinstance(value, types.ModuleType):
            kept["modules"][name] = value.__name__
        elif is_plain(value):
            kept["values"][name] = value
        else:
            try:
                kept["pickles"][name] = base64.b64encode(pickle.dumps(value)).decode()
            except CANNOT_BE_KEPT:
                pass
    return json.dumps(kept).encode()


def is_plain(value: Any) -> bool:
    """Whether a value comes out of JSON as it went in."""
    try:
        return type(value) in PLAIN and json.loads(json.dumps(value)) == value
    except (TypeError, ValueError, RecursionError):
        return False


def report(descriptor: int, space: dict[str, Any]) -> None:
    """Write directory, environment and variables for the app to take over."""
    try:
        parts = [os.fsencode(Path.cwd())]
    except OSError:
        return  # its directory is gone: the shell stays where it was
    parts += [os.fsencode(name) + b"=" + os.fsencode(value) for name, value in os.environ.items()]
    with open(descriptor, "wb") as file:
        file.write(b"\0".join(parts) + b"\0\0" + saved(space) + b"\0")


def show(
    kind: type[BaseException], error: BaseException, trace: types.TracebackType | None
) -> None:
    """Print a traceback as Python does, but without the lines of this program."""
    while trace and trace.tb_frame.f_code.co_filename != NAME:
        trace = trace.tb_next
    traceback.print_exception(kind, error, trace)


def main(code_file: int, state_file: int, report_file: int, request_file: int) -> NoReturn:
    """Load the state, run the code, report the state, end as the code does."""
    # Programs that the code starts must not hold these open.
    for descriptor in (report_file, request_file):
        os.set_inheritable(descriptor, False)
    with open(code_file, "rb") as file:
        code = file.read().decode("utf-8", "replace")
    module = types.ModuleType("__main__")
    with open(state_file, "rb") as file:
        load(file.read(), module.__dict__)
    module.__dict__["cmd"] = Commands(socket.socket(fileno=request_file)).run
    sys.modules["__main__"] = module  # where pickle looks for classes of the code
    sys.argv = [NAME]
    sys.excepthook = show
    # The code is in no file: tracebacks take its lines from here.
    linecache.cache[NAME] = (len(code), None, code.splitlines(True), NAME)
    try:
        exec(compile(code, NAME, "exec"), module.__dict__)
    finally:
        report(report_file, module.__dict__)
    sys.exit(0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
