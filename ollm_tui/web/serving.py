"""Serving from the beginning to the end: the addresses, the program of each tab, the signals."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ollm_tui.providers.llama_cpp.shared_server import DESCRIPTOR_VARIABLE, ModelSharing
from ollm_tui.web.access import Access, is_loopback
from ollm_tui.web.browser_tabs import BrowserTabs, Start
from ollm_tui.web.terminal_program import Size, TerminalProgram
from ollm_tui.web.web_server import Place, WebServer

OWN, SHARED = "own", "shared"
"""What a tab is for: the user works in it, or others look at one session."""
EVERYWHERE = ("0.0.0.0", "::", "")
PROGRAM = (sys.executable, "-P", "-m", "ollm_tui")
"""-P, because a file in the project folder must not be imported in place of our modules."""
OF_OTHER_TERMINALS = frozenset(
    ("DISPLAY", "WAYLAND_DISPLAY", "TMUX", "TMUX_PANE", "STY", "COLORFGBG", "COLUMNS", "LINES")
)
"""Variables that say something of the terminal `ollm serve` runs in; the page is another one."""


class Served(NamedTuple):
    """What whoever started a server has to know."""

    address: str
    """Where the user works; empty if nobody may."""
    shared: str
    """Where one session is shown; empty if none is."""
    is_in_the_open: bool
    """Whether others can reach it, and read along on the way."""


async def serve(
    place: Place, views: Mapping[str, Sequence[str]], title: str, tell: Callable[[Served], None]
) -> None:
    """Serve until a signal says to end. OSError if the place cannot be had.

    `views` says what `ollm` is started with for each kind of tab.
    """
    is_local = is_loopback(place.host)
    names = () if is_local else (place.host, socket.gethostname(), socket.getfqdn())
    access = Access(tuple(views), names, only_loopback=is_local)
    read_only = frozenset((SHARED,))
    models = ModelSharing()
    server = WebServer(access, BrowserTabs(starter(views, models), read_only), title, read_only)
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    try:
        async with server.listening(place) as port:
            base = f"{'https' if place.tls else 'http'}://{_name(place.host)}:{port}"
            is_in_the_open = not is_local and place.tls is None
            own, shared = (
                f"{base}/{access.tokens[view]}/" if view in views else "" for view in (OWN, SHARED)
            )
            tell(Served(own, shared, is_in_the_open))
            await ended.wait()
    finally:
        await models.close()


def starter(views: Mapping[str, Sequence[str]], models: ModelSharing) -> Start:
    """Return what starts the program of a tab, with the session it had before. All of them use
    the same server of embedded models."""

    async def start(view: str, session: str | None, size: Size) -> TerminalProgram:
        again = ("--resume", session) if session and view == OWN else ()
        command = (*PROGRAM, *views[view], *again)
        line = await models.connect()
        environment = page_environment(os.environ) | {DESCRIPTOR_VARIABLE: str(line)}
        try:
            return await TerminalProgram.start(command, environment, size, (line,))
        finally:
            os.close(line)

    return start


def page_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a program whose terminal is a page."""
    kept = {name: value for name, value in environ.items() if name not in OF_OTHER_TERMINALS}
    names = {"TERM": "xterm-256color", "TERM_PROGRAM": "ollm-serve", "COLORTERM": "truecolor"}
    return kept | names


def _name(host: str) -> str:
    """Return the name to open the page by."""
    host = socket.gethostname() if host in EVERYWHERE else host
    return f"[{host}]" if ":" in host else host
