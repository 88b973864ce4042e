"""Stands in for servers of the chat completions kind."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from ollm_tui.providers.openai_chat import OpenAICompatible
from tests.stand_ins.http_server import Handler, HttpServer, Reply, Request

DONE = b"data: [DONE]\n\n"


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **beside: Any) -> Any:
    """One chunk of an answer."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "choices": [choice], **beside}


def event(tree: Any) -> bytes:
    """A server-sent event; characters beyond ASCII stand unescaped, as llama.cpp has them."""
    return b"data: " + json.dumps(tree, ensure_ascii=False).encode() + b"\n\n"


def text_answer(*words: str) -> bytes:
    """The bytes of a plain streamed answer, with usage in a chunk of its own at the end."""
    usage = {"prompt_tokens": 7, "completion_tokens": len(words)}
    return b"".join(
        [
            event(chunk({"role": "assistant", "content": ""}, model="m-1")),
            *(event(chunk({"content": word})) for word in words),
            event(chunk(finish="stop")),
            event({"choices": [], "usage": usage}),
            DONE,
        ]
    )


def streaming(pieces: Iterable[bytes]) -> Handler:
    """Answers everything with these pieces, one write each."""
    kept = list(pieces)

    async def handle(request: Request, reply: Reply) -> None:
        for piece in kept:
            await reply.chunk(piece)
        await reply.end()

    return handle


def refusing(status: int, tree: Any, **headers: str) -> Handler:
    """Answers everything with an error."""

    async def handle(request: Request, reply: Reply) -> None:
        await reply.json(tree, status, headers)

    return handle


async def reset_at_once(request: Request, reply: Reply) -> None:
    """Breaks the connection before the first byte."""
    reply.reset()


def reset_after(data: bytes) -> Handler:
    """Breaks the connection in the middle of the answer."""

    async def handle(request: Request, reply: Reply) -> None:
        await reply.chunk(data)
        reply.reset()

    return handle


async def never_answer(request: Request, reply: Reply) -> None:
    """Takes the request and stays silent until the client leaves."""
    await reply.gone.wait()


def one_after_the_other(handlers: Sequence[Handler]) -> Handler:
    """Each request meets the next handler; the last one stays."""
    left = list(handlers)

    async def handle(request: Request, reply: Reply) -> None:
        handler = left.pop(0) if len(left) > 1 else left[0]
        await handler(request, reply)

    return handle


def by_path(routes: dict[str, Handler]) -> Handler:
    """Different handlers at different addresses, 404 elsewhere."""
    missing = refusing(404, {"error": {"message": "File Not Found", "code": 404}})

    async def handle(request: Request, reply: Reply) -> None:
        await routes.get(request.path, missing)(request, reply)

    return handle


def answering(tree: Any) -> Handler:
    """Answers everything with this JSON."""

    async def handle(request: Request, reply: Reply) -> None:
        await reply.json(tree)

    return handle


@asynccontextmanager
async def served(
    handler: Handler, path: str = "/v1", **fields: Any
) -> AsyncGenerator[tuple[OpenAICompatible, HttpServer], None]:
    """A server with this handler, and a provider that talks to it."""
    async with HttpServer(handler) as server:
        provider = OpenAICompatible(
            name="test", base_url=server.url + path, api_key=None, retry_seconds=0, **fields
        )
        try:
            yield provider, server
        finally:
            await provider.close()
