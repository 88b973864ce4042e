"""Chat completions: requests as they are sent, answers of servers that differ a little."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_tui.core.provider import (
    Completed,
    Image,
    Preparing,
    PromptMessage,
    Provider,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolCallArrived,
    ToolSpec,
)
from ollm_tui.core.session.message import ToolCallPart, Usage
from ollm_tui.providers.openai_chat import OpenAICompatible
from tests.stand_ins.collected_events import ask, collect, joined, text_of
from tests.stand_ins.openai_server import (
    DONE,
    chunk,
    event,
    one_after_the_other,
    refusing,
    served,
    streaming,
    text_answer,
)

SEPARATORS = "a\u2028b\u2029c\x85d 😀"


async def answer(*pieces: bytes, **fields: Any) -> list[StreamEvent]:
    async with served(streaming(pieces), **fields) as (provider, _):
        return joined(await collect(provider, ask()))


async def sent(**fields: Any) -> dict[str, Any]:
    async with served(streaming([text_answer("Hi")])) as (provider, server):
        await collect(provider, ask(**fields))
        return server.requests[0].json


def test_it_is_a_provider() -> None:
    provider: Provider = OpenAICompatible(name="x", base_url="http://127.0.0.1", api_key=None)
    assert provider.name == "x"


async def test_a_plain_answer_comes_with_its_usage() -> None:
    assert await answer(text_answer("Hello", " world")) == [
        TextDelta("Hello world"),
        Completed(finish="stop", usage=Usage(input_tokens=7, output_tokens=2), model="m-1"),
    ]


MIXED = b"".join(
    [
        b": OPENROUTER PROCESSING\r\n\r\n",
        event(chunk({"reasoning_content": "let me see"})),
        event(chunk({"content": f"<think>hm</think>{SEPARATORS}"})),
        event(chunk({"tool_calls": [{"index": 0, "id": "x", "function": {"name": "f"}}]})),
        event(chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"a":1}'}}]})),
        event(chunk(finish="tool_calls")).replace(b"\n", b"\r\n"),
        DONE,
    ]
)
MIXED_EVENTS = [
    ReasoningDelta("let me seehm"),
    TextDelta(SEPARATORS),
    ToolCallArrived(ToolCallPart(call_id="x", name="f", args={"a": 1})),
    Completed(finish="tool_calls"),
]


async def test_a_stream_may_come_byte_by_byte() -> None:
    assert await answer(*(MIXED[i : i + 1] for i in range(len(MIXED)))) == MIXED_EVENTS


@settings(max_examples=15)
@given(st.lists(st.integers(0, len(MIXED)), max_size=6))
async def test_the_cuts_of_the_stream_make_no_difference(places: list[int]) -> None:
    edges = [0, *sorted(places), len(MIXED)]
    pieces = [MIXED[a:b] for a, b in pairwise(edges)]
    assert await answer(*pieces) == MIXED_EVENTS


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(text_answer("Hi").removesuffix(DONE), id="no [DONE]"),
        pytest.param(text_answer("Hi").rstrip(b"\n"), id="no empty line at the end"),
        pytest.param(text_answer("Hi").replace(b"data: ", b"data:"), id="no space"),
        pytest.param(text_answer("Hi").replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(b": ping\n\n" + text_answer("Hi"), id="comments"),
        pytest.param(event(chunk({"content": "Hi"})) + DONE, id="no finish reason"),
        pytest.param(text_answer("Hi") + b"data: rubbish\n\n", id="more after [DONE]"),
        pytest.param(
            event(chunk({"content": [{"type": "text", "text": "Hi"}]}, "stop")), id="text in parts"
        ),
    ],
)
async def test_small_deviations_do_not_matter(data: bytes) -> None:
    events = await answer(data)
    assert text_of(events) == "Hi"
    assert isinstance(events[-1], Completed)


async def test_an_answer_that_is_not_streamed_is_read_as_well() -> None:
    message = {
        "content": "Hi",
        "reasoning": "hm",
        "tool_calls": [{"id": "x", "function": {"name": "f", "arguments": "{}"}}],
    }
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 1,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    whole = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
    assert await answer(json.dumps(whole, indent=2).encode()) == [
        ReasoningDelta("hm"),
        TextDelta("Hi"),
        ToolCallArrived(ToolCallPart(call_id="x", name="f", args={})),
        Completed(
            finish="tool_calls",
            usage=Usage(input_tokens=9, output_tokens=1, cached_tokens=4),
        ),
    ]


async def test_llama_cpp_tells_its_progress_and_times() -> None:
    timings = {
        "cache_n": 5,
        "prompt_n": 3,
        "prompt_ms": 250.0,
        "predicted_n": 2,
        "predicted_ms": 500,
    }
    progress = {"total": 8, "cache": 5, "processed": 6, "time_ms": 100}
    events = await answer(
        event(chunk({"role": "assistant", "content": None}, prompt_progress=progress)),
        event(chunk({"content": "Hi"})),
        event(chunk(finish="length", timings=timings)),
        DONE,
    )
    assert events == [
        Preparing("reading the prompt", 0.75),
        TextDelta("Hi"),
        Completed(
            finish="length",
            usage=Usage(
                input_tokens=8,
                output_tokens=2,
                cached_tokens=5,
                prompt_seconds=0.25,
                output_seconds=0.5,
            ),
        ),
    ]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "filtered"),
        ("function_call", "tool_calls"),
        ("eos", "unknown"),
    ],
)
async def test_finish_reasons_are_translated(reason: str, finish: str) -> None:
    events = await answer(event(chunk({"content": "x"}, reason)), DONE)
    assert isinstance(events[-1], Completed)
    assert events[-1].finish == finish


async def test_the_request_says_everything_that_was_asked() -> None:
    call = ToolCallPart(call_id="c1", name="look", args={"at": "x"})
    broken = ToolCallPart(call_id="c2", name="look", args={}, raw_arguments='{"at"')
    picture = Image("image/png", "aGk=")
    body = await sent(
        model="m",
        messages=(
            PromptMessage(role="system", text="Be brief."),
            PromptMessage(role="user", text="See", images=(picture,)),
            PromptMessage(role="assistant", reasoning="hm", tool_calls=(call, broken)),
            PromptMessage(role="tool", text="seen", tool_call_id="c1", tool_name="look"),
        ),
        tools=(ToolSpec("look", "Looks.", {"type": "object"}),),
        window=4096,
        max_output=50,
        temperature=0.5,
        thinking=False,
        answer_schema={"type": "object"},
    )
    assert body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "See"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                ],
            },
            {
                "role": "assistant",
                "content": "",
                "reasoning_content": "hm",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "look", "arguments": '{"at": "x"}'},
                    },
                    {
                        "id": "c2",
                        "type": "function",
                        "function": {"name": "look", "arguments": "{}"},
                    },
                ],
            },
            {"role": "tool", "content": "seen", "tool_call_id": "c1"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "look",
                    "description": "Looks.",
                    "parameters": {"type": "object"},
                },
            }
        ],
        "max_tokens": 50,
        "temperature": 0.5,
        "chat_template_kwargs": {"enable_thinking": False},
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": {"type": "object"}},
        },
    }


async def test_what_was_not_asked_is_not_said() -> None:
    assert set(await sent()) == {"model", "messages", "stream", "stream_options"}


async def test_the_extra_body_goes_along() -> None:
    handler = streaming([text_answer("Hi")])
    async with served(handler, extra_body={"return_progress": True}) as (provider, server):
        await collect(provider, ask())
    assert server.requests[0].json["return_progress"] is True


@pytest.mark.parametrize(
    ("complaint", "gone", "instead"),
    [
        (
            "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "max_tokens",
            {"max_completion_tokens": 50},
        ),
        (
            "Unrecognized request argument supplied: chat_template_kwargs",
            "chat_template_kwargs",
            {},
        ),
        ("Unsupported value: 'temperature' does not support 0.5", "temperature", {}),
        ("stream_options: Extra inputs are not permitted", "stream_options", {}),
    ],
)
async def test_a_field_the_server_refuses_is_left_out_from_then_on(
    complaint: str, gone: str, instead: dict[str, Any]
) -> None:
    refusal = refusing(400, {"error": {"message": complaint}})
    handler = one_after_the_other([refusal, streaming([text_answer("Hi")])])
    async with served(handler) as (provider, server):
        request = ask(max_output=50, temperature=0.5, thinking=True)
        for _ in range(2):
            assert text_of(await collect(provider, request)) == "Hi"
    bodies = [request.json for request in server.requests]
    assert [gone in body for body in bodies] == [True, False, False]
    assert bodies[2] == {k: v for k, v in bodies[0].items() if k != gone} | instead


async def test_finished_answers_share_a_connection() -> None:
    async with served(streaming([text_answer("Hi")])) as (provider, server):
        for _ in range(3):
            await collect(provider, ask())
        assert server.connections == 1


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
async def test_the_address_may_be_written_in_several_ways(path: str) -> None:
    async with served(streaming([text_answer("Hi")]), path) as (provider, server):
        await collect(provider, ask())
    assert server.requests[0].path == "/v1/chat/completions"
