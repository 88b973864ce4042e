"""The process above a job: starts it, ends it, and exits when nothing of it runs any more.

It is a subreaper: whatever a job starts, in whatever session or group, stays below it. Where the
system has no such thing, what loses its parent is known by the job's session, and what begins a
session of its own as well gets away. When the app is gone its channel closes, and the job is
ended. Loaded by the launcher, so it imports
nothing but the standard library and modules that do the same.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import select
import signal
import socket
import time
from itertools import starmap
from types import FrameType
from typing import NoReturn

from ollm_tui.services.jobs import process_tree
from ollm_tui.services.jobs.order import (
    READ_BYTES,
    Begun,
    Ended,
    Inbox,
    Order,
    SendSignal,
    decoded,
    send,
)
from ollm_tui.services.sandbox.landlock import LandlockRules, restrict
from ollm_tui.services.sandbox.placeholders import Placeholder, Placeholders

LEFTOVER_GRACE_SECONDS = 0.5
"""How long processes that a job left running may take to end."""
STOP_GRACE_SECONDS = 5.0
"""The time between SIGTERM and SIGKILL when somebody other than the app ends the job."""
KILLING_SECONDS = 5.0
"""Processes that remain this long after SIGKILL, with no new ones, cannot be ended by us: they are
another user's or stuck in the kernel."""
COUNT_EVERY_SECONDS, LIST_EVERY_SECONDS = 0.25, 2.0
"""How often the processes of a job are counted, and how often where `ps` has to list them."""
ASK_EVERY_SECONDS = 0.1
"""How often new programs of a job that is being ended get the signal too."""
CANNOT_RUN, NOT_FOUND = 126, 127
"""Exit codes as shells use them."""

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def can_hold_detached() -> bool:
    """Whether what detaches itself from a job is held by its supervisor on this system."""
    return hasattr(ctypes.CDLL(None), "prctl")


def become_subreaper() -> bool:
    """Make descendants that lose their parent children of this process; whether that works here."""
    return _control(_PR_SET_CHILD_SUBREAPER, 1)


def _control(option: int, value: int) -> bool:
    """Ask Linux something about this process; other systems have no such call."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    return prctl is not None and prctl(option, value, 0, 0, 0) == 0


def keep(order: Order, channel: socket.socket, files: list[int]) -> NoReturn:
    """Run a job to its end in this process, which was forked for it, and exit."""
    is_subreaper = become_subreaper()
    supervisor = os.getpid()
    placeholders = Placeholders(starmap(Placeholder, (order.placeholders or {}).items()))
    failure = _set_up(placeholders)
    running, before = os.pipe()
    leading = os.fork()
    if leading == 0:
        _become_job(order, supervisor, files, failure)
    for descriptor in (*files, before):
        os.close(descriptor)
    # The other end closes when the program has begun or never will. Before that the job has no
    # group of its own, and signals for it would go to ours.
    os.read(running, 1)
    os.close(running)
    ended = _Supervisor(order, channel, leading, is_subreaper).run()
    # Processes that could not be ended still need them.
    if not ended.alive:
        placeholders.release()
    send(channel, ended)
    os._exit(0)


def _set_up(placeholders: Placeholders) -> str:
    """Put the placeholders in place; why the job must not start, empty if it may."""
    try:
        placeholders.hold()
    except OSError as error:
        return f"the sandbox cannot be set up: {error.strerror or error}"
    return ""


class _Supervisor:
    def __init__(
        self, order: Order, channel: socket.socket, leading: int, is_subreaper: bool
    ) -> None:
        self._is_subreaper = is_subreaper
        self._count_every = COUNT_EVERY_SECONDS if process_tree.has_proc() else LIST_EVERY_SECONDS
        self._most_processes = order.most_processes
        self._own_session = order.own_session
        self._channel = channel
        self._inbox = Inbox()
        self._leading = leading
        self._code: int | None = None
        self._stopped = self._outside = self._crowded = False
        self._left = 0
        self._kill_at: float | None = None
        self._give_up_at: float | None = None
        self._asked_with = signal.SIGTERM
        self._asked: set[tuple[int, bytes]] = set()
        self._killed: set[int] = set()
        self._tasks_before = process_tree.task_count()
        self._wake, wake_writer = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake_writer, False)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _woken)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._note_outside)
        self._watched = select.poll()
        self._watched.register(channel, select.POLLIN)
        self._watched.register(self._wake, select.POLLIN)

    def run(self) -> Ended:
        begun = process_tree.process(self._leading)
        own = process_tree.process(os.getpid())
        started = (begun.started if begun else 0, own.started if own else 0)
        send(self._channel, Begun(self._leading, started[0], os.getpid(), started[1]))
        alive = 0
        while self._reap():
            if self._given_up():
                alive = len(self._below())
                break
            self._wait()
            self._advance()
        code = self._code if self._code is not None else 128 + signal.SIGKILL
        return Ended(code, self._stopped, self._outside, self._crowded, self._left, alive)

    def _reap(self) -> bool:
        """Collect ended children; whether anything of the job is left."""
        while True:
            try:
                number, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                if self._is_subreaper or not self._below():
                    return False
                number, status = 0, 0
            if number == 0:
                self._end_leftovers()
                return True
            if number == self._leading:
                code = os.waitstatus_to_exitcode(status)
                self._code = code if code >= 0 else 128 - code

    def _end_leftovers(self) -> None:
        """Have what the job started end too, once the job itself has ended."""
        if self._code is None or self._kill_at is not None:
            return
        left = self._signal(signal.SIGTERM, LEFTOVER_GRACE_SECONDS)
        # In bubblewrap all ends with the job; what is still there is bubblewrap itself.
        self._left = left if self._own_session else 0

    def _wait(self) -> None:
        if self._give_up_at is not None:
            seconds = 0.01
        elif self._kill_at is not None:
            seconds = min(ASK_EVERY_SECONDS, max(0.0, self._kill_at - time.monotonic()))
        else:
            seconds = self._count_every
        for descriptor, _ in self._watched.poll(seconds * 1000 + 1):
            if descriptor == self._wake:
                os.read(self._wake, READ_BYTES)
            else:
                self._hear()

    def _hear(self) -> None:
        data = self._channel.recv(READ_BYTES)
        if not data:  # the app is gone, or abandoned the job
            self._watched.unregister(self._channel)
            self._stopped = self._stopped or self._code is None
            self._kill_at = 0.0
        for line in self._inbox.add(data):
            if self._code is not None:
                continue
            wanted = decoded(line, SendSignal)
            if wanted.grace_seconds is None:
                process_tree.pass_on(os.getpid(), wanted.signal)
            else:
                self._stopped = True
                self._signal(wanted.signal, wanted.grace_seconds)

    def _note_outside(self, _number: int, _frame: FrameType | None) -> None:
        self._outside = True

    def _signal(self, number: int, grace_seconds: float) -> int:
        """Send all of the job a signal to end; to how many processes."""
        at = 0.0 if number == signal.SIGKILL else time.monotonic() + grace_seconds
        self._kill_at = at if self._kill_at is None else min(at, self._kill_at)
        # A stopped process takes the signal only when it continues.
        below = self._below()
        process_tree.send_to_groups(below, number, signal.SIGCONT)
        self._asked_with = signal.Signals(number)
        self._asked = {(line.pid, line.name) for line in below}
        return len(below)

    def _ask_newcomers(self) -> None:
        """Signal processes that are new or have become another program since.

        A shell's child that handled the signal as the shell does, just before it became `sleep`,
        has lost it.
        """
        below = self._below()
        new = {(line.pid, line.name) for line in below} - self._asked
        process_tree.send([pid for pid, _ in new], self._asked_with)
        self._asked |= new

    def _advance(self) -> None:
        if self._outside and self._code is None and not self._stopped:
            self._stopped = True
            self._signal(signal.SIGTERM, STOP_GRACE_SECONDS)
        if self._give_up_at is None:
            self._count()
        if self._kill_at is not None and time.monotonic() >= self._kill_at:
            self._kill()
        elif self._kill_at is not None:
            self._ask_newcomers()

    def _kill(self) -> None:
        """Kill all of the job; called repeatedly, since new processes may start meanwhile."""
        if self._code is None:  # not reaped yet, so its number is still its own
            process_tree.send_to_group(self._leading, signal.SIGKILL)
        below = self._below()
        process_tree.send_to_groups(below, signal.SIGKILL)
        numbers = {line.pid for line in below}
        if self._give_up_at is None or numbers - self._killed:
            self._give_up_at = time.monotonic() + KILLING_SECONDS
            self._killed |= numbers

    def _count(self) -> None:
        """End a job that never stops starting processes.

        Looking through all processes is slow, so that is done only when the machine has that
        many more threads than before, which one small file tells.
        """
        tasks = process_tree.task_count()
        if tasks - self._tasks_before <= self._most_processes:
            return
        own = len(self._below())
        self._tasks_before = tasks - own
        if own > self._most_processes:
            self._crowded = self._stopped = True
            self._kill_at = 0.0

    def _below(self) -> list[process_tree.ProcessLine]:
        """What runs of the job."""
        if self._is_subreaper:
            return process_tree.descendants(os.getpid())
        lines = process_tree.processes()
        below = process_tree.descendants(os.getpid(), lines)
        session = [line for line in lines if line.session == self._leading and line.state != "Z"]
        # The number of a job that has ended is given again once its session is empty.
        if self._code is not None and any(line.pid == self._leading for line in session):
            return below
        return [*below, *(line for line in session if line not in below)]

    def _given_up(self) -> bool:
        return self._give_up_at is not None and time.monotonic() > self._give_up_at


def _woken(_number: int, _frame: FrameType | None) -> None:
    """Does nothing: Python writes to the wake-up pipe only for signals that have a handler."""


def _become_job(order: Order, supervisor: int, files: list[int], failure: str) -> NoReturn:
    """Turn this process into the job: own session, own files, default signals, limits."""
    code, what = CANNOT_RUN, order.cwd
    try:
        if order.own_session:
            os.setsid()
        _control(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # The supervisor may have ended before the kernel was asked to kill us with it.
        if os.getppid() != supervisor:
            os._exit(CANNOT_RUN)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
            signal.signal(number, signal.SIG_DFL)
        _set_descriptors(order, files)
        _limit(order)
        os.chdir(order.cwd)
        what = "sandbox"
        if failure:
            raise OSError(0, failure)  # only now, since stderr is the job's own here
        if order.writable is not None:
            restrict(LandlockRules(tuple(order.writable), order.tcp))
        what = order.argv[0]
        os.execvpe(what, order.argv, order.environment)
    except OSError as error:
        if what != order.cwd and isinstance(error, FileNotFoundError):
            code = NOT_FOUND
        os.write(2, f"ollm: {what}: {error.strerror}\n".encode(errors="surrogateescape"))
    except ValueError as error:
        os.write(2, f"ollm: {error}\n".encode(errors="backslashreplace"))
    finally:
        os._exit(code)


def _set_descriptors(order: Order, files: list[int]) -> None:
    """Give every file the number that the job expects; stdin is empty."""
    empty = os.open(os.devnull, os.O_RDONLY)
    numbers = (0, 1, 2, *order.files)
    # First out of each other's way: a target number may belong to a file that is still to be moved.
    above = max(numbers) + 1
    moved = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, above) for each in (empty, *files)]
    for descriptor, number in zip(moved, numbers, strict=True):
        os.dup2(descriptor, number, inheritable=True)


def _limit(order: Order) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if order.most_tasks:
        _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
        most = order.most_tasks if hard == resource.RLIM_INFINITY else min(order.most_tasks, hard)
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
