"""The real command in a real terminal: it types, streams, stops, resizes, quits."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from tests.cli.conftest import OLLM

LONG = [{"text": "One"}, {"wait": 600}, {"text": "Two"}]


class Terminal:
    """A pseudo terminal with the program in it; everything it printed is kept."""

    def __init__(self, home: Path, script: object, *arguments: str) -> None:
        file = home.parent / "script.json"
        file.write_text(json.dumps(script))
        self.master, slave = pty.openpty()
        self.resize(80, 24)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        variables = {
            "OLLM_HOME": str(home),
            "OLLM_TEST_SCRIPT": str(file),
            "TERM": "xterm-256color",
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
        }
        self.process = subprocess.Popen(
            [str(OLLM), *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=variables,
            start_new_session=True,
        )
        self.seen = ""

    def resize(self, columns: int, rows: int) -> None:
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, size)

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def wait_for(self, text: str) -> None:
        """Read until a text was printed; the program's end is the end of the waiting too."""
        while text not in self.seen:
            ready, _, _ = select.select([self.master], [], [], 0.2)
            if ready:
                self.seen += os.read(self.master, 65536).decode("utf-8", "replace")
            elif self.process.poll() is not None:
                pytest.fail(f"the program ended before {text!r}: {self.seen[-500:]}")

    def ended(self) -> int:
        """Wait for the end, reading what is still printed."""
        while self.process.poll() is None:
            ready, _, _ = select.select([self.master], [], [], 0.2)
            if ready:
                self.seen += os.read(self.master, 65536).decode("utf-8", "replace")
        while select.select([self.master], [], [], 0.1)[0]:
            self.seen += os.read(self.master, 65536).decode("utf-8", "replace")
        return self.process.returncode

    def is_as_before(self) -> bool:
        """Whether modes and screen are the ones that were there before the program."""
        modes = termios.tcgetattr(self.slave)
        return modes == self.before and self.seen.rfind("\x1b[?1049l") > self.seen.rfind(
            "\x1b[?1049h"
        )


def test_typing_streaming_stopping_resizing_and_quitting(home: Path) -> None:
    terminal = Terminal(home, [LONG])
    terminal.wait_for("scripted")
    terminal.type("hello\r")
    terminal.wait_for("One")
    terminal.resize(60, 20)
    os.killpg(terminal.process.pid, signal.SIGWINCH)
    terminal.type("\x1b")
    terminal.wait_for("stopped")
    terminal.type("\x11")
    assert terminal.ended() == 0
    assert terminal.is_as_before()
    assert "\x1b[?1000l" in terminal.seen or "\x1b[?1003l" in terminal.seen
    [file] = (home / "sessions").glob("*.json")
    texts = [m["parts"][0]["text"] for m in json.loads(file.read_bytes())["messages"]]
    assert texts == ["hello", "One"]


@pytest.mark.parametrize("number", (signal.SIGTERM, signal.SIGHUP))
def test_being_told_to_end_leaves_the_terminal_and_the_record_whole(
    home: Path, number: signal.Signals
) -> None:
    terminal = Terminal(home, [LONG])
    terminal.wait_for("scripted")
    terminal.type("hello\r")
    terminal.wait_for("One")
    terminal.process.send_signal(number)
    terminal.ended()
    assert terminal.is_as_before()
    [file] = (home / "sessions").glob("*.json")
    assert [m["status"] for m in json.loads(file.read_bytes())["messages"][1:]] == ["cancelled"]


def test_plain_lines_need_no_screen(home: Path) -> None:
    terminal = Terminal(home, [[{"text": "Plainly."}]], "--plain")
    terminal.wait_for("> ")
    terminal.type("hello\r")
    terminal.wait_for("Plainly.\r\n\r\n> ")
    terminal.type("\x04")
    assert terminal.ended() == 0
    assert "\x1b[?1049h" not in terminal.seen
