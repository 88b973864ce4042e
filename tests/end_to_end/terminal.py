"""A terminal of the tests' own with the real command in it: keys go in, a screen comes out."""

from __future__ import annotations

import codecs
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

import pytest
from rich.cells import cell_len

from ollm_tui.services.jobs.process_tree import process
from tests.stand_ins.warm_command import OLLM, can_be_warm, started

Size = tuple[int, int]

_PIECE = re.compile(r"(\x1b\[[?<>=]?[\d;]*[ $]?[@-~]|[\r\n])")
PATIENCE_SECONDS = 60
"""A program that is silent for as long hangs; the test then says what was seen last."""
_MODE = re.compile(r"\x1b\[\?(\d+)([hl])")
_TITLE = re.compile(r"\x1b\][012];|\x1b\[2[123]t")
_ON_AT_FIRST = {"25", "7"}


class Terminal:
    """A pseudo terminal with the program in it; everything it printed is kept.

    A `command` is started from the beginning; without one it is `ollm`, whose modules are loaded.
    """

    def __init__(
        self,
        home: Path,
        script: object = None,
        *arguments: str,
        size: Size = (80, 24),
        command: Sequence[str] = (),
        **variables: str,
    ) -> None:
        self.master, self.slave = pty.openpty()
        self._picture = Picture(size)
        self.resize(*size)
        self.before = termios.tcgetattr(self.slave)
        self.seen = ""
        """Everything that was printed."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        environment = {
            "OLLM_HOME": str(home),
            "HOME": os.environ["HOME"],
            "TERM": "xterm-256color",
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
        }
        if script is not None:
            file = home.parent / "script.json"
            file.write_text(json.dumps(script))
            environment["OLLM_TEST_SCRIPT"] = str(file)
        environment |= variables
        self.process = (
            started(arguments, environment, self.slave)
            if not command and can_be_warm(environment)
            else subprocess.Popen(
                [*(command or [OLLM]), *arguments],
                env=environment,
                preexec_fn=lambda: os.login_tty(self.slave),
                pass_fds=(self.slave,),
            )
        )

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.hang_up()

    def hang_up(self) -> None:
        """The terminal is gone: its window was closed, or the line to it broke."""
        for end in (self.master, self.slave):
            if end >= 0:
                os.close(end)
        self.master = self.slave = -1

    # What the user does

    def resize(self, columns: int, rows: int) -> None:
        """Another size; the kernel tells the program."""
        self._picture.resize((columns, rows))
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys: str | bytes) -> None:
        """Type, in one write; what is printed meanwhile is read, so that nobody waits."""
        data = keys.encode() if isinstance(keys, str) else keys
        while data:
            _, writable, _ = select.select([], [self.master], [], 0)
            if writable:
                data = data[os.write(self.master, data[:1024]) :]
            self._read(0 if data else 0.01)

    def paste(self, text: str) -> None:
        """Paste as terminals do where the program wants to know of it."""
        self.type(f"\x1b[200~{text}\x1b[201~")

    # What the user sees

    def wait_for(self, *texts: str) -> None:
        """Read until all texts are on the screen at once."""
        self._wait(lambda: all(text in self.screen() for text in texts), str(texts))

    def wait_until_gone(self, text: str) -> None:
        """Read until a text is no longer on the screen."""
        self._wait(lambda: text not in self.screen(), f"the end of {text!r}")

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """Read until something holds; `what` names it where it never does."""
        self._wait(condition, what)

    def wait_for_output(self, text: str, start: int = 0) -> None:
        """Read until a text was printed, controls included."""
        self._wait(lambda: text in self.seen[start:], repr(text))

    def wait_for_stop(self) -> None:
        """Wait until the program has stopped itself, as Ctrl+Z asks for."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not ((found := process(self.process.pid)) and found.state == "T"):
            if time.monotonic() > deadline:
                pytest.fail(f"the program never stopped: {self.seen[-500:]!r}")
            self._read(0.05)
        self.settle()

    def settle(self, seconds: float = 0.3) -> None:
        """Read until nothing more comes for a moment."""
        while self._read(seconds):
            pass

    def ended(self) -> int:
        """Wait for the end, reading what is still printed; gives the exit code."""
        self._wait(lambda: self.process.poll() is not None, "the end")
        while self._read(0.1):
            pass
        return self.process.wait()

    def screen(self) -> str:
        """The picture, line by line, without the blanks at the ends."""
        return self._picture.text

    # How the terminal was left

    def modes(self) -> set[str]:
        """The private modes that are not as they were at first."""
        on = set(_ON_AT_FIRST)
        for number, state in _MODE.findall(self.seen):
            (on.add if state == "h" else on.discard)(number)
        return on ^ _ON_AT_FIRST

    def is_as_before(self) -> bool:
        """Whether line settings and modes are the ones from before the program, also the
        keyboard's, and the title was left alone."""
        settings = termios.tcgetattr(self.slave) == self.before
        keyboard = len(re.findall(r"\x1b\[>\d+u", self.seen)) == self.seen.count("\x1b[<u")
        return settings and keyboard and not self.modes() and not _TITLE.search(self.seen)

    # Reading

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        silent_since = time.monotonic()
        while not condition():
            if self._read(0.2):
                silent_since = time.monotonic()
            elif condition():
                return
            elif self.process.poll() is not None and not self._read(0.2):
                pytest.fail(f"the program ended before {what}: {self.seen[-500:]!r}")
            elif time.monotonic() - silent_since > PATIENCE_SECONDS:
                pytest.fail(f"{what} never came:\n{self.screen()}")

    def _read(self, seconds: float) -> bool:
        """Take what is printed within some time; whether there was something."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        text = self._decoder.decode(os.read(self.master, 65536))
        self.seen += text
        self._picture.feed(text)
        return True


class Picture:
    """What output looks like: a screen drawn from places and texts, colours left out."""

    def __init__(self, size: Size) -> None:
        self.resize(size)
        self._rest = ""

    def resize(self, size: Size) -> None:
        """Begin anew at another size: the program draws everything again."""
        columns, rows = size
        self._cells = [[" "] * columns for _ in range(rows)]
        self._row = self._column = 0

    @property
    def text(self) -> str:
        """Its lines, without the blanks at their ends."""
        return "\n".join("".join(line).rstrip() for line in self._cells)

    def feed(self, output: str) -> None:
        """Draw more; a sequence that is not whole yet waits for its end."""
        *pieces, last = _PIECE.split(self._rest + output)
        self._rest = last[last.rfind("\x1b") :] if "\x1b" in last else ""
        for piece in (*pieces, last.removesuffix(self._rest)):
            if piece in ("\r", "\n"):
                self._row, self._column = self._row + (piece == "\n"), 0
            elif piece.startswith("\x1b["):
                self._obey(piece)
            else:
                self._write(piece)

    def _obey(self, sequence: str) -> None:
        if sequence.endswith("H"):
            row, _, column = sequence[2:-1].partition(";")
            self._row, self._column = int(row or 1) - 1, int(column or 1) - 1
        elif sequence in ("\x1b[?1049h", "\x1b[?1049l", "\x1b[2J"):
            self._cells = [[" "] * len(line) for line in self._cells]

    def _write(self, text: str) -> None:
        line = self._cells[self._row] if self._row < len(self._cells) else []
        for mark in text:
            width = 1 if mark.isascii() else cell_len(mark)
            for at, part in enumerate((mark, "")[:width]):
                if self._column + at < len(line):
                    line[self._column + at] = part
            self._column += width
