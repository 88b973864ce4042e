"""The web front end: a page with a terminal in it, and a websocket for each tab.

Only `ollm serve` imports it: aiohttp takes a third of a second to load.
"""

from __future__ import annotations

import asyncio
import html
import logging
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec
from aiohttp import WSMsgType, web

from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import visible
from ollm_tui.web.access import Access
from ollm_tui.web.browser_tab import BrowserTab, Page
from ollm_tui.web.browser_tabs import BrowserTabs, TabKey
from ollm_tui.web.terminal_program import Size

PAGE = Path(__file__).parent / "page"
REFUSED = "Invalid address. Use the one printed by `ollm serve`."
HEARTBEAT_SECONDS = 15.0
"""A line that is silent for longer is lost: the computer sleeps, or the network is gone."""
LONGEST_MESSAGE = 1 << 20
REFUSED_CODE = 4002
"""The code a connection is closed with if its program cannot be started."""
LARGEST = 1000
_TYPES: Mapping[str, str] = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
}
_HEADERS: Mapping[str, str] = {
    # xterm.js writes styles into the page; all else comes from here, and nothing from elsewhere.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

log = logging.getLogger(__name__)


class Place(NamedTuple):
    """Where a server listens."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None


class _Order(msgspec.Struct, forbid_unknown_fields=True):
    """What a page says beside keys: its size, or how many bytes it has shown."""

    size: tuple[int, int] | None = None
    read: int = 0


class WebServer:
    """Serves the page and the tabs to whoever knows a secret address."""

    def __init__(
        self, access: Access, tabs: BrowserTabs, title: str, read_only: frozenset[str]
    ) -> None:
        self._access = access
        self._tabs = tabs
        self._title = title
        self._read_only = read_only
        self._connections = set[web.WebSocketResponse]()

    @asynccontextmanager
    async def listening(self, place: Place) -> AsyncGenerator[int]:
        """Serve at a place as long as the block runs; yields the port. All programs end with it.

        OSError if that place is taken or not of this machine.
        """
        application = web.Application(middlewares=[self._guarded])
        application.router.add_get("/{token}/", self._page)
        application.router.add_get("/{token}/tab", self._tab)
        application.router.add_get("/{token}/{file:.+}", self._file)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=1)
        await runner.setup()
        try:
            site = web.TCPSite(runner, place.host, place.port, ssl_context=place.tls)
            await site.start()
            port: int = runner.addresses[0][1]
            yield port
        finally:
            await self._tabs.close()
            await asyncio.gather(*(each.close() for each in tuple(self._connections)))
            await runner.cleanup()

    @web.middleware
    async def _guarded(
        self,
        request: web.Request,
        handler: Callable[[web.Request], Awaitable[web.StreamResponse]],
    ) -> web.StreamResponse:
        """Refuse what does not come from our own page, and say little about why."""
        view = self._access.view(request.match_info.get("token", ""))
        if view is None or not self._access.knows_host(request.headers.get("Host", "")):
            return web.Response(status=403, text=REFUSED, headers=_HEADERS)
        request["view"] = view
        return await handler(request)

    async def _page(self, request: web.Request) -> web.StreamResponse:
        text = (PAGE / "index.html").read_text("utf-8").replace("{title}", html.escape(self._title))
        kind = "read-only" if request["view"] in self._read_only else ""
        text = text.replace("{kind}", kind)
        return web.Response(text=text, content_type="text/html", headers=_HEADERS)

    async def _file(self, request: web.Request) -> web.StreamResponse:
        wanted = request.match_info["file"]
        # Only what is there: no path of the request ever becomes one of the disk.
        for file in (*PAGE.glob("*.*"), *PAGE.glob("*/*.*")):
            if file.relative_to(PAGE).as_posix() == wanted and file.suffix in _TYPES:
                body = await asyncio.to_thread(file.read_bytes)
                kind = _TYPES[file.suffix]
                return web.Response(body=body, content_type=kind, charset="utf-8", headers=_HEADERS)
        return web.Response(status=404, text="Not found.", headers=_HEADERS)

    async def _tab(self, request: web.Request) -> web.StreamResponse:
        host = request.headers.get("Host", "")
        if not self._access.knows_origin(request.headers.get("Origin", ""), host):
            return web.Response(status=403, text=REFUSED, headers=_HEADERS)
        name, size = request.query.get("name", ""), _asked_size(request.query.get("size", ""))
        if size is None or not (name.isascii() and name.isalnum() and len(name) == 32):
            return web.Response(status=400, text="Version changed. Reload the page.")
        connection = web.WebSocketResponse(
            heartbeat=HEARTBEAT_SECONDS, max_msg_size=LONGEST_MESSAGE, compress=False
        )
        await connection.prepare(request)
        self._connections.add(connection)
        try:
            await self._serve(connection, TabKey(request["view"], name), size)
        finally:
            self._connections.discard(connection)
        return connection

    async def _serve(self, connection: web.WebSocketResponse, key: TabKey, size: Size) -> None:
        try:
            tab = await self._tabs.open(key, size)
        except OllmError as error:
            reason = visible(f"{error.message} ({error.hint})")
            await connection.close(code=REFUSED_CODE, message=reason.encode()[:120])
            return
        page = tab.attach(connection, size)
        try:
            async for message in connection:
                if message.type is WSMsgType.BINARY:
                    await tab.type(message.data)
                elif message.type is WSMsgType.TEXT:
                    _obey(tab, page, message.data)
        finally:
            tab.detach(page)
            self._tabs.leave(key)


def _obey(tab: BrowserTab, page: Page, text: str) -> None:
    try:
        order = msgspec.json.decode(text, type=_Order)
    except msgspec.MsgspecError as error:
        log.info("a page said what nobody understands: %s", error)
        return
    if order.size and (size := _size(*order.size)):
        tab.resize(page, size)
    if order.read > 0:
        tab.note_read(page, order.read)


def _asked_size(words: str) -> Size | None:
    """Return the size in words such as 80x24; None if that is none."""
    columns, _, rows = words.partition("x")
    if not (columns + rows).isdecimal() or not columns or not rows or len(words) > 9:
        return None
    return _size(int(columns), int(rows))


def _size(columns: int, rows: int) -> Size | None:
    size = Size(columns, rows)
    return size if all(0 < each <= LARGEST for each in size) else None
