"""A small HTTP/1.1 server of the tests' own, which can also break in every way wanted."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec


class Request(msgspec.Struct, frozen=True):
    """What a client asked."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        """The body as an object; an empty one if there is no body."""
        return json.loads(self.body) if self.body else {}


class Reply:
    """The server's side of one exchange."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._began = False
        self.gone = asyncio.Event()
        """Set when the client has closed its side."""

    async def json(
        self, tree: Any, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        """A whole JSON answer."""
        await self.whole(json.dumps(tree).encode(), status, headers)

    async def whole(
        self, body: bytes, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        """A whole answer."""
        lines = {"Content-Length": str(len(body)), **(headers or {})}
        await self._head(status, lines)
        await self._write(body)

    async def raw(self, data: bytes) -> None:
        """Bytes as they are."""
        await self._write(data)

    async def chunk(self, data: bytes) -> None:
        """A piece of a streamed answer; the first one sends the head."""
        if not self._began:
            await self._head(200, {"Transfer-Encoding": "chunked"})
        if data:
            await self._write(b"%x\r\n%b\r\n" % (len(data), data))

    async def end(self) -> None:
        """The proper end of a streamed answer."""
        await self.chunk(b"")
        await self._write(b"0\r\n\r\n")

    def reset(self) -> None:
        """Break the connection as a dying server does."""
        linger = struct.pack("ii", 1, 0)
        raw = self._writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self._writer.transport.abort()

    async def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self._began = True
        lines = [f"HTTP/1.1 {status} -", *(f"{k}: {v}" for k, v in headers.items()), "", ""]
        await self._write("\r\n".join(lines).encode())

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()


Handler = Callable[[Request, Reply], Awaitable[None]]


class HttpServer:
    """Hands each request to a handler and remembers it. Use it with `async with`."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._tasks: set[asyncio.Task[None]] = set()
        self.requests: list[Request] = []
        self.connections = 0
        self.url = ""

    async def __aenter__(self) -> HttpServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            while True:
                await self._exchange(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await _read(reader)
        self.requests.append(request)
        reply = Reply(writer)
        watch = asyncio.create_task(_notice_end(reader, reply.gone))
        try:
            await self._handler(request, reply)
        finally:
            watch.cancel()
            await asyncio.wait({watch})  # or it would still be reading with the next request


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    method, path, _ = head[0].split(" ")
    headers = {
        k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path, headers, body)


async def _notice_end(reader: asyncio.StreamReader, gone: asyncio.Event) -> None:
    """Our clients send nothing before they have their answer: what can be read is the end."""
    try:
        if await reader.read(1) == b"":
            gone.set()
    except ConnectionError:
        gone.set()
