"""Chat completions when the server fails: every fault is an error with a hint."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from ollm_tui.core.errors import (
    AuthFailed,
    BadAnswer,
    ModelMissing,
    OverLimit,
    ProviderError,
    RateLimited,
    Unavailable,
)
from ollm_tui.core.provider import StreamEvent, TextDelta
from ollm_tui.providers.openai_chat import OpenAICompatible
from tests.stand_ins.collected_events import ask, collect, text_of, until_error
from tests.stand_ins.http_server import Handler, HttpServer, Reply, Request
from tests.stand_ins.openai_server import (
    chunk,
    event,
    one_after_the_other,
    refusing,
    reset_after,
    reset_at_once,
    streaming,
    text_answer,
)

HI = event(chunk({"content": "Hi"}))


def provider_for(server: HttpServer) -> OpenAICompatible:
    return OpenAICompatible(
        name="test", base_url=server.url, api_key="sk-secret-key", retry_seconds=0
    )


async def failure(handler: Handler) -> tuple[list[StreamEvent], ProviderError]:
    """What arrived, and the error after it."""
    async with HttpServer(handler) as server:
        provider = provider_for(server)
        got, error = await until_error(provider.stream(ask()))
        await provider.close()
    assert error.hint
    return got, error


@pytest.mark.parametrize(
    ("handler", "kind"),
    [
        (refusing(401, {"error": {"message": "no"}}), AuthFailed),
        (refusing(404, {"error": {"message": "model not found"}}), ModelMissing),
        (refusing(429, {"error": "slow"}), RateLimited),
        (refusing(500, {"error": "oops"}), Unavailable),
        (refusing(400, {"error": {"type": "exceed_context_size_error"}}), OverLimit),
        (reset_at_once, Unavailable),
        (streaming([b""]), BadAnswer),
        (streaming([b"<html>a web page</html>"]), BadAnswer),
    ],
)
async def test_a_request_that_fails_says_why(handler: Handler, kind: type[ProviderError]) -> None:
    got, error = await failure(handler)
    assert got == []
    assert type(error) is kind


@pytest.mark.parametrize(
    ("handler", "kind"),
    [
        (reset_after(HI), Unavailable),
        (streaming([HI]), Unavailable),
        (streaming([HI, b'data: {"choices": [{"del\n\n']), BadAnswer),
        (streaming([HI, b"data: 7\n\n"]), BadAnswer),
        (streaming([HI, event({"error": {"message": "died", "code": 502}})]), Unavailable),
        (streaming([HI, event({"error": {"message": "slow", "code": 429}})]), RateLimited),
        (streaming([HI, event({"error": "prompt exceeds the window"})]), OverLimit),
        (streaming([HI, b'error: {"error": {"code": 500, "message": "x"}}\n\n']), Unavailable),
    ],
)
async def test_what_had_arrived_is_kept_when_an_answer_breaks(
    handler: Handler, kind: type[ProviderError]
) -> None:
    got, error = await failure(handler)
    assert got == [TextDelta("Hi")]
    assert type(error) is kind


async def test_a_busy_server_is_asked_again_when_it_said() -> None:
    busy: Any = refusing(429, {}, **{"Retry-After": "0"})
    async with HttpServer(one_after_the_other([busy, streaming([text_answer("Hi")])])) as server:
        provider = provider_for(server)
        assert text_of(await collect(provider, ask())) == "Hi"
        await provider.close()
    assert len(server.requests) == 2


async def test_controls_in_an_error_do_not_get_through() -> None:
    said = "bad\x1b]0;title\x07 \u202eword\nsecond sk-secret-key"
    _, error = await failure(refusing(400, {"error": {"message": said}}))
    assert error.message == "test refused the request: bad word second [key]"


async def test_closing_the_answer_stops_the_server() -> None:
    left = asyncio.Event()

    async def endless(request: Request, reply: Reply) -> None:
        try:
            while not reply.gone.is_set():
                await reply.chunk(HI)
        finally:
            left.set()

    async with HttpServer(endless) as server:
        provider = provider_for(server)
        async with aclosing(provider.stream(ask())) as answer:
            assert await anext(answer) == TextDelta("Hi")
        await left.wait()
        await provider.close()
