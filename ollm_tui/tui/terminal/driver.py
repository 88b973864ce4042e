"""The way to the terminal and back: guarded pastes, any bytes, ASCII where nothing else is known.

Only for terminals of POSIX systems; elsewhere Textual's own driver is used.
"""

from __future__ import annotations

import asyncio
import errno
import os
import selectors
import signal
from codecs import getincrementaldecoder
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO, cast

from textual.drivers.linux_driver import LinuxDriver
from textual.events import Resize
from textual.geometry import Size
from textual.message import Message

from ollm_tui.tui.terminal.ascii_text import AsciiText
from ollm_tui.tui.terminal.terminal_input import PasteGuard

if TYPE_CHECKING:
    from ollm_tui.tui.app import OllmApp

READ_BYTES = 4096
POLL_SECONDS = 0.1
QUIET_POLLS = 10


GONE = frozenset((errno.EIO, errno.EPIPE, errno.ENXIO, errno.EBADF))
"""What writing says of a terminal that is no longer there."""


class TerminalOutput:
    """Writes to the terminal. What is written to one that is gone is dropped: else the thread that
    writes would end, and the program wait for it for ever instead of ending."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> None:
        """Write, if there is somebody to read it."""
        try:
            self._file.write(text)
        except OSError as error:
            _raise_unless_gone(error)

    def flush(self) -> None:
        """Have it shown now."""
        try:
            self._file.flush()
        except OSError as error:
            _raise_unless_gone(error)

    def fileno(self) -> int:
        """The terminal itself."""
        return self._file.fileno()


def _raise_unless_gone(error: OSError) -> None:
    if error.errno not in GONE:
        raise error


class TerminalDriver(LinuxDriver):
    """Textual's driver, with a guard on what is read and an eye on what can be shown."""

    def __init__(self, app: OllmApp, **options: Any) -> None:
        super().__init__(app, **options)  # pyright: ignore[reportUnknownMemberType] Textual leaves it open
        self._file = cast(TextIO, TerminalOutput(self._file))
        self._wake_reader, self._wake_writer = os.pipe()
        os.set_blocking(self._wake_reader, False)
        self._in_ascii = None if app.abilities.unicode else AsciiText()

    def start_application_mode(self) -> None:
        """Take the terminal."""
        super().start_application_mode()
        # Textual's handler can be interrupted by itself: then an older size would come last.
        asyncio.get_running_loop().add_signal_handler(signal.SIGWINCH, self._tell_size)

    def _sigcont_application(self, *_: object) -> None:
        # Who closes terminals sends this too: what was never stopped must not start twice.
        if self._must_signal_resume:
            self.resume_application_mode()

    def write(self, data: str) -> None:
        """Send text and controls."""
        super().write(self._in_ascii(data) if self._in_ascii else data)

    def run_input_thread(self) -> None:
        """Wait for input and hand it on, until the driver is told to end."""
        parser = PasteGuard(self._debug)
        # A byte that is no UTF-8 must not end the program: the terminal may be set otherwise.
        decode = getincrementaldecoder("utf-8")("replace").decode
        with suppress(BlockingIOError):
            os.read(self._wake_reader, READ_BYTES)  # it was woken to end when it ran before
        quiet = 0
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            selector.register(self._wake_reader, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                # An Esc waits a moment for the rest of a sequence; then nothing is to be done
                # until the next key, and at rest the program takes no time at all.
                ready = selector.select(POLL_SECONDS if quiet < QUIET_POLLS else None)
                quiet = 0 if ready else quiet + 1
                if any(key.fd == self.fileno for key, _ in ready):
                    data = self._read()
                    if not data:
                        # Of a terminal that is not the program's own no signal tells.
                        os.kill(os.getpid(), signal.SIGHUP)
                        return
                    self._hand_on(parser.feed(decode(data)))
                self._hand_on(parser.tick())

    def disable_input(self) -> None:
        """Wake the thread that waits for input, so that it can end."""
        os.write(self._wake_writer, b"\0")
        super().disable_input()

    def _tell_size(self) -> None:
        if not self._in_band_window_resize:
            size = Size(*self._get_terminal_size())
            self._app.post_message(Resize(size, size))

    def _read(self) -> bytes:
        """What was typed; nothing once the terminal is gone."""
        try:
            return os.read(self.fileno, READ_BYTES)
        except OSError:
            return b""

    def _hand_on(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)
