"""One tab of a browser: the program that runs for it, and the page that shows it at the moment."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Protocol

from ollm_tui.web.terminal_program import Size, TerminalProgram

ENDED, TAKEN = 4000, 4001
"""The codes a connection is closed with: the program has ended; another page shows this tab."""
MOST_UNREAD = 512_000
"""Bytes a page may have on the way. One that is slower misses some, and is drawn anew then: the
program never waits for a page."""
CAUGHT_UP = 65_536
"""Bytes that may be unread when a page has caught up: it tells only every so many."""
RESET = b"\x1bc"
LEFT_SCREEN = b"\x1b[?1049l"
_MODE = re.compile(rb"\x1b\[\?([\d;]+)([hl])")
_LONGEST_MODE = 32
_KEPT_BYTES = 4096
_SCROLLING = re.compile(rb"\x1b\[<6[45];\d+;\d+M|\x1b\[[56]~")
"""The wheel of the mouse, page up, page down: all that can be done where nothing can be typed."""
_WAY_BACK = re.compile(rb"ollm --resume ([0-9a-f]+)")


class Connection(Protocol):
    """The websocket of a page, as far as a tab uses it."""

    async def send_bytes(self, data: bytes) -> None:
        """Send a binary message."""
        ...

    async def close(self, *, code: int) -> object:
        """Close the connection with a code."""
        ...


class Page:
    """A page that shows a tab. What is sent waits in a queue of its own."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._waiting = asyncio.Queue[bytes]()
        self._unread = 0
        self._is_behind = False
        self._sending = asyncio.create_task(self._send())

    def show(self, printed: bytes) -> None:
        """Send what was printed, or leave it out if the page is too slow."""
        if self._is_behind or self._unread > MOST_UNREAD:
            self._is_behind = True
            return
        self._unread += len(printed)
        self._waiting.put_nowait(printed)

    def note_read(self, count: int) -> bool:
        """Note how many bytes the page has shown; returns whether it has to be drawn anew."""
        self._unread = max(0, self._unread - count)
        if not self._is_behind or self._unread > CAUGHT_UP:
            return False
        self._is_behind = False
        return True

    async def close(self, code: int) -> None:
        """Close the connection, after all that was sent if the program has ended."""
        if code != ENDED:
            self._sending.cancel()
        self._waiting.put_nowait(b"")
        await asyncio.gather(self._sending, return_exceptions=True)
        await self._connection.close(code=code)

    def drop(self) -> None:
        """Forget a page that is gone."""
        self._sending.cancel()

    async def _send(self) -> None:
        try:
            while piece := await self._waiting.get():
                await self._connection.send_bytes(piece)
        except ConnectionError:
            pass  # it is gone; whoever reads from it notices


class BrowserTab:
    """Passes on what a program prints to the page that shows it, and what is typed to it."""

    def __init__(
        self, program: TerminalProgram, *, is_read_only: bool, ended: Callable[[BrowserTab], None]
    ) -> None:
        self._program = program
        self._is_read_only = is_read_only
        self._ended = ended
        self._modes: dict[bytes, bytes] = {}
        self._tail = b""
        """The last that was printed: sequences may be cut in two, and it says the way back."""
        self._page: Page | None = None
        self._closing = set[asyncio.Task[None]]()
        self._passing_on = asyncio.create_task(self._pass_on())

    @property
    def is_shown(self) -> bool:
        """Whether a page shows this tab now."""
        return self._page is not None

    @property
    def session(self) -> str | None:
        """The session to go on with, as the program said when it ended."""
        _, has_left, last = self._tail.rpartition(LEFT_SCREEN)
        found = _WAY_BACK.findall(last) if has_left else []
        return found[-1].decode() if found else None

    def attach(self, connection: Connection, size: Size) -> Page:
        """Show the tab on a page; one that showed it before is closed."""
        if self._page:
            self._close(self._page, TAKEN)
        self._page = Page(connection)
        if self._passing_on.done():  # it has ended since it was opened
            self._close(self._page, ENDED)
            return self._page
        self._program.resize(size)
        self._draw(self._page)
        return self._page

    def detach(self, page: Page) -> None:
        """Note that a page is gone."""
        page.drop()
        if self._page is page:
            self._page = None

    async def type(self, keys: bytes) -> None:
        """Pass on keys; where nothing may be typed, only those that scroll."""
        if self._is_read_only:
            keys = b"".join(_SCROLLING.findall(keys))
        await self._program.write(keys)

    def resize(self, page: Page, size: Size) -> None:
        """Give the program the size of the page that shows it."""
        if page is self._page:
            self._program.resize(size)

    def note_read(self, page: Page, count: int) -> None:
        """Note how much a page has shown; one that was too slow is drawn anew."""
        if page.note_read(count):
            self._draw(page)

    async def end(self) -> None:
        """End the program, which saves first, and close the page."""
        await self._program.end()
        await self._passing_on
        await asyncio.gather(*self._closing)

    def _draw(self, page: Page) -> None:
        modes = (b"\x1b[?%b%b" % each for each in self._modes.items())
        page.show(RESET + b"".join(modes))
        self._program.redraw()

    async def _pass_on(self) -> None:
        while printed := await self._program.read():
            self._note_modes(printed)
            if self._page:
                self._page.show(printed)
        self._program.close()
        self._ended(self)
        if self._page:
            self._close(self._page, ENDED)

    def _note_modes(self, printed: bytes) -> None:
        """Remember the modes of the terminal, to put another page into the same ones."""
        seen = self._tail[-_LONGEST_MODE:] + printed
        for numbers, state in _MODE.findall(seen):
            for number in numbers.split(b";"):
                self._modes.pop(number, None)  # a mode that is set again comes last
                self._modes[number] = state
        self._tail = (self._tail + printed)[-_KEPT_BYTES:]

    def _close(self, page: Page, code: int) -> None:
        task = asyncio.create_task(page.close(code))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
