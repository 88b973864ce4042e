"""The HTTP connection to a model server: timeouts, retries before the first byte, and failures
as the program's errors. Closing an answer closes its socket, so that the server stops.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any, NamedTuple, NoReturn, TypeVar

import httpx
import msgspec

from ollm_tui.core.address import is_this_machine
from ollm_tui.core.errors import AuthFailed, BadAnswer, ProviderError, Unavailable
from ollm_tui.core.provider import Presence
from ollm_tui.providers.wire.http_errors import (
    OVERLOADED,
    Refusal,
    delay_in,
    kinds_in,
    message_in,
    message_of,
    one_line,
    refusal_error,
    status_of,
)
from ollm_tui.providers.wire.json_lines import (
    MAX_LINE_BYTES,
    EventReader,
    LineSplitter,
    Tree,
    UnreadableError,
    as_tree,
    decode_json,
)

CONNECT_SECONDS = 3.0
ASK_SECONDS = 15.0
"""How long the server may be silent after a short question, such as for its models."""
TRIES = 3
RETRY_SECONDS = 0.4
"""The wait before the second try, with some chance in it; it doubles with each try."""
SHORT_WAIT_SECONDS = 2.0
"""A wait that the server asks for and that nobody needs to be told of. With a longer one the
request fails at once: whoever sent it can show the wait, and end it."""
MAX_ERROR_BYTES = 64 * 1024
DRAIN_SECONDS = 0.2
REST_SECONDS = 0.05
"""How long nothing is read after a chunk of an answer: a frame of the screen."""
AT_ONCE_SECONDS = 0.002
"""What is read so soon after a rest was there already."""
MAX_PORT = 65535

_OK = 200
_PASSING_STATUS = frozenset({408, 409, 429, 502, 503, 504, OVERLOADED})
_NO_ADDRESS = (httpx.InvalidURL, UnicodeError)
"""Raised for addresses that are invalid; UnicodeError by the resolver, for some host names."""
_BROKEN = (httpx.NetworkError, httpx.RemoteProtocolError)

_MILLISECONDS = 1000.0
DONE = b"[DONE]"
"""The last event of some servers."""

E = TypeVar("E")
Sign = Callable[[str, str, bytes], Awaitable[Mapping[str, str]]]
"""Returns further headers of a request from its method, its address and its body."""


class _Asked(NamedTuple):
    """One request."""

    method: str
    path: str
    body: Mapping[str, Any] | None
    read_seconds: float
    headers: Mapping[str, str] | None = None


class _PassingError(Exception):
    """A failure that may pass, before anything of the answer has arrived: worth another try."""

    def __init__(self, error: ProviderError, wait_seconds: float | None = None) -> None:
        super().__init__()
        self.error = error
        self.wait_seconds = wait_seconds


class RefusedError(Exception):
    """The server refused a request; a caller may look at the reason and ask for less."""

    def __init__(self, refusal: Refusal, error: ProviderError) -> None:
        super().__init__()
        self.refusal = refusal
        self.error = error


class Connection:
    """The connection to one server; the HTTP client is made at the first request."""

    def __init__(
        self,
        *,
        server: str,
        base_url: str,
        api_key: str | None = None,
        inactivity_seconds: float = 120.0,
        keepalive: bool = True,
        headers: Mapping[str, str] | None = None,
        down_hint: str = "check the address and the network",
        retry_seconds: float = RETRY_SECONDS,
        sign: Sign | None = None,
        open_headers: Mapping[str, str] | None = None,
    ) -> None:
        """`headers` may hold keys, so that their values are never shown; `open_headers` hold
        none."""
        self.server = server
        self.base_url = base_url
        self._inactivity_seconds = inactivity_seconds
        self._keepalive = keepalive
        self._headers = dict(headers or {})
        self._open_headers = dict(open_headers or {})
        if api_key and api_key.strip():
            self._headers["Authorization"] = f"Bearer {api_key.strip()}"
        self._down_hint = down_hint
        self._retry_seconds = retry_seconds
        self._sign = sign
        self._client: httpx.AsyncClient | None = None

    async def lines(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        headers: Mapping[str, str] | None = None,
        silence: float | None = None,
    ) -> AsyncGenerator[bytes, None]:
        """Send a POST request and yield the lines of the answer. RefusedError if it is refused."""
        splitter = LineSplitter()
        async with aclosing(self.pieces(path, body, headers=headers, silence=silence)) as pieces:
            async for piece in pieces:
                try:
                    lines = splitter.feed(piece)
                except UnreadableError as error:
                    raise self.bad_answer(str(error)) from error
                for line in lines:
                    yield line
        for line in splitter.finish():
            yield line

    async def pieces(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        headers: Mapping[str, str] | None = None,
        silence: float | None = None,
    ) -> AsyncGenerator[bytes, None]:
        """Send a POST request and yield the bytes of the answer as they come. `silence` is how
        many seconds the server may be silent, if that is more than usual. RefusedError if it is
        refused."""
        asked = _Asked("POST", path, body, max(self._inactivity_seconds, silence or 0), headers)
        async with self._answer(asked) as chunks:
            async for chunk in chunks:
                yield chunk

    async def events(
        self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator[Tree, None]:
        """Send a POST request and yield the objects of its server-sent events, to the end of the
        stream or to `[DONE]`. BadAnswer for what is none, RefusedError if it is refused."""
        reader = EventReader()
        async with aclosing(self.lines(path, body, headers=headers)) as lines:
            async for line in lines:
                data = reader.feed(line)
                if data is not None and data != DONE:
                    yield self._object(data)
        if rest := reader.finish():
            yield self._object(rest)

    async def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a short request and return the JSON answer. ProviderError if that fails."""
        return await self._ask(method, path, body, ASK_SECONDS)

    async def tell(self, method: str, path: str, body: Mapping[str, Any]) -> None:
        """Send a short request whose answer says nothing. ProviderError if that fails."""
        try:
            await self._json(method, path, body)
        except RefusedError as refused:
            raise refused.error from None
        except UnreadableError:
            pass  # an empty answer

    async def ask_long(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Like `ask`, for what takes the server as long as an answer."""
        return await self._ask(method, path, body, self._inactivity_seconds)

    async def _ask(
        self, method: str, path: str, body: Mapping[str, Any] | None, seconds: float
    ) -> Any:
        try:
            return await self._json(method, path, body, seconds)
        except RefusedError as refused:
            raise refused.error from None
        except UnreadableError as error:
            raise self.bad_answer(str(error)) from error

    async def ask_if_there(
        self, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> Any | None:
        """Like `ask`, but None if the server refuses the request or sends no JSON."""
        try:
            return await self._json(method, path, body)
        except (UnreadableError, RefusedError):
            return None

    async def presence(self, path: str, seconds: float) -> Presence:
        """Return whether the server answers in time; tried once, never raises."""
        try:
            async with asyncio.timeout(seconds):
                response = await (await self._opened()).get(path)
            return "there" if response.status_code == _OK else "absent"
        except (TimeoutError, httpx.TimeoutException):
            return "late"
        except (httpx.HTTPError, ProviderError, *_NO_ADDRESS):
            return "absent"

    @property
    def remote_host(self) -> str | None:
        """The machine that gets what is sent; None if it is this one."""
        if is_loopback(self.base_url):
            return None
        return one_line(host_of(self.base_url)) or self.server

    async def close(self) -> None:
        """Close the sockets that are kept open."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def bad_answer(self, what: str) -> BadAnswer:
        """Return the error for an answer that cannot be read; `what` may be the server's words."""
        return BadAnswer(
            f"unreadable answer from {self.server}: {self.foreign(what)}",
            "send again; if it persists, check the provider's kind",
        )

    def foreign(self, text: str) -> str:
        """Return the server's words as one safe line, without keys that it may have repeated."""
        for value in self._headers.values():
            secret = value.removeprefix("Bearer ")
            if len(secret) >= 8:  # a shorter value may stand in any sentence
                text = text.replace(secret, "[key]")
        return one_line(text)

    def stream_error(self, tree: Tree) -> ProviderError:
        """Return the error that came inside a stream."""
        said = self.foreign(message_in(tree))
        kind = " ".join(kinds_in(tree))
        return refusal_error(self.server, Refusal(status_of(tree), said, delay_in(tree), kind))

    def cut_off(self) -> Unavailable:
        """Return the error for a stream that ended before its end."""
        return Unavailable(
            f"{self.server} stopped in the middle of the answer",
            "send again; the text so far is kept",
        )

    def _object(self, data: bytes) -> Tree:
        try:
            tree = decode_json(data)
        except UnreadableError as error:
            raise self.bad_answer(str(error)) from error
        if not isinstance(tree, dict):
            raise self.bad_answer("an event that is no object")
        return as_tree(tree)

    async def _json(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        seconds: float = ASK_SECONDS,
    ) -> Any:
        data = bytearray()
        async with self._answer(_Asked(method, path, body, seconds)) as chunks:
            async for chunk in chunks:
                data += chunk
                if len(data) > MAX_LINE_BYTES:
                    raise UnreadableError("too long")
        return decode_json(bytes(data))

    @asynccontextmanager
    async def _answer(self, asked: _Asked) -> AsyncGenerator[AsyncIterator[bytes], None]:
        response, first, rest = await self._first_bytes(asked)

        async def chunks() -> AsyncGenerator[bytes, None]:
            yield first
            loop = asyncio.get_running_loop()
            rested_at = loop.time()
            async for chunk in rest:
                yield chunk
                # What comes during a rest is read together, which costs half of reading each token
                # when it comes. A chunk that had to be waited for is never held back.
                if loop.time() - rested_at > AT_ONCE_SECONDS:
                    await asyncio.sleep(REST_SECONDS)
                    rested_at = loop.time()

        try:
            yield chunks()
        except httpx.TimeoutException as error:
            raise self._silent(asked.read_seconds) from error
        except httpx.HTTPError as error:
            raise Unavailable(
                f"the connection to {self.server} broke in the middle of the answer",
                "send again; the text so far is kept",
            ) from error
        finally:
            await response.aclose()

    async def _first_bytes(
        self, asked: _Asked
    ) -> tuple[httpx.Response, bytes, AsyncIterator[bytes]]:
        """Return an answer that has begun; only up to here a request is tried again."""
        for attempt in range(1, TRIES + 1):
            try:
                return await self._try(asked)
            except _PassingError as failure:
                wait = failure.wait_seconds
                if wait is None:
                    backoff = self._retry_seconds * 2 ** (attempt - 1)
                    # Some chance, so that clients that failed together do not return together.
                    wait = backoff * random.uniform(0.75, 1.25)
                if attempt == TRIES or wait > SHORT_WAIT_SECONDS:
                    raise failure.error from failure.__cause__
            await asyncio.sleep(wait)
        raise AssertionError("the last try returns or raises")

    async def _try(self, asked: _Asked) -> tuple[httpx.Response, bytes, AsyncIterator[bytes]]:
        client = await self._opened()
        try:
            content = None if asked.body is None else msgspec.json.encode(asked.body)
            request = client.build_request(
                asked.method,
                asked.path,
                content=content,
                timeout=_timeout(asked.read_seconds),
                headers=asked.headers,
            )
            if self._sign:
                signed = await self._sign(asked.method, str(request.url), content or b"")
                request.headers.update(signed)
            response = await client.send(request, stream=True)
            try:
                if response.status_code != _OK:
                    await self._refuse(response)
                rest = response.aiter_bytes()
                # Waiting for the first byte here makes a failure before it worth another try.
                return response, await anext(rest, b""), rest
            except BaseException:
                await response.aclose()
                raise
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            down = Unavailable(
                f"{self.server} does not answer at {self._shown_address()}", self._down_hint
            )
            raise _PassingError(down) from error
        except _BROKEN as error:
            broke = Unavailable(f"{self.server} closed the connection", self._down_hint)
            raise _PassingError(broke) from error
        except httpx.TimeoutException as error:
            raise self._silent(asked.read_seconds) from error
        except (httpx.HTTPError, *_NO_ADDRESS) as error:
            raise self._bad_address() from error

    async def _refuse(self, response: httpx.Response) -> NoReturn:
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) >= MAX_ERROR_BYTES:
                break
        data = bytes(body[:MAX_ERROR_BYTES])
        said = self.foreign(message_of(data))
        try:
            tree = decode_json(data)
        except UnreadableError:
            tree = None
        retry_after = wait_asked(response.headers)
        if retry_after is None:
            retry_after = delay_in(tree)
        # Amazon names the kind of an error in a header.
        kind = " ".join([*kinds_in(tree), response.headers.get("x-amzn-errortype", "")])
        refusal = Refusal(response.status_code, said, retry_after, kind)
        error = refusal_error(self.server, refusal)
        told_not_to = response.headers.get("x-should-retry") == "false"
        is_passing = refusal.status in _PASSING_STATUS and not isinstance(error, AuthFailed)
        if is_passing and not told_not_to:
            raise _PassingError(error, retry_after)
        raise RefusedError(refusal, error)

    async def _opened(self) -> httpx.AsyncClient:
        """Return the client. The first is made in a thread: that loads fifty modules, and the
        certificates, while the user may be typing."""
        if self._client is None:
            made = await asyncio.to_thread(self._make_client)
            self._client = self._client or made  # another request may have been quicker
        return self._client

    def _make_client(self) -> httpx.AsyncClient:
        if not all(v.isascii() and v.isprintable() for v in self._headers.values()):
            raise AuthFailed(
                f"the key of {self.server} has invalid characters",
                "set the key again, without quotes or line breaks",
            )
        try:
            # A port too large would come out of the resolver as a group of exceptions.
            if (httpx.URL(self.base_url).port or 0) > MAX_PORT:
                raise self._bad_address()
            return self._new_client(is_loopback(self.base_url))
        except _NO_ADDRESS as error:
            raise self._bad_address() from error

    def _new_client(self, here: bool) -> httpx.AsyncClient:
        kept = None if self._keepalive else 0
        return httpx.AsyncClient(
            base_url=self.base_url,
            # identity: a compressing server would hold words back until its block is full
            headers={
                **self._open_headers,
                **self._headers,
                "Content-Type": "application/json",
                "Accept-Encoding": "identity",
            },
            timeout=_timeout(self._inactivity_seconds),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=kept),
            # a redirect could carry the key to another host
            follow_redirects=False,
            # no proxy stands between the program and its own machine
            trust_env=not here,
            # loading certificates takes longer than the whole request; plain http has none
            verify=not (here and self.base_url.startswith("http:")),
        )

    def _silent(self, seconds: float) -> Unavailable:
        return Unavailable(
            f"{self.server} sent nothing for {seconds:g} seconds",
            "send again, choose a smaller model, or allow more: timeoutSeconds of this provider",
        )

    def _bad_address(self) -> Unavailable:
        return Unavailable(
            f"invalid address {self._shown_address()}",
            f"correct the baseUrl of {self.server}",
        )

    def _shown_address(self) -> str:
        """Return the address without user name and password."""
        scheme, _, rest = self.base_url.partition("://")
        return one_line(f"{scheme}://{rest.rpartition('@')[2]}")


async def until_accepted(
    make_body: Callable[[], Awaitable[Tree]],
    send: Callable[[Tree], AsyncGenerator[E, None]],
    leave_out: Callable[[RefusedError, Tree], Awaitable[None]],
) -> AsyncGenerator[E, None]:
    """Send a request and yield its events; a refused request is made anew and sent again.

    `leave_out` notes what the next body has to do without, or raises if that would not help.
    """
    while True:
        body = await make_body()
        try:
            async with aclosing(send(body)) as events:
                async for event in events:
                    yield event
            return
        except RefusedError as refused:
            await leave_out(refused, body)


async def drain(rest: AsyncIterator[object]) -> None:
    """Read what follows the end of an answer if it comes soon: only a connection whose answer
    was read to the end can be used again.
    """
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in rest:
                pass
    except (TimeoutError, ProviderError):
        pass


def with_scheme(address: str) -> str:
    """Return an address with a scheme, from what people write ("localhost:11434", "0.0.0.0/")."""
    address = address.strip().rstrip("/")
    if "://" not in address:
        address = f"http://{address}"
    return address


def host_of(address: str) -> str:
    """Return the host of an address; empty if there is none."""
    try:
        return httpx.URL(address).host
    except httpx.InvalidURL:
        return ""


def is_loopback(base_url: str) -> bool:
    """Return whether an address is this machine's own."""
    return is_this_machine(host_of(base_url))


def _timeout(read_seconds: float) -> httpx.Timeout:
    return httpx.Timeout(read_seconds, connect=CONNECT_SECONDS, pool=None)


def wait_asked(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait that the headers of a refusal ask for; None if they ask for
    none. Retry-After is a number of seconds or a date."""
    for name in ("retry-after-ms", "x-amz-retry-after"):
        found = _number(headers.get(name))
        if found is not None:
            return found / _MILLISECONDS
    said = headers.get("retry-after")
    seconds = _number(said)
    if seconds is not None or not said:
        return seconds
    try:
        return max(0.0, (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text else None
    except ValueError:
        return None
    return None if number is None or not isfinite(number) else max(0.0, number)
