"""Stands in for Anthropic's Messages API, as its own client library understands it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from tests.stand_ins.http_server import Handler, Reply, Request
from tests.stand_ins.openai_server import refusing

MODEL = "claude-sonnet-4-5"
SIGNATURE = "EqQBCkYIBhgCKkC+/=="
PRICED_USAGE = {
    "input_tokens": 11,
    "cache_creation_input_tokens": 100,
    "cache_read_input_tokens": 1000,
    "output_tokens": 1,
}


def event(tree: dict[str, Any]) -> bytes:
    """One server-sent event, named by its type."""
    data = json.dumps(tree, ensure_ascii=False)
    return f"event: {tree['type']}\ndata: {data}\n\n".encode()


def started(usage: dict[str, int] | None = None) -> bytes:
    """The first event of an answer."""
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage or {"input_tokens": 7, "output_tokens": 1},
    }
    return event({"type": "message_start", "message": message})


def block(index: int, start: dict[str, Any], deltas: Iterable[dict[str, Any]]) -> bytes:
    """One block of an answer, from its beginning to its end."""
    pieces = [{"type": "content_block_start", "index": index, "content_block": start}]
    pieces += [{"type": "content_block_delta", "index": index, "delta": d} for d in deltas]
    return b"".join(map(event, [*pieces, {"type": "content_block_stop", "index": index}]))


def text(index: int, *words: str) -> bytes:
    """A block of text."""
    deltas = [{"type": "text_delta", "text": word} for word in words]
    return block(index, {"type": "text", "text": ""}, deltas)


def thinking(index: int, *words: str, signature: str = SIGNATURE) -> bytes:
    """A block of thinking with its signature."""
    deltas = [{"type": "thinking_delta", "thinking": word} for word in words]
    deltas.append({"type": "signature_delta", "signature": signature})
    return block(index, {"type": "thinking", "thinking": "", "signature": ""}, deltas)


def tool_use(index: int, call_id: str, name: str, *pieces: str) -> bytes:
    """A block with a call, its arguments in pieces."""
    start: dict[str, Any] = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    return block(index, start, [{"type": "input_json_delta", "partial_json": p} for p in pieces])


def ended(stop: str = "end_turn", **usage: Any) -> bytes:
    """The last events of an answer."""
    delta = {"stop_reason": stop, "stop_sequence": None}
    end = {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5, **usage}}
    return event(end) + event({"type": "message_stop"})


def error(kind: str, message: str = "it failed") -> bytes:
    """An error inside a stream."""
    return event({"type": "error", "error": {"type": kind, "message": message}})


PING = event({"type": "ping"})


def model_entry(name: str = MODEL, **fields: Any) -> dict[str, Any]:
    """An entry of the list of models."""
    yes, no = {"supported": True}, {"supported": False}
    capabilities = {
        "thinking": {"supported": True, "types": {"adaptive": yes, "enabled": no}},
        "image_input": yes,
    }
    return {
        "id": name,
        "type": "model",
        "display_name": name,
        "created_at": "2026-01-01T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": 200_000,
        "max_tokens": 64_000,
        "capabilities": capabilities,
        **fields,
    }


def anthropic(
    pieces: Sequence[bytes], *, models: Sequence[dict[str, Any]] = (), tokens: int | None = None
) -> Handler:
    """A server that answers with these pieces, and knows these models and this count."""
    missing = refusing(404, {"type": "error", "error": {"type": "not_found_error"}})

    async def handle(request: Request, reply: Reply) -> None:
        path = request.path.partition("?")[0]
        if path == "/v1/messages":
            for piece in pieces:
                await reply.chunk(piece)
            await reply.end()
        elif path == "/v1/messages/count_tokens" and tokens is not None:
            await reply.json({"input_tokens": tokens})
        elif path == "/v1/models" and models:
            await reply.json({"data": list(models), "has_more": False})
        elif found := [m for m in models if path == f"/v1/models/{m['id']}"]:
            await reply.json(found[0])
        else:
            await missing(request, reply)

    return handle
