"""Anthropic's Messages: requests as they are sent, and answers as they come."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
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
from ollm_tui.core.model_card import ModelCard
from ollm_tui.core.provider import (
    Capabilities,
    Completed,
    Image,
    PromptMessage,
    Provider,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolCallArrived,
    ToolSpec,
)
from ollm_tui.core.session.message import Opaque, ToolCallPart, Usage
from ollm_tui.providers.anthropic import Anthropic
from tests.stand_ins.anthropic_server import (
    MODEL,
    PING,
    PRICED_USAGE,
    SIGNATURE,
    anthropic,
    block,
    ended,
    error,
    model_entry,
    started,
    text,
    thinking,
    tool_use,
)
from tests.stand_ins.collected_events import ask, collect, joined, until_error
from tests.stand_ins.http_server import Handler, HttpServer, Reply, Request
from tests.stand_ins.openai_server import (
    one_after_the_other,
    refusing,
    reset_after,
    reset_at_once,
    streaming,
)

KEY = "sk-ant-secret-key"
HELLO = [started(), text(0, "Hel", "lo"), ended()]
TOOL = ToolSpec("look", "Look at it.", {"type": "object", "properties": {}})


@asynccontextmanager
async def served(
    handler: Handler, **fields: Any
) -> AsyncGenerator[tuple[Anthropic, HttpServer], None]:
    async with HttpServer(handler) as server:
        provider = Anthropic(
            name="claude", base_url=server.url, api_key=KEY, retry_seconds=0, **fields
        )
        try:
            yield provider, server
        finally:
            await provider.close()


async def answer(*pieces: bytes) -> list[StreamEvent]:
    async with served(anthropic(pieces)) as (provider, _):
        return joined(await collect(provider, ask(model=MODEL)))


async def sent(**fields: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """The body and the headers of a request."""
    known = [model_entry()]
    async with served(anthropic(HELLO, models=known)) as (provider, server):
        await collect(provider, ask(model=MODEL, **fields))
        asked = next(r for r in server.requests if r.path == "/v1/messages")
        return asked.json, asked.headers


def test_it_is_a_provider() -> None:
    provider: Provider = Anthropic(name="claude", api_key=None)
    assert provider.name == "claude"


async def test_an_answer_comes_with_its_usage_cache_included() -> None:
    used: dict[str, Any] = {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}}
    assert await answer(started(PRICED_USAGE), PING, text(0, "Hel", "lo"), ended(**used)) == [
        TextDelta("Hello"),
        Completed(
            finish="stop",
            usage=Usage(
                input_tokens=1111,
                output_tokens=9,
                cached_tokens=1000,
                cache_written_tokens=100,
                reasoning_tokens=4,
            ),
            model=MODEL,
        ),
    ]


async def test_parallel_calls_come_whole_and_an_empty_input_is_an_empty_object() -> None:
    events = await answer(
        started(),
        tool_use(0, "toolu_1", "look", '{"at": "', 'a\u2028b"}'),
        tool_use(1, "toolu_2", "list"),
        ended("tool_use"),
    )
    assert events[:2] == [
        ToolCallArrived(ToolCallPart(call_id="toolu_1", name="look", args={"at": "a\u2028b"})),
        ToolCallArrived(ToolCallPart(call_id="toolu_2", name="list", args={})),
    ]
    assert isinstance(events[2], Completed)
    assert (events[2].finish, events[2].opaque) == ("tool_calls", ())


async def test_signed_thinking_is_kept_with_the_whole_reply() -> None:
    redacted = {"type": "redacted_thinking", "data": "c2VjcmV0"}
    events = await answer(
        started(),
        thinking(0, "let me ", "see\x1b[1m"),
        block(1, redacted, ()),
        text(2, "So"),
        tool_use(3, "toolu_1", "look", "{}"),
        ended("tool_use"),
    )
    assert events[0] == ReasoningDelta("let me see\x1b[1m")
    assert isinstance(events[-1], Completed)
    assert events[-1].opaque == (
        {"type": "thinking", "thinking": "let me see\x1b[1m", "signature": SIGNATURE},
        redacted,
        {"type": "text", "text": "So"},
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}},
    )


@pytest.mark.parametrize(
    ("stop", "finish"),
    [
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "filtered"),
        ("something new", "unknown"),
    ],
)
async def test_why_an_answer_ended_is_told(stop: str, finish: str) -> None:
    end = (await answer(started(), text(0, "x"), ended(stop)))[-1]
    assert isinstance(end, Completed)
    assert end.finish == finish


async def test_a_request_has_the_key_the_version_and_marks_for_the_cache() -> None:
    messages = (
        PromptMessage(role="system", text="Be brief."),
        PromptMessage(role="user", text="Look", images=(Image("image/png", "aGk="),)),
    )
    body, headers = await sent(messages=messages, tools=(TOOL,), window=100_000)
    assert headers["x-api-key"] == KEY
    assert headers["anthropic-version"] == "2026-10-21"
    assert "authorization" not in headers
    mark = {"type": "ephemeral"}
    assert body == {
        "model": MODEL,
        "max_tokens": 15_000,
        "stream": True,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": mark}],
        "tools": [{"name": "look", "description": "Look at it.", "input_schema": TOOL.parameters}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
                    },
                    {"type": "text", "text": "Look", "cache_control": mark},
                ],
            }
        ],
    }


async def test_a_temperature_is_sent_with_the_version_that_takes_one() -> None:
    body, headers = await sent(temperature=0.5)
    assert (body["temperature"], headers["anthropic-version"]) == (0.5, "2023-06-01")


async def test_results_of_parallel_calls_stand_together_before_the_words() -> None:
    calls = tuple(ToolCallPart(call_id=key, name="look", args={"at": key}) for key in "ab")
    messages = (
        PromptMessage(role="user", text="Look"),
        PromptMessage(role="assistant", text="I look.", tool_calls=calls),
        PromptMessage(role="tool", text="this", tool_call_id="a", tool_name="look"),
        PromptMessage(role="tool", text="", tool_call_id="b", tool_name="look"),
        PromptMessage(role="user", text="Well?"),
    )
    body, _ = await sent(messages=messages)
    _, reply, results = body["messages"]
    assert [b["type"] for b in reply["content"]] == ["text", "tool_use", "tool_use"]
    assert [b["type"] for b in results["content"]] == ["tool_result", "tool_result", "text"]
    assert [b.get("tool_use_id") for b in results["content"]] == ["a", "b", None]


OPAQUE = (
    {"type": "thinking", "thinking": "hm\u0000 \u202e", "signature": SIGNATURE},
    {"type": "tool_use", "id": "toolu_9", "name": "look", "input": {"n": 1.0}},
)


def thought(calls: tuple[str, ...] = ("call_x",)) -> tuple[PromptMessage, ...]:
    """A conversation in which the model thought, called and was answered."""
    call = ToolCallPart(call_id="call_x", name="look", args={"n": 1.0})
    opaque = Opaque(vendor="v", model=MODEL, items=OPAQUE, calls=calls)
    return (
        PromptMessage(role="user", text="Look"),
        PromptMessage(role="assistant", tool_calls=(call,), opaque=opaque),
        PromptMessage(role="tool", text="this", tool_call_id="call_x", tool_name="look"),
    )


async def test_signed_thinking_goes_back_as_it_came_and_results_name_the_servers_ids() -> None:
    body, _ = await sent(messages=thought())
    assert body["messages"][1]["content"] == list(OPAQUE)
    assert body["messages"][2]["content"][0]["tool_use_id"] == "toolu_9"


async def test_a_reply_whose_calls_do_not_match_is_sent_without_what_was_signed() -> None:
    body, _ = await sent(messages=thought(calls=()))
    assert [b["type"] for b in body["messages"][1]["content"]] == ["tool_use"]
    assert body["messages"][2]["content"][0]["tool_use_id"] == "call_x"


async def test_thinking_that_the_server_no_longer_accepts_is_left_out_once() -> None:
    refused = said("invalid_request_error", "messages.1: Invalid `signature` in `thinking` block")
    handler = one_after_the_other(
        [refusing(404, {}), refusing(400, refused), streaming([b"".join(HELLO)])]
    )
    async with served(handler) as (provider, server):
        assert joined(await collect(provider, ask(model=MODEL, messages=thought())))[
            0
        ] == TextDelta("Hello")
    assert SIGNATURE in server.requests[1].body.decode()
    assert SIGNATURE not in server.requests[2].body.decode()


@pytest.mark.parametrize(
    ("wish", "thought", "effort"),
    [
        (True, {"type": "adaptive", "display": "summarized"}, None),
        ("high", {"type": "adaptive", "display": "summarized"}, {"effort": "high"}),
        (False, {"type": "disabled"}, None),
        (None, None, None),
    ],
)
async def test_thinking_is_asked_for_as_wished(wish: Any, thought: Any, effort: Any) -> None:
    body, _ = await sent(thinking=wish, temperature=0.2)
    assert (body.get("thinking"), body.get("output_config")) == (thought, effort)
    assert ("temperature" in body) == (not wish)


async def test_an_older_model_gets_a_number_of_tokens_to_think_with() -> None:
    types = {"adaptive": {"supported": False}, "enabled": {"supported": True}}
    older = model_entry(capabilities={"thinking": {"supported": True, "types": types}})
    async with served(anthropic(HELLO, models=[older])) as (provider, server):
        await collect(provider, ask(model=MODEL, thinking="low"))
        body = server.requests[-1].json
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 2048}
    assert body["max_tokens"] > 2048


async def test_a_field_the_server_refuses_is_left_out_from_then_on() -> None:
    refused = said("invalid_request_error", "cache_control: not permitted")

    async def handle(request: Request, reply: Reply) -> None:
        if b"cache_control" in request.body:
            await reply.json(refused, 400)
        else:
            await anthropic(HELLO)(request, reply)

    async with served(handle) as (provider, server):
        for _ in range(2):
            await collect(provider, ask(model=MODEL))
    assert [r.path for r in server.requests].count("/v1/messages") == 3


async def test_the_server_counts_each_prompt_once() -> None:
    async with served(anthropic(HELLO, tokens=42)) as (provider, server):
        request = ask(model=MODEL, tools=(TOOL,), max_output=5)
        assert [await provider.count_tokens(request) for _ in range(2)] == [42, 42]
    asked = [r for r in server.requests if r.path == "/v1/messages/count_tokens"]
    assert len(asked) == 1
    assert set(asked[0].json) == {"model", "messages", "tools"}


async def test_models_come_with_what_they_can() -> None:
    retired = model_entry("old", lifecycle="retired")
    handler = anthropic((), models=[model_entry(), retired])
    async with served(handler) as (provider, _):
        models = await provider.list_models()
        assert [(m.name, m.max_window) for m in models] == [(MODEL, 200_000)]
        assert await provider.default_model() == MODEL
        assert await provider.capabilities(MODEL) == Capabilities(
            tools=True,
            continues=True,
            thinking=True,
            images=True,
            window=200_000,
            max_window=200_000,
        )


@pytest.mark.parametrize(
    ("model", "continues"),
    [
        ("claude-3-5-haiku-20241022", True),
        ("claude-opus-4-20250514", True),
        ("claude-sonnet-4-5", True),
        ("claude-haiku-4-5-20251001", True),
        ("claude-opus-4-6", False),
        ("claude-sonnet-4-6", False),
        ("claude-opus-5", False),
    ],
)
async def test_only_older_models_go_on_with_an_answer(model: str, continues: bool) -> None:
    async with served(anthropic((), models=[model_entry()])) as (provider, _):
        assert (await provider.capabilities(model)).continues is continues


async def test_what_the_server_does_not_say_of_a_model_is_on_its_card() -> None:
    card = ModelCard(window=500, can=("tools", "images"))

    def find(model: str) -> ModelCard:
        return card

    async with served(anthropic(()), card=find) as (provider, _):
        assert await provider.capabilities(MODEL) == Capabilities(
            tools=True,
            continues=True,
            thinking=False,
            images=True,
            window=500,
            max_window=500,
            card=card,
        )


def said(kind: str, message: str = "no") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


FAULTS: list[tuple[Handler, type[ProviderError]]] = [
    (refusing(401, said("authentication_error")), AuthFailed),
    (refusing(402, said("billing_error")), AuthFailed),
    (refusing(404, said("not_found_error", "model: claude-x")), ModelMissing),
    (refusing(400, said("invalid_request_error", "prompt is too long: 9 tokens > 5")), OverLimit),
    (refusing(429, said("rate_limit_error"), **{"Retry-After": "60"}), RateLimited),
    (refusing(429, {"error": {"details": {"error_code": "spend_limit"}}}), AuthFailed),
    (refusing(500, said("api_error")), Unavailable),
    (refusing(529, said("overloaded_error")), RateLimited),
    (reset_at_once, Unavailable),
    (streaming([b"<html>a page</html>"]), Unavailable),
    (streaming([b"data: {\n\n"]), BadAnswer),
    (anthropic([error("overloaded_error")]), RateLimited),
]


@pytest.mark.parametrize(("handler", "kind"), FAULTS)
async def test_a_request_that_fails_says_why(handler: Handler, kind: type[ProviderError]) -> None:
    async with served(handler) as (provider, _):
        got, failed = await until_error(provider.stream(ask(model=MODEL)))
    assert (got, type(failed)) == ([], kind)
    assert failed.hint


@pytest.mark.parametrize(
    ("rest", "kind"),
    [
        ([], Unavailable),
        ([error("overloaded_error")], RateLimited),
        ([error("api_error")], Unavailable),
        ([b"data: {broken\n\n"], BadAnswer),
    ],
)
async def test_what_had_arrived_is_kept_when_an_answer_breaks(
    rest: list[bytes], kind: type[ProviderError]
) -> None:
    begun = [started(), text(0, "Hi")]
    async with served(anthropic([*begun, *rest])) as (provider, _):
        got, failed = await until_error(provider.stream(ask(model=MODEL)))
    assert (got, type(failed)) == ([TextDelta("Hi")], kind)


async def test_a_connection_that_breaks_is_told_and_not_tried_again() -> None:
    models, stream = refusing(404, {}), reset_after(started() + text(0, "Hi"))
    async with served(one_after_the_other([models, stream])) as (provider, server):
        got, failed = await until_error(provider.stream(ask(model=MODEL)))
    assert (got, type(failed)) == ([TextDelta("Hi")], Unavailable)
    assert len(server.requests) == 2


async def test_the_key_is_in_no_error() -> None:
    async with served(refusing(400, said("x", f"bad key {KEY}"))) as (provider, _):
        _, failed = await until_error(provider.stream(ask(model=MODEL)))
    assert KEY not in failed.message
    assert "[key]" in failed.message


async def test_an_answer_is_the_same_however_its_bytes_are_cut() -> None:
    whole = b"".join(
        [started(), thinking(0, "hm 😀"), tool_use(1, "t", "look", json.dumps({"a": "é"})), ended()]
    )
    wanted = await answer(whole)
    for size in (1, 7):
        assert await answer(*(whole[i : i + size] for i in range(0, len(whole), size))) == wanted
