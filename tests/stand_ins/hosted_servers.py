"""Stands in for OpenAI's Responses, Google's Gemini and Amazon's Bedrock."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any, cast
from zlib import crc32

from tests.stand_ins.http_server import Handler, Reply, Request
from tests.stand_ins.openai_server import event, refusing

Tree = dict[str, Any]

ENCRYPTED = "gAAAAABo+/=="
THOUGHT_SIGNATURE = "CiQBjz1rX0g="


def answering_at(routes: dict[str, Any]) -> Handler:
    """Answers by the end of the path: bytes are streamed in pieces, other values are JSON."""
    missing = refusing(404, {"error": {"message": "not found", "code": "not_found"}})

    async def handle(request: Request, reply: Reply) -> None:
        path = request.path.partition("?")[0]
        for ending, answer in routes.items():
            if path.endswith(ending):
                if isinstance(answer, list):
                    for piece in cast(list[bytes], answer):
                        await reply.chunk(piece)
                    await reply.end()
                else:
                    await reply.json(answer)
                return
        await missing(request, reply)

    return handle


# OpenAI's Responses


def response(*items: Tree, status: str = "completed", **fields: Any) -> Tree:
    """A response as it is at its end."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5.1",
        "status": status,
        "output": list(items),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "usage": {
            "input_tokens": 75,
            "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 0},
            "output_tokens": 9,
            "output_tokens_details": {"reasoning_tokens": 4},
            "total_tokens": 84,
        },
        **fields,
    }


def reasoning_item(text: str = "let me see") -> Tree:
    """Thinking with its encrypted content."""
    return {
        "id": "rs_1",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": text}],
        "encrypted_content": ENCRYPTED,
    }


def message_item(text: str = "Hello") -> Tree:
    """A message of the model."""
    content: Tree = {"type": "output_text", "text": text, "annotations": []}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [content],
    }


def call_item(number: int = 1, arguments: str = '{"at": "x"}') -> Tree:
    """A call of a tool."""
    return {
        "id": f"fc_{number}",
        "type": "function_call",
        "call_id": f"call_{number}",
        "name": "look",
        "arguments": arguments,
        "status": "completed",
    }


def _deltas(index: int, item: Tree) -> list[Tree]:
    where = {"item_id": item["id"], "output_index": index}
    match item["type"]:
        case "reasoning":
            text = item["summary"][0]["text"]
            part = {"type": "summary_text", "text": ""}
            return [
                {"type": "response.reasoning_summary_part.added", "summary_index": 0, "part": part}
                | where,
                {"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": text}
                | where,
            ]
        case "message":
            text = item["content"][0]["text"]
            part: Tree = {"type": "output_text", "text": "", "annotations": []}
            added: Tree = {"type": "response.content_part.added", "content_index": 0, "part": part}
            kind: Tree = {"type": "response.output_text.delta", "content_index": 0, "logprobs": []}
            pieces = [kind | where | {"delta": piece} for piece in (text[:2], text[2:])]
            return [added | where, *pieces]
        case _:
            whole = item["arguments"]
            kind = {"type": "response.function_call_arguments.delta"}
            return [kind | where | {"delta": piece} for piece in (whole[:3], whole[3:])]


def responses_stream(*items: Tree, last: str = "completed", **fields: Any) -> list[bytes]:
    """The events of an answer with these items."""
    whole = response(*items, status=last, **fields)
    began = {**response(status="in_progress"), "usage": None}
    events: list[Tree] = [{"type": "response.created", "response": began}]
    for index, item in enumerate(items):
        bare = {**item, "status": "in_progress"}
        bare |= {key: [] for key in ("summary", "content") if key in item}
        bare |= {key: "" for key in ("arguments",) if key in item}
        events.append({"type": "response.output_item.added", "output_index": index, "item": bare})
        events += _deltas(index, item)
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": f"response.{last}", "response": whole})
    return [event({**each, "sequence_number": n}) for n, each in enumerate(events)]


# Google's Gemini


def gemini_chunk(*parts: Tree, finish: str | None = None, **fields: Any) -> bytes:
    """A chunk of an answer."""
    candidate: Tree = {"index": 0, "content": {"role": "model", "parts": list(parts)}}
    if finish:
        candidate["finishReason"] = finish
    return event({"candidates": [candidate], "modelVersion": "gemini-3.5-flash", **fields})


GEMINI_USAGE = {
    "promptTokenCount": 75,
    "cachedContentTokenCount": 64,
    "candidatesTokenCount": 5,
    "thoughtsTokenCount": 4,
    "totalTokenCount": 84,
}


# Amazon's Bedrock


def frame(kind: str, content: Tree, message_type: str = "event") -> bytes:
    """One frame of the binary stream."""
    named = ":event-type" if message_type == "event" else ":exception-type"
    headers = {named: kind, ":content-type": "application/json", ":message-type": message_type}
    packed = b"".join(
        bytes([len(name)])
        + name.encode()
        + b"\x07"
        + struct.pack(">H", len(value))
        + value.encode()
        for name, value in headers.items()
    )
    payload = json.dumps(content).encode()
    prelude = struct.pack(">II", 16 + len(packed) + len(payload), len(packed))
    whole = prelude + struct.pack(">I", crc32(prelude)) + packed + payload
    return whole + struct.pack(">I", crc32(whole))


def bedrock_stream(*blocks: Sequence[Tree], stop: str = "end_turn") -> list[bytes]:
    """The frames of an answer; a block is its deltas, and a call begins with its start."""
    frames = [frame("messageStart", {"role": "assistant"})]
    for index, deltas in enumerate(blocks):
        for delta in deltas:
            where = {"contentBlockIndex": index}
            if "start" in delta:
                frames.append(frame("contentBlockStart", {**where, "start": delta["start"]}))
            else:
                frames.append(frame("contentBlockDelta", {**where, "delta": delta}))
        frames.append(frame("contentBlockStop", {"contentBlockIndex": index}))
    usage = {
        "inputTokens": 11,
        "outputTokens": 9,
        "totalTokens": 84,
        "cacheReadInputTokens": 64,
        "cacheWriteInputTokens": 0,
    }
    metadata = {"usage": usage, "metrics": {"latencyMs": 1}}
    return [*frames, frame("messageStop", {"stopReason": stop}), frame("metadata", metadata)]
