"""A program in a pseudo terminal: what it prints is read, what is typed is written."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import struct
import termios
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

READ_BYTES = 65_536
LEAVE_SECONDS = 10.0
"""How long a program may take to save and end when it is told to, before it is killed."""


class Size(NamedTuple):
    """The size of a terminal in cells."""

    columns: int
    rows: int


class TerminalProgram:
    """A process that has a terminal of its own and ends with it."""

    def __init__(self, process: asyncio.subprocess.Process, terminal: int, size: Size) -> None:
        self._process = process
        self._terminal = terminal
        self._size = size
        self._has_ended = False
        self._ready_to_read: asyncio.Future[None] | None = None
        self._writing = asyncio.Lock()
        self._watching = asyncio.create_task(self._watch())

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        environment: Mapping[str, str],
        size: Size,
        files: Collection[int] = (),
    ) -> TerminalProgram:
        """Start a program in a new terminal, which inherits open files. OSError if that is not
        possible."""
        terminal, theirs = os.openpty()
        try:
            os.set_blocking(terminal, False)
            _set_size(terminal, size)
            process = await asyncio.create_subprocess_exec(
                *command,
                env=environment,
                pass_fds=tuple(files),
                preexec_fn=partial(os.login_tty, theirs),
            )
        except BaseException:
            os.close(terminal)
            raise
        finally:
            os.close(theirs)
        return cls(process, terminal, size)

    async def read(self) -> bytes:
        """Return what was printed; nothing once the program has ended."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                return os.read(self._terminal, READ_BYTES)
            except BlockingIOError:
                if self._has_ended:
                    return b""
            except OSError:  # nobody has the other end any more
                return b""
            self._ready_to_read = loop.create_future()
            loop.add_reader(self._terminal, self._wake)
            try:
                await self._ready_to_read
            finally:
                loop.remove_reader(self._terminal)

    async def write(self, typed: bytes) -> None:
        """Type; waits while the program does not read."""
        async with self._writing:
            while typed and not self._has_ended:
                try:
                    typed = typed[os.write(self._terminal, typed) :]
                except BlockingIOError:
                    await self._ready_to_write()
                except OSError:
                    return

    def resize(self, size: Size) -> None:
        """Give the terminal another size; the kernel tells the program."""
        if size != self._size:
            self._size = size
            _set_size(self._terminal, size)

    def redraw(self) -> None:
        """Have the program draw everything again, as after a change of the size."""
        with contextlib.suppress(OSError):
            os.killpg(os.tcgetpgrp(self._terminal), signal.SIGWINCH)

    async def end(self) -> None:
        """Tell the program to save and end, wait for it, and kill what does not end."""
        if not self._has_ended:
            self._signal(signal.SIGTERM)
            try:
                await asyncio.wait_for(asyncio.shield(self._watching), LEAVE_SECONDS)
            except TimeoutError:
                self._signal(signal.SIGKILL)
        await self._watching

    def close(self) -> None:
        """Close the terminal of a program that has ended."""
        os.close(self._terminal)

    async def _watch(self) -> None:
        await self._process.wait()
        self._has_ended = True
        self._wake()

    def _wake(self) -> None:
        if self._ready_to_read and not self._ready_to_read.done():
            self._ready_to_read.set_result(None)

    async def _ready_to_write(self) -> None:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        loop.add_writer(self._terminal, _resolver(ready))
        try:
            # A program that ends without reading would never make room.
            await asyncio.wait((ready, self._watching), return_when=asyncio.FIRST_COMPLETED)
        finally:
            loop.remove_writer(self._terminal)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)


def _resolver(future: asyncio.Future[None]) -> Callable[[], None]:
    def resolve() -> None:
        if not future.done():
            future.set_result(None)

    return resolve


def _set_size(terminal: int, size: Size) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", size.rows, size.columns, 0, 0))
