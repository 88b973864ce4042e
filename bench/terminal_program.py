"""Any full-screen program in a pty, driven from outside: keys in, text and costs out."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple, Self

from bench.measure import Cost

ANSWER_SECONDS = 120
"""How long a text is waited for."""
QUIET_SECONDS = 0.7
"""So long without work and a program has settled; replies are recorded every half second."""
IDLE_SECONDS = 0.005
"""CPU time within that which is no work: Textual looks for keys ten times a second."""
TAIL = 200
"""Characters kept to find a text that two reads cut apart."""
_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)"
    r"|[P_^X][^\x1b]*\x1b\\|[()#%].|[0-9=>A-OQ-WYZ\\a-z|}~])"
)
_REPLIES = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?62;22c"}
"""Questions that some programs wait for an answer to: where the cursor is, which terminal."""
_TICKS = os.sysconf("SC_CLK_TCK")


class Program(NamedTuple):
    """What to run, the text that says it is ready, and the keys that end it."""

    command: Sequence[str]
    environment: Mapping[str, str]
    ready: str
    quit: str = "\x11"


class Moment(NamedTuple):
    """When a text was read: the clock, and the CPU seconds of the program itself so far."""

    wall: float
    cpu: float


class TerminalProgram:
    """A program running in a terminal of its own; use it with `with`."""

    def __init__(self, program: Program, directory: Path, size: tuple[int, int] = (80, 24)) -> None:
        self._quit = program.quit
        self._lock = threading.Lock()
        self._expected: dict[str, Future[Moment]] = {}
        self._tail = ""
        self.drawn = 0
        """Bytes that came out so far."""
        self._ready = self.expect(program.ready)
        self._master, slave = pty.openpty()
        self._set_size(*size)
        self.begun = time.perf_counter()
        self._process = subprocess.Popen(
            program.command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=directory,
            env={**program.environment, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
            start_new_session=True,
        )
        os.close(slave)
        # The CPU clock of another process, as clock_getcpuclockid(3) makes it: nanoseconds.
        self._clock = (~self._process.pid << 3) | 2
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.returncode is None:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        os.close(self._master)

    # In

    def type(self, keys: str) -> float:
        """Press keys; gives back when."""
        moment = time.perf_counter()
        os.write(self._master, keys.encode())
        return moment

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the window."""
        self._set_size(columns, rows)
        os.killpg(self._process.pid, signal.SIGWINCH)

    def quit(self) -> Cost:
        """Press the keys that end it; gives back what the whole run cost, children included."""
        self.type(self._quit)
        _, status, usage = os.wait4(self._process.pid, 0)
        wall = time.perf_counter() - self.begun
        self._process.returncode = os.waitstatus_to_exitcode(status)
        if self._process.returncode != 0:
            raise RuntimeError(f"{self._process.args} ended with {self._process.returncode}")
        return Cost(usage.ru_utime + usage.ru_stime, wall)

    # Out

    def wait_until_ready(self) -> Moment:
        """Until it shows the text that says so."""
        return self._ready.result(ANSWER_SECONDS)

    def expect(self, text: str) -> Future[Moment]:
        """When a text is drawn from now on. Ask before doing what makes it appear."""
        future: Future[Moment] = Future()
        with self._lock:
            self._tail = ""
            self._expected[text] = future
        return future

    def type_until(self, keys: str, text: str) -> Moment:
        """Press keys and wait for a text."""
        shown = self.expect(text)
        self.type(keys)
        return shown.result(ANSWER_SECONDS)

    # Costs

    def cpu(self) -> float:
        """CPU seconds so far, with those of its children."""
        return time.clock_gettime(self._clock) + sum(
            sum(map(int, _stat(pid)[11:13])) / _TICKS for pid in _descendants(self._process.pid)
        )

    def settled(self) -> float:
        """Wait until it does nothing more; gives back its CPU seconds."""
        before, now = -1.0, self.cpu()
        while now - before > IDLE_SECONDS:
            time.sleep(QUIET_SECONDS)
            before, now = now, self.cpu()
        return now

    def status(self, field: str) -> int:
        """A number of /proc/PID/status: VmRSS and VmHWM in kB, voluntary_ctxt_switches."""
        return _status(self._process.pid, field)

    def children_memory(self) -> int:
        """The kB of memory of its children."""
        return sum(_status(pid, "VmRSS") for pid in _descendants(self._process.pid))

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _read(self) -> None:
        """In a thread: what is not read at once would hold the program up."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        left = ""
        while True:
            try:
                data = os.read(self._master, 65536)
                moment = Moment(time.perf_counter(), time.clock_gettime(self._clock))
            except OSError:
                break
            for question, reply in _REPLIES.items():
                if question in data:
                    os.write(self._master, reply)
            self.drawn += len(data)
            text, left = _visible(left + decoder.decode(data))
            self._look_for_expected(text, moment)
        for text, future in self._expected.items():
            future.set_exception(RuntimeError(f"the program ended before {text!r}: {self._tail}"))

    def _look_for_expected(self, text: str, moment: Moment) -> None:
        with self._lock:
            seen = self._tail + text
            for wanted in [wanted for wanted in self._expected if wanted in seen]:
                self._expected.pop(wanted).set_result(moment)
            self._tail = seen[-TAIL:]


def _visible(text: str) -> tuple[str, str]:
    """A text without its control sequences, and the beginning of one that is not whole yet."""
    start = text.rfind("\x1b")
    if start >= 0 and not _ESCAPE.match(text, start):
        return _ESCAPE.sub("", text[:start]), text[start:]
    return _ESCAPE.sub("", text), ""


def _status(pid: int, field: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0])
    raise KeyError(field)


def _stat(pid: int) -> list[str]:
    """The fields after the name in /proc/PID/stat; 11 to 14 are the CPU times."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _descendants(pid: int) -> Iterator[int]:
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, path.read_text().split()):
            yield child
            yield from _descendants(child)
