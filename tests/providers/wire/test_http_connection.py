"""Retries, time-outs, keys and cancelling, below all providers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

import pytest

from ollm_tui.core.errors import (
    AuthFailed,
    BadAnswer,
    ProviderError,
    RateLimited,
    Unavailable,
)
from ollm_tui.providers.wire.http import Connection, RefusedError, is_loopback
from tests.stand_ins.collected_events import until_error
from tests.stand_ins.http_server import Handler, HttpServer, Reply, Request
from tests.stand_ins.openai_server import (
    answering,
    never_answer,
    one_after_the_other,
    refusing,
    reset_after,
    reset_at_once,
    streaming,
)

KEY = "sk-very-secret-key"


Connect = Callable[..., Connection]


@pytest.fixture
async def connect() -> AsyncGenerator[Connect, None]:
    """Makes connections, and closes them when the test is over."""
    made: list[Connection] = []

    def new(url: str, **fields: Any) -> Connection:
        fields.setdefault("retry_seconds", 0)
        made.append(Connection(server="S", base_url=url, **fields))
        return made[-1]

    yield new
    for connection in made:
        await connection.close()


OK = streaming([b"one\ntw", b"o\n"])


@pytest.mark.parametrize(
    "fault",
    [reset_at_once, *(refusing(status, {}) for status in (429, 502, 503, 504))],
)
async def test_a_passing_fault_before_the_first_byte_is_tried_again(
    fault: Handler, connect: Connect
) -> None:
    async with HttpServer(one_after_the_other([fault, fault, OK])) as server:
        got = [line async for line in connect(server.url).lines("/x", {})]
    assert got == [b"one", b"two"]
    assert len(server.requests) == 3


async def test_after_three_tries_it_is_over(connect: Connect) -> None:
    async with HttpServer(refusing(503, {"error": "busy"})) as server:
        connection = connect(server.url)
        with pytest.raises(Unavailable, match="busy"):
            await connection.ask("GET", "/x")
        assert len(server.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 404, 500])
async def test_a_real_refusal_is_not_tried_again(status: int, connect: Connect) -> None:
    async with HttpServer(refusing(status, {})) as server:
        with pytest.raises(RefusedError):
            await anext(connect(server.url).lines("/x", {}))
        assert len(server.requests) == 1


async def test_nothing_is_tried_again_after_the_first_byte(connect: Connect) -> None:
    async with HttpServer(reset_after(b"one\n")) as server:
        got, error = await until_error(connect(server.url).lines("/x", {}))
        assert got == [b"one"]
        assert "middle" in error.message
        assert len(server.requests) == 1


async def test_a_short_retry_after_is_waited_for(connect: Connect) -> None:
    busy = refusing(429, {}, **{"Retry-After": "0"})
    async with HttpServer(one_after_the_other([busy, OK])) as server:
        connection = connect(server.url, retry_seconds=1e9)
        assert [line async for line in connection.lines("/x", {})] == [b"one", b"two"]


async def test_a_long_retry_after_is_left_to_the_user(connect: Connect) -> None:
    async with HttpServer(refusing(429, {}, **{"Retry-After": "3600"})) as server:
        with pytest.raises(RateLimited) as caught:
            await connect(server.url).ask("GET", "/x")
        assert caught.value.retry_after == 3600
        assert len(server.requests) == 1


async def test_a_silent_server_is_given_up_and_not_asked_again(connect: Connect) -> None:
    async with HttpServer(never_answer) as server:
        with pytest.raises(Unavailable, match=r"nothing for 0\.05 seconds"):
            await anext(connect(server.url, inactivity_seconds=0.05).lines("/x", {}))
        assert len(server.requests) == 1


async def test_silence_in_the_middle_of_an_answer_ends_it(connect: Connect) -> None:
    async def stall(request: Request, reply: Reply) -> None:
        await reply.chunk(b"one\n")
        await reply.gone.wait()

    async with HttpServer(stall) as server:
        answer = connect(server.url, inactivity_seconds=0.05).lines("/x", {})
        assert await anext(answer) == b"one"
        with pytest.raises(Unavailable, match="nothing for"):
            await anext(answer)


class Leaving:
    """Sends a line, then notices when the client has left."""

    def __init__(self) -> None:
        self.left = asyncio.Event()
        self.asked = asyncio.Event()

    async def __call__(self, request: Request, reply: Reply) -> None:
        self.asked.set()
        if request.path == "/stream":
            await reply.chunk(b"one\n")
        await reply.gone.wait()
        self.left.set()


async def test_closing_the_answer_closes_the_connection(connect: Connect) -> None:
    handler = Leaving()
    async with HttpServer(handler) as server:
        async with aclosing(connect(server.url).lines("/stream", {})) as answer:
            assert await anext(answer) == b"one"
        await handler.left.wait()


@pytest.mark.parametrize("path", ["/stream", "/silent"])
async def test_cancelling_the_task_closes_the_connection(path: str, connect: Connect) -> None:
    handler = Leaving()

    async def read(connection: Connection) -> None:
        async for _ in connection.lines(path, {}):
            pass

    async with HttpServer(handler) as server:
        task = asyncio.create_task(read(connect(server.url)))
        await handler.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await handler.left.wait()


async def test_a_finished_connection_is_used_again(connect: Connect) -> None:
    async with HttpServer(OK) as server:
        connection = connect(server.url)
        for _ in range(3):
            assert [line async for line in connection.lines("/x", {})] == [b"one", b"two"]
        assert server.connections == 1


async def test_without_keepalive_every_request_has_its_own_connection(connect: Connect) -> None:
    async with HttpServer(OK) as server:
        connection = connect(server.url, keepalive=False)
        for _ in range(3):
            assert [line async for line in connection.lines("/x", {})] == [b"one", b"two"]
        assert server.connections == 3


async def test_a_redirect_is_not_followed_with_the_key(connect: Connect) -> None:
    async with HttpServer(answering({})) as other:
        away = refusing(307, {}, Location=other.url)
        async with HttpServer(away) as server:
            with pytest.raises(Unavailable, match="redirects"):
                await connect(server.url, api_key=KEY).ask("GET", "/x")
        assert other.requests == []


async def test_the_key_is_sent_but_never_shown(connect: Connect) -> None:
    repeating = refusing(401, {"error": {"message": f"Incorrect API key: {KEY}."}})
    async with HttpServer(repeating) as server:
        with pytest.raises(AuthFailed) as caught:
            await connect(server.url, api_key=f" {KEY}\n").ask("GET", "/x")
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        assert KEY not in f"{caught.value.message} {caught.value.hint} {caught.value!r}"


async def test_a_key_that_cannot_be_sent_is_not_shown_either(connect: Connect) -> None:
    with pytest.raises(AuthFailed) as caught:
        await connect("http://127.0.0.1:9", api_key="sk-schlüssel").ask("GET", "/x")
    assert "schl" not in repr(caught.value)
    assert caught.value.__cause__ is None


async def test_a_proxy_never_stands_before_the_own_machine(
    monkeypatch: pytest.MonkeyPatch, connect: Connect
) -> None:
    async with HttpServer(answering({"from": "proxy"})) as proxy:
        for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        async with HttpServer(answering({"from": "server"})) as server:
            assert await connect(server.url).ask("GET", "/x") == {"from": "server"}


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1",
        "http://127.0.0.1:99999",
        "http://" + "a" * 80 + ".invalid",
        "http://[::1",
        "ftp://127.0.0.1",
        "http://",
        "http://user:secret-word@127.0.0.1:1",
    ],
)
async def test_an_address_where_nobody_answers_is_said_plainly(url: str, connect: Connect) -> None:
    connection = connect(url)
    with pytest.raises(Unavailable) as caught:
        await connection.ask("GET", "/x")
    assert caught.value.hint
    assert "secret-word" not in caught.value.message
    assert await connection.presence("/x", 0.2) == "absent"


async def test_reachability_is_yes_or_no(connect: Connect) -> None:
    async with HttpServer(one_after_the_other([answering({}), never_answer])) as server:
        connection = connect(server.url)
        assert await connection.presence("/x", 5) == "there"
        assert await connection.presence("/x", 0.05) == "late"


async def test_an_answer_that_is_no_json_is_a_bad_answer(connect: Connect) -> None:
    async with HttpServer(streaming([b"<html>"])) as server:
        connection = connect(server.url)
        with pytest.raises(BadAnswer):
            await connection.ask("GET", "/x")
        assert await connection.ask_if_there("GET", "/x") is None


async def test_a_huge_error_body_is_not_read_to_its_end(connect: Connect) -> None:
    async def endless(request: Request, reply: Reply) -> None:
        body = b"x" * 4096
        await reply.whole(body, 500, {"Content-Length": "999999999"})
        while not reply.gone.is_set():
            await reply.raw(body)

    async with HttpServer(endless) as server:
        with pytest.raises(ProviderError) as caught:
            await connect(server.url).ask("GET", "/x")
        assert len(caught.value.message) < 400


def test_loopback_is_recognised() -> None:
    here = ["http://localhost:1", "http://127.9.9.9", "http://[::1]:8", "http://a.localhost"]
    away = [
        "http://10.0.0.1",
        "https://api.example.com",
        "http://localhost.example.com",
        "http://[",
    ]
    assert all(is_loopback(url) for url in here)
    assert not any(is_loopback(url) for url in away)
