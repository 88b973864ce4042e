"""One job while it runs, and what is kept of it afterwards."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from typing import Protocol

import msgspec

from ollm_tui.core import clock
from ollm_tui.core.errors import JobError
from ollm_tui.core.job import Job, JobOutput, JobStatus
from ollm_tui.services.jobs.launcher_client import Launched
from ollm_tui.services.jobs.order import LONGEST_MESSAGE, Begun, Ended, Stop, received, send
from ollm_tui.services.jobs.output_tail import Limits, OutputTail

READ_BYTES = 256 * 1024
MERGE_SECONDS = 0.1
"""Output that arrives within this becomes one event."""
DRAIN_SECONDS = 1.0
"""How long output may still come when the job is gone: somebody else may hold its pipe."""
OVERHEAD_BYTES = 200
"""What a job takes besides its code and output."""
CODE_KEPT = 4096
"""Characters of code that stay when the output is dropped."""


class Listener(Protocol):
    """Whoever wants to know about a job; called in the loop's thread, in this order."""

    def started(self, running: RunningJob) -> None:
        """The process is there."""
        ...

    def printed(self, running: RunningJob) -> None:
        """There is more output."""
        ...

    def ended(self, running: RunningJob) -> None:
        """Nothing of it runs any more, and all it printed has arrived."""
        ...


class RunningJob:
    """Reads what a job prints and hears from its supervisor when it ends."""

    def __init__(
        self,
        job: Job,
        launched: Launched,
        limits: Limits,
        listener: Listener,
    ) -> None:
        self.job = job
        self.begun = Begun(0, 0, 0, 0)
        self.ended_at = 0.0
        self.stdout = OutputTail(limits.stream_bytes)
        self.stderr = OutputTail(limits.stream_bytes)
        self._limits = limits
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._channel: socket.socket | None = launched.channel
        self._pipes = {launched.stdout: self.stdout, launched.stderr: self.stderr}
        self._is_there: asyncio.Future[None] = self._loop.create_future()
        self._how: Ended | None = None
        self._stopping: JobStatus | None = None
        self._note = ""
        self._clock = time.monotonic()
        self._timers: list[asyncio.TimerHandle] = []
        self._longest: asyncio.TimerHandle | None = None
        self._merging: asyncio.TimerHandle | None = None
        self.released = asyncio.Event()
        """Set when nobody has to wait any longer: it ended, or went to the background."""
        self.finished = asyncio.Event()
        self._loop.add_reader(launched.channel, self._hear)
        for descriptor in self._pipes:
            self._loop.add_reader(descriptor, self._read, descriptor)

    async def begin(self, timeout: float | None) -> None:
        """Wait until the process is there. JobError if it never is."""
        await asyncio.shield(self._is_there)
        if timeout is not None and self.job.running:
            self._longest = self._loop.call_later(timeout, self._time_out, timeout)
            self._timers.append(self._longest)

    @property
    def size(self) -> int:
        """Bytes that are kept of it."""
        return self.stdout.kept + self.stderr.kept + len(self.job.code) + OVERHEAD_BYTES

    def output(self, stdout_from: int, stderr_from: int) -> JobOutput:
        """What it printed, from absolute offsets on."""
        return JobOutput(self.job, self.stdout.read(stdout_from), self.stderr.read(stderr_from))

    def stop(
        self,
        status: JobStatus = "killed",
        number: int = signal.SIGTERM,
        grace_seconds: float | None = None,
        note: str = "",
    ) -> None:
        """Ask it to end, and see to it after a while; it has ended when `finished` is set."""
        if self._channel is None:
            return
        if self._stopping is None:
            self._stopping, self._note = status, note
        grace = self._limits.stop_grace_seconds if grace_seconds is None else grace_seconds
        send(self._channel, Stop(number, grace))

    def abandon(self) -> None:
        """No more patience: its supervisor ends it at once when the channel closes."""
        self._lost()

    def to_background(self) -> None:
        """Let whoever waits for it go on; it has as long as it needs then."""
        if self._longest:
            self._longest.cancel()
        self.job = msgspec.structs.replace(self.job, background=True)
        self.released.set()

    def trim(self) -> None:
        """Drop the output; the record stays."""
        self.stdout.forget()
        self.stderr.forget()
        self.job = msgspec.structs.replace(
            self.job,
            code=self.job.code[:CODE_KEPT],
            trimmed=True,
            stdout_truncated=self.stdout.truncated,
            stderr_truncated=self.stderr.truncated,
        )

    def _time_out(self, seconds: float) -> None:
        self.stop("timeout", note=f"it took longer than {seconds:g} seconds")

    def _read(self, descriptor: int) -> bool:
        """Take what there is in a pipe; whether there may be more at once."""
        try:
            data = os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            return False
        if data:
            self._pipes[descriptor].add(data)
            if self._merging is None:
                self._merging = self._loop.call_later(MERGE_SECONDS, self._tell)
            return True
        self._close_pipe(descriptor)
        self._finish_if_over()
        return False

    def _tell(self) -> None:
        self._merging = None
        self._listener.printed(self)

    def _hear(self) -> None:
        assert self._channel is not None
        try:
            data = self._channel.recv(LONGEST_MESSAGE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lost()
        elif not self._is_there.done():
            self.begun = received(data, Begun)
            self.job = msgspec.structs.replace(self.job, pid=self.begun.pid)
            self._is_there.set_result(None)
            self._listener.started(self)
        else:
            self._how = received(data, Ended)
            self._hang_up()

    def _lost(self) -> None:
        """The supervisor is gone without a word, or we no longer listen."""
        if self._how is None:
            self._how = Ended(128 + signal.SIGKILL, True, True, False, 0, 0)
        if not self._is_there.done():
            error = JobError("the process that starts jobs was killed", "try again")
            self._is_there.set_exception(error)
        self._hang_up()

    def _hang_up(self) -> None:
        if self._channel is not None:
            self._loop.remove_reader(self._channel)
            self._channel.close()
            self._channel = None
            self._timers.append(self._loop.call_later(DRAIN_SECONDS, self._stop_reading))
            self._finish_if_over()

    def _stop_reading(self) -> None:
        for descriptor in tuple(self._pipes):
            while self._read(descriptor):
                pass
            if descriptor in self._pipes:
                self._close_pipe(descriptor)
        self._finish_if_over()

    def _close_pipe(self, descriptor: int) -> None:
        self._loop.remove_reader(descriptor)
        os.close(descriptor)
        del self._pipes[descriptor]

    def _finish_if_over(self) -> None:
        if self._how is None or self._pipes or self.finished.is_set():
            return
        for timer in self._timers:
            timer.cancel()
        if self._merging is not None:
            self._merging.cancel()
            self._tell()
        self.stdout.settle()
        self.stderr.settle()
        self.ended_at = time.monotonic()
        self.job = self._over(self._how)
        self._listener.ended(self)
        self.finished.set()
        self.released.set()

    def _over(self, how: Ended) -> Job:
        status: JobStatus = "completed" if how.code == 0 else "failed"
        if how.stopped:
            status = "killed" if how.crowded else self._stopping or "killed"
        return msgspec.structs.replace(
            self.job,
            status=status,
            exit_code=how.code,
            completed_at=clock.now(),
            duration=round((self.ended_at - self._clock) * 1000),
            note="; ".join(_words(how, self._note, self._limits)),
            stdout_bytes=self.stdout.total,
            stderr_bytes=self.stderr.total,
            stdout_truncated=self.stdout.truncated,
            stderr_truncated=self.stderr.truncated,
        )


def _words(how: Ended, note: str, limits: Limits) -> list[str]:
    """How a job ended, where its status and code do not say it all."""
    words = [note] if note and how.stopped else []
    if how.crowded:
        words.append(f"it had more than {limits.processes} processes")
    elif how.outside and how.stopped:
        words.append("it was ended from outside")
    elif not how.stopped and how.code > 128:
        try:
            words.append(f"ended by {signal.Signals(how.code - 128).name}")
        except ValueError:
            pass
    if how.left == 1:
        words.append("a process it had left running was ended")
    elif how.left:
        words.append(f"{how.left} processes it had left running were ended")
    if how.alive:
        words.append(f"{how.alive} of its processes could not be ended")
    return words
