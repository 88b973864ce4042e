"""The process above a job: starts it, ends it, and leaves when nothing of it runs any more.

It is a subreaper: whatever a job starts, in whatever session or group, stays below it. When
the app is gone its channel closes, and the job is ended. Part of the launcher: no other imports.
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
from ollm_tui.services.jobs.order import LONGEST_MESSAGE, Begun, Ended, Order, Stop, received, send
from ollm_tui.services.sandbox.landlock import LandlockRules, restrict
from ollm_tui.services.sandbox.placeholders import Placeholder, Placeholders

LEFTOVER_GRACE_SECONDS = 0.5
"""For what a job left running when it ended."""
STOP_GRACE_SECONDS = 5.0
"""Between the signal that asks and the one that does not, where nobody said another time."""
KILLING_SECONDS = 5.0
"""What is still there then, and nothing new, cannot be ended by us: it is another user's, or
stuck in the kernel."""
COUNT_EVERY_SECONDS = 0.25
ASK_EVERY_SECONDS = 0.1
CANNOT_RUN, NOT_FOUND = 126, 127

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_ABOVE_ALL_TARGETS = 512
_prctl = ctypes.CDLL(None).prctl


def become_subreaper() -> None:
    """What descendants leave behind becomes a child of this process."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def keep(order: Order, channel: socket.socket, files: list[int]) -> NoReturn:
    """Run a job to its end in this process, which was forked for it."""
    become_subreaper()
    supervisor = os.getpid()
    placeholders = Placeholders(starmap(Placeholder, (order.placeholders or {}).items()))
    wrong = _set_up(placeholders)
    running, before = os.pipe()
    leading = os.fork()
    if leading == 0:
        _become_job(order, supervisor, files, wrong)
    for descriptor in (*files, before):
        os.close(descriptor)
    # Closed when the program has begun, or never will: before that, signals for the job would
    # go to our own group.
    os.read(running, 1)
    os.close(running)
    ended = _Supervisor(order, channel, leading).run()
    if not ended.alive:
        placeholders.release()
    send(channel, ended)
    os._exit(0)


def _set_up(placeholders: Placeholders) -> str:
    """Prepare the sandbox; why the job must not start, where that is not possible."""
    try:
        placeholders.hold()
    except OSError as error:
        return f"the sandbox cannot be set up: {error.strerror or error}"
    return ""


class _Supervisor:
    def __init__(self, order: Order, channel: socket.socket, leading: int) -> None:
        self._most_processes = order.most_processes
        self._own_session = order.own_session
        self._channel = channel
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
                alive = len(process_tree.descendants(os.getpid()))
                break
            self._wait()
            self._advance()
        code = self._code if self._code is not None else 128 + signal.SIGKILL
        return Ended(code, self._stopped, self._outside, self._crowded, self._left, alive)

    def _reap(self) -> bool:
        """Take note of what ended; whether anything is left."""
        while True:
            try:
                number, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if number == 0:
                self._end_leftovers()
                return True
            if number == self._leading:
                code = os.waitstatus_to_exitcode(status)
                self._code = code if code >= 0 else 128 - code

    def _end_leftovers(self) -> None:
        """The job itself has ended, but not all it started: nothing may stay behind."""
        if self._code is None or self._kill_at is not None:
            return
        left = self._signal(signal.SIGTERM, LEFTOVER_GRACE_SECONDS)
        # Behind walls all ends with the job; what is still there is the rest of the walls.
        self._left = left if self._own_session else 0

    def _wait(self) -> None:
        if self._give_up_at is not None:
            seconds = 0.01
        elif self._kill_at is not None:
            seconds = min(ASK_EVERY_SECONDS, max(0.0, self._kill_at - time.monotonic()))
        else:
            seconds = COUNT_EVERY_SECONDS
        for descriptor, _ in self._watched.poll(seconds * 1000 + 1):
            if descriptor == self._wake:
                os.read(self._wake, LONGEST_MESSAGE)
            else:
                self._hear()

    def _hear(self) -> None:
        data = self._channel.recv(LONGEST_MESSAGE)
        if not data:  # the app is gone, or has no more patience
            self._watched.unregister(self._channel)
            self._stopped = self._stopped or self._code is None
            self._kill_at = 0.0
        elif self._code is None:
            stop = received(data, Stop)
            self._stopped = True
            self._signal(stop.signal, stop.grace_seconds)

    def _note_outside(self, _number: int, _frame: FrameType | None) -> None:
        self._outside = True

    def _signal(self, number: int, grace_seconds: float) -> int:
        """Ask all of the job to end; how many that were."""
        at = 0.0 if number == signal.SIGKILL else time.monotonic() + grace_seconds
        self._kill_at = at if self._kill_at is None else min(at, self._kill_at)
        # One that is stopped takes the signal only when it goes on.
        below = process_tree.send_below(os.getpid(), number, signal.SIGCONT)
        self._asked_with = signal.Signals(number)
        self._asked = {(line.pid, line.name) for line in below}
        return len(below)

    def _ask_newcomers(self) -> None:
        """Ask what has become another program since, too: a shell's child that was about to
        take the signal like the shell forgets it when it becomes `sleep`."""
        below = process_tree.descendants(os.getpid())
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
        """Called again and again: between looking and killing, new ones may have been started."""
        if self._code is None:  # its number is still its own, and this needs no looking
            process_tree.send_to_group(self._leading, signal.SIGKILL)
        below = {line.pid for line in process_tree.send_below(os.getpid(), signal.SIGKILL)}
        if self._give_up_at is None or below - self._killed:
            self._give_up_at = time.monotonic() + KILLING_SECONDS
            self._killed |= below

    def _count(self) -> None:
        """End a job that never stops starting processes.

        Looking through all processes is slow, so only when there are that many more threads
        on the machine than before, which one small file tells.
        """
        tasks = process_tree.task_count()
        if tasks - self._tasks_before <= self._most_processes:
            return
        own = len(process_tree.descendants(os.getpid()))
        self._tasks_before = tasks - own
        if own > self._most_processes:
            self._crowded = self._stopped = True
            self._kill_at = 0.0

    def _given_up(self) -> bool:
        return self._give_up_at is not None and time.monotonic() > self._give_up_at


def _woken(_number: int, _frame: FrameType | None) -> None:
    """The wake-up pipe does the work."""


def _become_job(order: Order, supervisor: int, files: list[int], wrong: str) -> NoReturn:
    """Turn this process into the job: own session, own files, default signals, limits."""
    code, what = CANNOT_RUN, order.cwd
    try:
        if order.own_session:
            os.setsid()
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != supervisor:
            os._exit(CANNOT_RUN)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
            signal.signal(number, signal.SIG_DFL)
        _place(order, files)
        _limit(order)
        os.chdir(order.cwd)
        what = "sandbox"
        if wrong:
            raise OSError(0, wrong)
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


def _place(order: Order, files: list[int]) -> None:
    """Every file under the number the job expects; out of each other's way first."""
    empty = os.open(os.devnull, os.O_RDONLY)
    numbers = (0, 1, 2, *order.files)
    moved = [
        fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, _ABOVE_ALL_TARGETS) for each in (empty, *files)
    ]
    for descriptor, number in zip(moved, numbers, strict=True):
        os.dup2(descriptor, number, inheritable=True)


def _limit(order: Order) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if order.most_tasks:
        _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
        most = order.most_tasks if hard == resource.RLIM_INFINITY else min(order.most_tasks, hard)
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
