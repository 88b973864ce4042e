"""The terminal driver: filters pastes, reads any bytes, writes ASCII where Unicode is unknown.

Only for terminals of POSIX systems; elsewhere Textual's own driver is used.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import selectors
import signal
from codecs import getincrementaldecoder
from collections.abc import Iterable
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TextIO, cast
from unicodedata import normalize

from rich.cells import cell_len
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key, Resize
from textual.geometry import Size
from textual.message import Message

from ollm_tui.core.intake import IntakeFilter

if TYPE_CHECKING:
    from ollm_tui.tui.frame import Frame

PASTE_START, PASTE_END = "\x1b[200~", "\x1b[201~"
READ_BYTES = 4096
POLL_SECONDS = 0.1
QUIET_POLLS = 10
"""Polls without input after which the reader waits without a limit."""
_AFTER_ALT = re.compile(r"(?<=\x1b)[^\x1b\[O]")
"""The key after Alt, which is sent as an escape before it. Of other sequences more is to come."""
GONE = frozenset((errno.EIO, errno.EPIPE, errno.ENXIO, errno.EBADF))
"""The errors of writing to a terminal that is no longer there."""
# Characters of ASCII that look most like those the program draws.
_ALIKE = {
    **dict.fromkeys("─━═╌╍┄┅┈┉‐‑‒–—−▔▁▂", "-"),
    **dict.fromkeys("│┃║╎╏┆┇┊┋▌▍▎▏▐", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯╔╗╚╝╠╣╦╩╬┏┓┗┛┣┫┳┻╋", "+"),
    **dict.fromkeys("█▓▉▊▋▃▄▅▆▇▀", "#"),
    **dict.fromkeys("░▒", "."),
    **dict.fromkeys("•●◆★▪✓✔☑", "*"),
    **dict.fromkeys("◦○◇☐", "o"),
    **dict.fromkeys("▸▶→›»↳", ">"),
    **dict.fromkeys("◂◀←‹«", "<"),
    **dict.fromkeys("▾▼↓", "v"),
    **dict.fromkeys("▴▲↑", "^"),
    **dict.fromkeys("“”„", '"'),
    **dict.fromkeys("‘’‚", "'"),
    "·": "-",
    "…": "~",
    "≈": "~",
    "×": "x",
    "✗": "x",
}


class TerminalDriver(LinuxDriver):
    """Textual's driver for POSIX systems, with filtered input and output that can be shown."""

    def __init__(self, app: Frame, **options: Any) -> None:
        super().__init__(app, **options)  # pyright: ignore[reportUnknownMemberType] Textual leaves it open
        self._file = cast(TextIO, TerminalOutput(self._file))
        # A selector cannot wait for a threading event, but for a pipe.
        self._wake_reader, self._wake_writer = os.pipe()
        os.set_blocking(self._wake_reader, False)
        self._in_ascii = None if app.abilities.unicode else AsciiText()

    def start_application_mode(self) -> None:
        """Take over the terminal."""
        super().start_application_mode()
        # Textual's handler can be interrupted by itself: then an older size would come last.
        asyncio.get_running_loop().add_signal_handler(signal.SIGWINCH, self._post_size)

    def _sigcont_application(self, *_: object) -> None:
        # Sent when a terminal is closed, too: what was never stopped must not start twice.
        if self._must_signal_resume:
            self.resume_application_mode()

    def write(self, data: str) -> None:
        """Send text and control sequences, in ASCII if need be."""
        super().write(self._in_ascii(data) if self._in_ascii else data)

    def run_input_thread(self) -> None:
        """Read input and pass its messages on, until the driver is told to end."""
        parser = PasteGuard(self._debug)
        # A byte that is no UTF-8 must not end the program: the terminal may be set otherwise.
        decode = getincrementaldecoder("utf-8")("replace").decode
        with suppress(BlockingIOError):
            os.read(self._wake_reader, READ_BYTES)  # left from when it was last told to end
        quiet = 0
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            if selector.select(0):
                # Typed before the program took the terminal over, which turned Enter into a line
                # end until then.
                self._pass_on(parser.feed(decode(self._read().replace(b"\n", b"\r"))))
            selector.register(self._wake_reader, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                # An Esc waits a moment for the rest of a sequence; then nothing is to be done
                # until the next key, and at rest the program takes no time at all.
                ready = selector.select(POLL_SECONDS if quiet < QUIET_POLLS else None)
                quiet = 0 if ready else quiet + 1
                if any(key.fd == self.fileno for key, _ in ready):
                    data = self._read()
                    if not data:
                        # No SIGHUP comes when a terminal goes that is not the controlling one.
                        os.kill(os.getpid(), signal.SIGHUP)
                        return
                    self._pass_on(parser.feed(decode(data)))
                self._pass_on(parser.tick())

    def disable_input(self) -> None:
        """Wake the thread that waits for input, so that it can end."""
        os.write(self._wake_writer, b"\0")
        super().disable_input()

    def _post_size(self) -> None:
        if not self._in_band_window_resize:
            size = Size(*self._get_terminal_size())
            if size == self._app.size:
                # A terminal that has lost what it showed asks for it again.
                self._app.call_later(self._app.refresh, layout=True)
            self._app.post_message(Resize(size, size))

    def _read(self) -> bytes:
        """Return what was typed; nothing once the terminal is gone."""
        try:
            return os.read(self.fileno, READ_BYTES)
        except OSError:
            return b""

    def _pass_on(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)


class PasteGuard(XTermParser):
    """A parser of terminal input that removes control characters from pastes."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._intake: IntakeFilter | None = None
        """The filter of the paste that is coming in; None between pastes."""
        self._before = ""
        """The last characters seen: a marker may be cut in two by the end of a read."""
        self._escape = ""
        """The escape that was the last character, which may begin a sequence."""

    def feed(self, data: str) -> Iterable[Message]:
        """Parse more input; yields the messages it stands for."""
        while data:
            if self._intake is None:
                piece, data = self._up_to_paste(data)
            else:
                piece, data = self._paste(self._before + data)
            if piece:
                yield from self._parse(piece)

    def _parse(self, piece: str) -> Iterable[Message]:
        """Parse input up to the end of each Alt and a key. Textual waits for more there, and takes
        the Alt for a ^ if an arrow comes next."""
        if self._timeout_time is None:
            self._escape = ""  # it was a key of its own
        begun = len(self._escape)
        ends = [found.end() - begun for found in _AFTER_ALT.finditer(self._escape + piece)]
        self._escape = "\x1b" if piece.endswith("\x1b") else ""
        for start, end in pairwise((0, *ends)):
            messages = list(super().feed(piece[start:end]))
            if self._timeout_time is not None:
                self._timeout_time = 0.0  # it is over
                messages += self.tick()
            yield from messages[:-1]
            yield from (_with_alt(each, piece[end - 1]) for each in messages[-1:])
        if rest := piece[ends[-1] if ends else 0 :]:
            yield from super().feed(rest)

    def _up_to_paste(self, data: str) -> tuple[str, str]:
        """Return the input up to and including the start of a paste, and what is left."""
        seen = self._before + data
        start = seen.find(PASTE_START)
        if start < 0:
            self._before = seen[1 - len(PASTE_START) :]
            return data, ""
        self._intake, size = IntakeFilter(), len(self._before)
        self._before = ""
        end = start + len(PASTE_START) - size
        return data[:end], data[end:]

    def _paste(self, data: str) -> tuple[str, str]:
        """Return the filtered part of a paste, with its end if that has come, and what is left."""
        assert self._intake
        text, found, rest = data.partition(PASTE_END)
        if found:
            piece = self._intake.feed(text) + self._intake.finish() + PASTE_END
            self._intake, self._before = None, ""
            return piece, rest
        # Up to five characters may be the beginning of the six that end a paste.
        held = next(size for size in range(5, -1, -1) if data.endswith(PASTE_END[:size]))
        text, self._before = data[: len(data) - held], data[len(data) - held :]
        return self._intake.feed(text), ""


class AsciiText:
    """Turns text into ASCII of the same width, so that everything stays in its column."""

    def __init__(self) -> None:
        self._alike = _Alike()

    def __call__(self, text: str) -> str:
        """Return the text in ASCII; control characters stay as they are."""
        return text if text.isascii() else text.translate(self._alike)


class _Alike(dict[int, str]):
    """What to send for a character, found when it first occurs; as wide as the character."""

    def __missing__(self, code: int) -> str:
        mark = chr(code)
        plain = mark if code < 128 else _ALIKE.get(mark) or normalize("NFKD", mark)[:1]
        width = cell_len(mark)
        self[code] = plain if code < 128 else (plain if plain.isascii() else "?") * width
        return self[code]


def _with_alt(message: Message, character: str) -> Message:
    """Return the key that came after Alt. Textual forgets the Alt of all but letters and digits."""
    if (
        isinstance(message, Key)
        and message.character == character
        and "+" not in message.key
        and not character.isalnum()
    ):
        return Key(f"alt+{message.key}", character)
    return message


class TerminalOutput:
    """Writes to the terminal and drops what comes after that is gone.

    Otherwise the thread that writes would end, and the program would wait for it for ever.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> None:
        """Write a text, if the terminal is still there."""
        try:
            self._file.write(text)
        except OSError as error:
            _raise_unless_gone(error)

    def flush(self) -> None:
        """Flush what was written."""
        try:
            self._file.flush()
        except OSError as error:
            _raise_unless_gone(error)

    def fileno(self) -> int:
        """Return the file descriptor of the terminal."""
        return self._file.fileno()


def _raise_unless_gone(error: OSError) -> None:
    if error.errno not in GONE:
        raise error
