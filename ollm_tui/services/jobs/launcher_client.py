"""The app's side of the launcher: starts it when first needed and hands orders over."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import ollm_tui
from ollm_tui.core.errors import JobError
from ollm_tui.services.jobs.memory_file import memory_file
from ollm_tui.services.jobs.order import Order, encoded

STOP_SECONDS = 2.0
"""How long closing waits for the launcher to end."""
COMMAND = (sys.executable, "-S", "-P", "-m", "ollm_tui.services.jobs.launcher")
"""-S: nothing but the standard library is needed; -P: a file in the project folder must not
pass for one of our modules."""


class Launched(NamedTuple):
    """Our ends of a started job: the channel to its supervisor, and its output to read."""

    channel: socket.socket
    stdout: int
    stderr: int


class Launching:
    """One launcher process for all jobs, started with the first job."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._orders: socket.socket | None = None

    def launch(self, order: Order, files: list[int]) -> Launched:
        """Start a job and close `files`. JobError if the system cannot start it."""
        with ExitStack() as theirs, ExitStack() as ours:
            for descriptor in files:
                theirs.callback(os.close, descriptor)
            try:
                launched = self._hand_over(order, files, theirs, ours)
            except OSError as error:
                raise JobError(
                    f"cannot start a job: {error.strerror}", "kill some jobs: ollm jobs list"
                ) from error
            ours.pop_all()  # from here on they are the caller's to close
            return launched

    def _hand_over(
        self, order: Order, files: list[int], theirs: ExitStack, ours: ExitStack
    ) -> Launched:
        channel, their_channel = socket.socketpair()
        ours.callback(channel.close)
        theirs.callback(their_channel.close)
        channel.setblocking(False)
        readers: list[int] = []
        writers: list[int] = []
        for _ in ("stdout", "stderr"):
            reader, writer = os.pipe()
            ours.callback(os.close, reader)
            theirs.callback(os.close, writer)
            os.set_blocking(reader, False)
            readers.append(reader)
            writers.append(writer)
        order_file = memory_file("ollm-order", encoded(order))
        theirs.callback(os.close, order_file)
        self._send([order_file, their_channel.fileno(), *writers, *files])
        return Launched(channel, readers[0], readers[1])

    def close(self) -> None:
        """Let the launcher end; jobs whose channels are closed end with it."""
        if self._orders is not None:
            self._orders.close()
        if self._process is not None:
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                pass  # a job that nobody can end keeps its supervisor; both are no longer ours
        self._orders = self._process = None

    def _send(self, files: list[int]) -> None:
        if self._process is not None and self._process.poll() is not None:
            self._orders = None  # somebody killed it; supervisors of running jobs live on
        orders = self._orders or self._start()
        # With one byte, since the launcher takes none for the end; it reads one order at a time.
        socket.send_fds(orders, [b"\n"], files)

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                (*COMMAND, str(theirs.fileno())),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env={"PYTHONPATH": str(Path(ollm_tui.__file__).parent.parent)},
                cwd="/",
                # Ctrl+C in the terminal is meant for the app, not for its jobs.
                start_new_session=True,
            )
        self._orders = ours
        return ours
