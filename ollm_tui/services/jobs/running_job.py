"""One job while it runs, and what is kept of it afterwards."""

from __future__ import annotations

import asyncio
import logging
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
from ollm_tui.services.jobs.order import READ_BYTES, Begun, Ended, Inbox, SendSignal, decoded, send
from ollm_tui.services.jobs.output_tail import Limits, OutputTail

log = logging.getLogger(__name__)

OUTPUT_BYTES = 256 * 1024
"""The most that one read takes from a pipe."""
MERGE_SECONDS = 0.1
"""Output that arrives within this time becomes one event."""
DRAIN_SECONDS = 1.0
"""How long output is still read after the job has ended: another process may hold its pipe."""
OVERHEAD_BYTES = 200
"""An estimate of what a job takes besides its code and output."""
CODE_KEPT = 4096
"""Characters of the code that stay when the output is dropped."""


class Listener(Protocol):
    """Is called about one job in the thread of the event loop, in this order."""

    def started(self, running: RunningJob) -> None:
        """Called when the process runs."""
        ...

    def printed(self, running: RunningJob) -> None:
        """Called when there is more output."""
        ...

    def ended(self, running: RunningJob) -> None:
        """Called when the job has ended and all its output has arrived."""
        ...


class RunningJob:
    """Reads the output of a job and learns from its supervisor how it ends."""

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
        self._inbox = Inbox()
        self._pipes = {launched.stdout: self.stdout, launched.stderr: self.stderr}
        self._has_begun: asyncio.Future[None] = self._loop.create_future()
        self._ended: Ended | None = None
        self._stopping: JobStatus | None = None
        self._note = ""
        self._launched_at = time.monotonic()
        self._timers: list[asyncio.TimerHandle] = []
        self._timeout: asyncio.TimerHandle | None = None
        self._merging: asyncio.TimerHandle | None = None
        self.released = asyncio.Event()
        """Set when nobody has to wait any longer: the job ended or moved to the background."""
        self.finished = asyncio.Event()
        """Set when the job has ended and its listener knows."""
        self._loop.add_reader(launched.channel, self._hear)
        for descriptor in self._pipes:
            self._loop.add_reader(descriptor, self._read, descriptor)

    async def begin(self, timeout: float | None) -> None:
        """Wait until the process runs; then `timeout` seconds begin. JobError if it never runs."""
        # Shielded: a caller that is cancelled would cancel the future, and the supervisor's first
        # message would then be taken for its last.
        await asyncio.shield(self._has_begun)
        # It may be over, or moved to the background, by whoever heard of its begin before.
        if timeout is not None and not self.released.is_set():
            self._timeout = self._loop.call_later(timeout, self._time_out, timeout)
            self._timers.append(self._timeout)

    @property
    def size(self) -> int:
        """About how many bytes are kept of the job."""
        return self.stdout.kept + self.stderr.kept + len(self.job.code) + OVERHEAD_BYTES

    def output(self, stdout_from: int, stderr_from: int) -> JobOutput:
        """What is kept of its output, from absolute byte offsets on."""
        return JobOutput(
            self._counted(), self.stdout.read(stdout_from), self.stderr.read(stderr_from)
        )

    def stop(
        self,
        status: JobStatus = "killed",
        number: int = signal.SIGTERM,
        grace_seconds: float | None = None,
        note: str = "",
    ) -> None:
        """Have it ended: by this signal, and after the grace period by SIGKILL.

        Returns at once; `finished` is set when it has ended.
        """
        if self._channel is None:
            return
        # The first reason stays: what timed out did so, even if its shell is closed meanwhile.
        if self._stopping is None:
            self._stopping, self._note = status, note
        grace = self._limits.stop_grace_seconds if grace_seconds is None else grace_seconds
        send(self._channel, SendSignal(number, grace))

    def pass_on(self, number: int) -> None:
        """Send it a signal that is not meant to end it."""
        if self._channel is not None:
            send(self._channel, SendSignal(number, None))

    def abandon(self) -> None:
        """Close the channel, at which its supervisor kills the job at once."""
        self._lost()

    def to_background(self) -> None:
        """Let whoever waits for it go on; its timeout no longer holds."""
        if self._timeout:
            self._timeout.cancel()
        self.job = msgspec.structs.replace(self.job, background=True)
        self.released.set()

    def add_note(self, words: str) -> None:
        """Note something about the job besides its status and exit code."""
        note = "; ".join(filter(None, (self.job.note, words)))
        self.job = msgspec.structs.replace(self.job, note=note)
        log.info("%s: %s", self.job.id, words)

    def trim(self) -> None:
        """Drop the output and most of the code; the rest stays."""
        log.info("%s: its output is dropped, the session keeps too much", self.job.id)
        self.stdout.forget()
        self.stderr.forget()
        self.job = msgspec.structs.replace(
            self._counted(), code=self.job.code[:CODE_KEPT], trimmed=True
        )

    def _counted(self) -> Job:
        """The job with how much it printed so far, and whether all of that is kept."""
        return msgspec.structs.replace(
            self.job,
            stdout_bytes=self.stdout.total,
            stderr_bytes=self.stderr.total,
            stdout_truncated=self.stdout.truncated,
            stderr_truncated=self.stderr.truncated,
        )

    def _time_out(self, seconds: float) -> None:
        self.stop("timeout", note=f"it took longer than {seconds:g} seconds")

    def _read(self, descriptor: int) -> bool:
        """Read from a pipe once; whether there may be more to read at once."""
        try:
            data = os.read(descriptor, OUTPUT_BYTES)
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
            data = self._channel.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lost()
        for line in self._inbox.add(data):
            self._take(line)

    def _take(self, line: bytes) -> None:
        """Take a message of the supervisor: the first is Begun, the second Ended."""
        if not self._has_begun.done():
            self.begun = decoded(line, Begun)
            self.job = msgspec.structs.replace(self.job, pid=self.begun.pid)
            self._has_begun.set_result(None)
            self._listener.started(self)
        else:
            self._ended = decoded(line, Ended)
            self._hang_up()

    def _lost(self) -> None:
        """Take a job for killed whose supervisor vanished, or to which we no longer listen."""
        if self._ended is None:
            self._ended = Ended(128 + signal.SIGKILL, True, True, False, 0, 0)
        if not self._has_begun.done():
            error = JobError("the process that starts jobs was killed", "try again")
            self._has_begun.set_exception(error)
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
        if self._ended is None or self._pipes or self.finished.is_set():
            return
        for timer in self._timers:
            timer.cancel()
        if self._merging is not None:
            self._merging.cancel()
            self._tell()
        self.stdout.settle()
        self.stderr.settle()
        self.ended_at = time.monotonic()
        self.job = self._ended_job(self._ended)
        for name, stream in (("stdout", self.stdout), ("stderr", self.stderr)):
            if stream.truncated:
                log.info(
                    "%s: the last %d of %d bytes of %s are kept",
                    *(self.job.id, stream.kept, stream.total, name),
                )
        self._listener.ended(self)
        self.finished.set()
        self.released.set()

    def _ended_job(self, ended: Ended) -> Job:
        """The job as it is once it has ended."""
        status: JobStatus = "completed" if ended.code == 0 else "failed"
        if ended.stopped:
            status = "killed" if ended.crowded else self._stopping or "killed"
        return msgspec.structs.replace(
            self._counted(),
            status=status,
            exit_code=ended.code,
            completed_at=clock.now(),
            duration=round((self.ended_at - self._launched_at) * 1000),
            note="; ".join(_notes(ended, self._note, self._limits)),
        )


def _notes(ended: Ended, note: str, limits: Limits) -> list[str]:
    """What to note about the end of a job besides its status and exit code."""
    words = [note] if note and ended.stopped else []
    if ended.crowded:
        words.append(f"it had more than {limits.processes} processes")
    elif ended.outside and ended.stopped:
        words.append("killed from outside")
    elif not ended.stopped and ended.code > 128:
        try:
            words.append(f"killed by {signal.Signals(ended.code - 128).name}")
        except ValueError:
            pass
    if ended.left == 1:
        words.append("killed a process it left running")
    elif ended.left:
        words.append(f"killed {ended.left} processes it left running")
    if ended.alive:
        words.append(f"{ended.alive} of its processes could not be killed")
    return words
