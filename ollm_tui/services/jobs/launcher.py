"""The child process that starts jobs: `python -m ollm_tui.services.jobs.launcher NUMBER`.

Orders come over the socket of that number; for each it forks a supervisor, which costs a
millisecond where a new interpreter costs twenty. It ends when the app is gone.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
from types import FrameType

from ollm_tui.services.jobs import process_tree
from ollm_tui.services.jobs.order import read_order
from ollm_tui.services.jobs.supervisor import become_subreaper, keep

MOST_FILES = 16
"""The most files that can travel with an order."""


class Launcher:
    """Forks supervisors, and ends what a supervisor that was killed left behind."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._supervisors: set[int] = set()
        self._wake, wake_writer = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake_writer, False)
        self._wake_writer = wake_writer
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _woken)

    def run(self) -> None:
        """Serve until the app is gone and every supervisor has ended."""
        watched = select.poll()
        watched.register(self._orders, select.POLLIN)
        watched.register(self._wake, select.POLLIN)
        serving = True
        while serving or self._supervisors:
            for descriptor, _ in watched.poll():
                if descriptor == self._wake:
                    os.read(self._wake, 4096)
                    self._reap()
                elif not self._take_order():
                    watched.unregister(self._orders)
                    serving = False

    def _take_order(self) -> bool:
        data, files, _, _ = socket.recv_fds(self._orders, 1, MOST_FILES)
        if not data:
            return False
        for descriptor in files:
            os.set_inheritable(descriptor, False)
        order_file, channel_file, *rest = files
        channel = socket.socket(fileno=channel_file)
        order = read_order(order_file)
        supervisor = os.fork()
        if supervisor == 0:
            self._orders.close()
            signal.set_wakeup_fd(-1)  # a supervisor has a wake-up pipe of its own
            os.close(self._wake)
            os.close(self._wake_writer)
            keep(order, channel, rest)
        self._supervisors.add(supervisor)
        channel.close()
        for descriptor in rest:
            os.close(descriptor)
        return True

    def _reap(self) -> None:
        orphans = False
        while True:
            try:
                number, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if number == 0:
                break
            # A supervisor that failed, or a stranger that became our child, means that one was
            # killed while its job ran.
            orphans = orphans or status != 0 or number not in self._supervisors
            self._supervisors.discard(number)
        if orphans:
            self._end_orphans()

    def _end_orphans(self) -> None:
        """Kill what killed supervisors left: it became our child and belongs to no job any more."""
        lines = process_tree.processes()
        own = os.getpid()
        for line in lines:
            if line.parent == own and line.pid not in self._supervisors:
                family = (line, *process_tree.descendants(line.pid, lines))
                process_tree.send((each.pid for each in family), signal.SIGKILL)


def _woken(_number: int, _frame: FrameType | None) -> None:
    """Does nothing: Python writes to the wake-up pipe only for signals that have a handler."""


def main() -> None:
    """Serve the socket whose number is the first argument."""
    become_subreaper()
    gc.disable()  # looking at every object would copy every page into every supervisor
    Launcher(socket.socket(fileno=int(sys.argv[1]))).run()


if __name__ == "__main__":
    main()
