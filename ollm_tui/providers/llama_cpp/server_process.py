"""Starting, sharing and ending the llama.cpp server, and saying why it failed."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

import msgspec

import ollm_tui
from ollm_tui.core.errors import Unavailable
from ollm_tui.providers.llama_cpp.server import Answer, Order
from ollm_tui.providers.wire.http_errors import one_line

START_SECONDS = 300.0
"""A large model on a slow disk takes minutes; longer than this means that it hangs."""
STOP_SECONDS = 2.0
"""How long a server may take to end by itself before it is killed."""
NOTICE_SECONDS = 1.0
"""How long after a broken connection to wait for the end of the process."""
SERVER_COMMAND = (sys.executable, "-P", "-m", "ollm_tui.providers.llama_cpp.server")
"""-P, because a file in the project folder must not be imported in place of our modules."""
_PASSED_VARIABLES = frozenset({"PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH"})
_PASSED_PREFIXES = ("LC_", "OMP_")
_KEPT_ERROR_BYTES = 8192
_LOAD_ERROR = re.compile(r"error loading model: (.+)")
_OUT_OF_MEMORY = re.compile(
    r"bad_alloc|(?:failed to|unable to|cannot) allocate|not enough memory"
    r"|resource temporarily unavailable",
    re.IGNORECASE,
)
_MEMORY_HINT = "choose a smaller window or a smaller model, or close other programs"


class ServerTarget(msgspec.Struct, frozen=True, kw_only=True):
    """What a server runs; another file or window needs another server."""

    name: str
    path: Path
    window: int
    makes_vectors: bool = False


class RunningServer(Protocol):
    """A server that can be talked to."""

    target: ServerTarget
    port: int
    key: str

    async def has_ended(self) -> bool:
        """Return whether it has ended."""
        ...

    def ended(self, when: str) -> Unavailable:
        """Return the error for a server that ended by itself."""
        ...


class Slot(Protocol):
    """Where a server is had from: one of its own, or one that programs share."""

    @property
    def server(self) -> RunningServer | None:
        """The running server, if any."""
        ...

    @property
    def busy(self) -> bool:
        """Whether another server would be in somebody's way."""
        ...

    @property
    def is_used_by_others(self) -> bool:
        """Whether another program uses the server now."""
        ...

    async def look(self) -> None:
        """Find out what runs now."""
        ...

    def serves(self, target: ServerTarget) -> bool:
        """Return whether a server for this target runs."""
        ...

    def use(self, target: ServerTarget) -> AbstractAsyncContextManager[RunningServer]:
        """Use a server for `target`; it is not replaced by another as long as it is in use."""
        ...

    async def close(self) -> None:
        """End the server, or let go of it."""
        ...


class ServerSlot:
    """Holds at most one server; it is started when it is needed and kept for later requests."""

    def __init__(self, command: Sequence[str] = SERVER_COMMAND) -> None:
        self._command = command
        self._server: ServerProcess | None = None
        self._users = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._changing = asyncio.Lock()

    @property
    def server(self) -> ServerProcess | None:
        """The running server, if any."""
        return self._server if self._server is not None and self._server.alive else None

    @property
    def busy(self) -> bool:
        """Whether a request uses the server or waits for a new one."""
        return self._users > 0 or self._changing.locked()

    @property
    def is_used_by_others(self) -> bool:
        """Whether another program uses the server: never, it is this one's own."""
        return False

    async def look(self) -> None:
        """Nothing is to be found out: it is known what runs."""

    def serves(self, target: ServerTarget) -> bool:
        """Return whether a server for exactly this target runs."""
        return self.server is not None and self.server.target == target

    @asynccontextmanager
    async def use(self, target: ServerTarget) -> AsyncGenerator[ServerProcess, None]:
        """Use a server for `target`; it is not replaced by another as long as it is in use."""
        async with self._changing:
            server = self.server
            if server is None or server.target != target:
                await self._idle.wait()
                await self._stop()
                server = self._server = await start_server(target, self._command)
            self._users += 1
            self._idle.clear()
        try:
            yield server
        finally:
            self._users -= 1
            if not self._users:
                self._idle.set()

    async def close(self) -> None:
        """End the server, even if it is in use."""
        await self._stop()

    async def _stop(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            await server.stop()


class ServerProcess:
    """A server process; `port` and `key` are needed to talk to it."""

    def __init__(self, target: ServerTarget, process: Process) -> None:
        self.target = target
        self.port = 0
        self.key = secrets.token_urlsafe(24)
        self._process = process
        self._errors = b""
        self._collector = asyncio.create_task(self._collect_errors())

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs, as far as the event loop has noticed."""
        return self._process.returncode is None

    async def start(self) -> None:
        """Send the order and wait for the answer. Unavailable if the server did not start."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(self._order()) + b"\n")
        try:
            async with asyncio.timeout(START_SECONDS):
                line = await self._process.stdout.readline()
        except TimeoutError as error:
            raise Unavailable(
                f"{self.target.name} did not start within {START_SECONDS:g} seconds",
                "choose a smaller model",
            ) from error
        if not line:
            await self._process.wait()
            await self._collector
            raise self.ended("before it was ready")
        answer = msgspec.json.decode(line, type=Answer)
        if answer.port is None:
            await self._collector
            raise self._not_started(answer)
        self.port = answer.port

    async def has_ended(self) -> bool:
        """Return whether the process has ended, after a moment for its end to be noticed."""
        try:
            await asyncio.wait_for(self._process.wait(), NOTICE_SECONDS)
        except TimeoutError:
            return False
        return True

    def ended(self, when: str) -> Unavailable:
        """Return the error for a process that ended by itself."""
        # A SIGKILL that is not ours comes most likely from the kernel's out-of-memory killer.
        code = self._process.returncode or 0
        if code == -signal.SIGKILL or _OUT_OF_MEMORY.search(self._error_text()):
            return Unavailable(
                f"the server of {self.target.name} was killed {when}, probably out of memory",
                _MEMORY_HINT,
            )
        return ended_by_itself(self.target.name, when, self._last_line())

    async def stop(self, patience_seconds: float = STOP_SECONDS) -> None:
        """Close stdin and wait, then kill the process, also if the caller is cancelled."""
        try:
            if self.alive and self._process.stdin is not None:
                self._process.stdin.close()
                await asyncio.wait_for(self._process.wait(), patience_seconds)
        except TimeoutError:
            pass
        finally:
            self._kill()
        await self._process.wait()
        await self._collector

    def _kill(self) -> None:
        """Kill the process. Process.kill would reap a child that just ended and lose its code."""
        try:
            if self.alive:
                os.kill(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def _order(self) -> Order:
        return Order(
            parent=os.getpid(),
            path=str(self.target.path.absolute()),
            name=self.target.name,
            window=self.target.window,
            key=self.key,
            makes_vectors=self.target.makes_vectors,
        )

    def _not_started(self, answer: Answer) -> Unavailable:
        name = self.target.name
        if answer.engine_missing:
            return no_engine(answer.error)
        if _OUT_OF_MEMORY.search(self._error_text() + answer.error):
            return Unavailable(f"not enough memory for {name}", _MEMORY_HINT)
        found = _LOAD_ERROR.search(self._error_text())
        reason = _detail(found.group(1) if found else self._last_line() or answer.error)
        return Unavailable(
            f"could not load {name}{reason}",
            "the file may be damaged or unsupported; pull it again or choose another model",
        )

    async def _collect_errors(self) -> None:
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(_KEPT_ERROR_BYTES):
            self._errors = (self._errors + chunk)[-_KEPT_ERROR_BYTES:]

    def _error_text(self) -> str:
        return self._errors.decode("utf-8", errors="replace")

    def _last_line(self) -> str:
        return next(reversed(self._error_text().splitlines()), "")


def ended_by_itself(name: str, when: str, detail: str = "") -> Unavailable:
    """Return the error for a server of a model that ended by itself."""
    return Unavailable(
        f"the server of {name} exited {when}{_detail(detail)}",
        "send again to restart it",
    )


def no_engine(detail: str = "") -> Unavailable:
    """Return the error for a missing package xllamacpp."""
    return Unavailable(
        f"the engine for embedded models is not installed{_detail(detail)}",
        "pip install 'ollm-tui[local]'",
    )


async def start_server(
    target: ServerTarget, command: Sequence[str] = SERVER_COMMAND
) -> ServerProcess:
    """Start a server, which ends with this process. Unavailable if it does not start."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env=server_environment(os.environ),
        cwd="/",
        # A group of its own: Ctrl+C in the terminal is meant for the answer, not for the server.
        start_new_session=True,
    )
    server = ServerProcess(target, process)
    try:
        await server.start()
    except BaseException:
        await server.stop(patience_seconds=0)
        raise
    return server


def server_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables the child needs, and none that could be a secret."""
    kept = {
        name: value
        for name, value in environment.items()
        if name in _PASSED_VARIABLES or name.startswith(_PASSED_PREFIXES)
    }
    # By default waiting threads spin, and on a busy machine answers are 6 times slower. It has
    # to be set before the engine is loaded.
    kept["OMP_WAIT_POLICY"] = "passive"
    # Otherwise a failed assertion starts a debugger.
    kept["GGML_NO_BACKTRACE"] = "1"
    kept["PYTHONPATH"] = str(Path(ollm_tui.__file__).parent.parent)
    return kept


def _detail(foreign: str) -> str:
    """Return foreign words as the end of a message; nothing if there are none."""
    plain = one_line(foreign)
    return f": {plain}" if plain else ""
