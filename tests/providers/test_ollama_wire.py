"""Ollama's exact fields, and its faults; only the stand-in can show these."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from itertools import pairwise
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_tui.core.errors import (
    AuthFailed,
    BadAnswer,
    ModelMissing,
    OverLimit,
    ProviderError,
    Unavailable,
)
from ollm_tui.core.provider import (
    Completed,
    Image,
    Preparing,
    PromptMessage,
    ReasoningDelta,
    RunningModel,
    StreamEvent,
    TextDelta,
    ToolCallArrived,
    ToolSpec,
)
from ollm_tui.core.session.message import ToolCallPart, Usage
from ollm_tui.providers.ollama import Ollama
from ollm_tui.providers.ollama_models import shown_capabilities
from tests.stand_ins.collected_events import ask, collect, joined, text_of, until_error
from tests.stand_ins.http_server import Handler, HttpServer, Reply, Request
from tests.stand_ins.ollama_server import EMBEDDER, MODEL, THINKER, OllamaServer, last_line, line
from tests.stand_ins.openai_server import never_answer, reset_after, streaming

Script = Sequence[Sequence[dict[str, Any]]]


@asynccontextmanager
async def served(
    script: Script = (), **fields: Any
) -> AsyncGenerator[tuple[Ollama, OllamaServer], None]:
    async with OllamaServer(script) as server:
        provider = Ollama(name="o", base_url=server.url, retry_seconds=0, **fields)
        try:
            yield provider, server
        finally:
            await provider.close()


def usage(read: int, written: int) -> Usage:
    return Usage(
        input_tokens=read,
        output_tokens=written,
        load_seconds=1.5,
        prompt_seconds=0.25,
        output_seconds=2.0,
    )


async def test_counts_and_durations_come_out_exactly() -> None:
    async with served() as (provider, _):
        events = joined(await collect(provider, ask("one two three", MODEL)))
    assert events == [
        TextDelta("one two three"),
        Completed(finish="stop", usage=usage(7, 3), model=MODEL),
    ]


async def test_the_request_says_everything_and_forbids_cutting() -> None:
    call = ToolCallPart(call_id="c1", name="look", args={"at": "x"})
    async with served() as (provider, server):
        request = ask(
            model=MODEL,
            messages=(
                PromptMessage(role="user", text="See", images=(Image("image/png", "aGk="),)),
                PromptMessage(role="assistant", reasoning="hm", tool_calls=(call,)),
                PromptMessage(role="tool", text="seen", tool_call_id="c1", tool_name="look"),
            ),
            tools=(ToolSpec("look", "Looks.", {"type": "object"}),),
            window=4096,
            max_output=50,
            temperature=0.5,
            thinking=False,
            answer_schema={"type": "object"},
        )
        await collect(provider, request)
    assert server.requests[0].json == {
        "model": MODEL,
        "messages": [
            {"role": "user", "content": "See", "images": ["aGk="]},
            {
                "role": "assistant",
                "content": "",
                "thinking": "hm",
                "tool_calls": [
                    {"id": "c1", "function": {"name": "look", "arguments": {"at": "x"}}}
                ],
            },
            {"role": "tool", "content": "seen", "tool_call_id": "c1", "tool_name": "look"},
        ],
        "stream": True,
        "truncate": False,
        "shift": False,
        "options": {"num_ctx": 4096, "num_predict": 50, "temperature": 0.5},
        "think": False,
        "format": {"type": "object"},
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
    }


async def test_calls_of_one_session_load_the_model_once() -> None:
    async with served() as (provider, server):
        for text in ("question", "summary please", "question"):
            await collect(provider, ask(text, MODEL, window=4096, max_output=9))
        assert server.loads == 1
        assert server.connections == 1


ANSWER: list[dict[str, Any]] = [
    {"thinking": "let me see"},
    {"content": "<think>hm</th"},
    {"content": "ink>\n\na\u2028b\u0085c 😀"},
    {"tool_calls": [{"function": {"name": "f", "arguments": {"a": [1]}}}]},
    {"tool_calls": [{"id": "x", "function": {"index": 1, "name": "g", "arguments": {}}}]},
]


def check_answer(events: list[StreamEvent]) -> None:
    reasoning, text, first, second, done = joined(events)
    assert reasoning == ReasoningDelta("let me seehm")
    assert text == TextDelta("a\u2028b\u0085c 😀")
    assert isinstance(first, ToolCallArrived)
    assert (first.call.name, first.call.args) == ("f", {"a": [1]})
    assert first.call.call_id
    assert second == ToolCallArrived(ToolCallPart(call_id="x", name="g", args={}))
    assert isinstance(done, Completed)
    assert done.finish == "tool_calls"


async def test_thinking_words_and_tool_calls_come_apart() -> None:
    async with served([ANSWER]) as (provider, _):
        check_answer(await collect(provider, ask("x", THINKER, thinking=True)))


WIRE = b"".join(line(MODEL, message) for message in ANSWER) + last_line(MODEL, 5, 5)


@settings(max_examples=15)
@given(st.lists(st.integers(0, len(WIRE)), max_size=6))
async def test_the_cuts_of_the_stream_make_no_difference(places: list[int]) -> None:
    edges = [0, *sorted(places), len(WIRE)]
    pieces = [WIRE[a:b] for a, b in pairwise(edges)]
    async with HttpServer(streaming(pieces)) as server:
        provider = Ollama(name="o", base_url=server.url)
        check_answer(await collect(provider, ask()))
        await provider.close()


def chats(server: OllamaServer) -> list[dict[str, Any]]:
    return [request.json for request in server.requests if request.path == "/api/chat"]


def refusing(server: OllamaServer, field: str, version: str) -> Handler:
    """A server that refuses a field as long as it has this version."""

    async def old(request: Request, reply: Reply) -> None:
        if server.version == version and field in request.json:
            await reply.json({"error": f'json: unknown field "{field}"'}, 400)
        else:
            await server.answer(request, reply)

    return old


async def test_a_model_that_cannot_think_is_asked_to_only_once() -> None:
    async with served() as (provider, server):
        for _ in range(2):
            assert text_of(await collect(provider, ask("Hi", MODEL, thinking=True))) == "Hi"
        assert ["think" in body for body in chats(server)] == [True, False, False]
        await collect(provider, ask("Hi", THINKER, thinking=True))
        assert chats(server)[-1]["think"] is True


@pytest.mark.parametrize("field", ["shift", "truncate"])
async def test_a_field_an_older_server_refuses_is_left_out_for_all_its_models(field: str) -> None:
    async with served() as (provider, server):
        server.chat = refusing(server, field, server.version)
        for model in (MODEL, MODEL, THINKER):
            assert text_of(await collect(provider, ask("Hi", model))) == "Hi"
        assert [field in body for body in chats(server)] == [True, False, False, False]


async def test_a_server_that_was_replaced_by_another_version_is_asked_anew() -> None:
    async with served() as (provider, server):
        server.chat = refusing(server, "truncate", server.version)
        await collect(provider, ask("Hi", MODEL))
        server.version = "0.35.0"
        for _ in range(2):
            await collect(provider, ask("Hi", MODEL))
        assert ["truncate" in body for body in chats(server)] == [True, False, True, True]


async def test_the_version_is_asked_for_only_where_something_was_refused() -> None:
    async with served() as (provider, server):
        for _ in range(2):
            await collect(provider, ask("Hi", MODEL))
        assert [request.path for request in server.requests] == ["/api/chat"] * 2


async def test_a_server_without_a_version_is_remembered_all_the_same() -> None:
    async with served() as (provider, server):
        server.version = ""
        server.chat = refusing(server, "shift", "")
        for _ in range(2):
            await collect(provider, ask("Hi", MODEL))
        assert ["shift" in body for body in chats(server)] == [True, False, False]


async def test_a_prompt_that_is_too_long_is_refused_with_its_counts() -> None:
    async with served() as (provider, _):
        with pytest.raises(OverLimit) as caught:
            await collect(provider, ask("word " * 6000, MODEL, window=4096))
    assert (caught.value.prompt_tokens, caught.value.window) == (6004, 4096)


async def test_a_server_that_only_knows_shift_refuses_without_counts() -> None:
    async with served() as (provider, server):

        async def old(request: Request, reply: Reply) -> None:
            if "truncate" in request.json:
                await reply.json({"error": "truncate is not a field"}, 400)
            else:
                await server.answer(request, reply)

        server.chat = old
        with pytest.raises(OverLimit):
            await collect(provider, ask("word " * 6000, MODEL, window=4096))


HI = line(MODEL, {"content": "Hi"})


@pytest.mark.parametrize(
    ("handler", "kind"),
    [
        (reset_after(HI), Unavailable),
        (streaming([HI]), Unavailable),
        (streaming([HI, b'{"error":"an error was encountered while running"}\n']), Unavailable),
        (streaming([HI, b'{"error":"the input length exceeds the context length"}\n']), OverLimit),
        (streaming([HI, b'{"model": \n']), BadAnswer),
    ],
)
async def test_what_had_arrived_is_kept_when_an_answer_breaks(
    handler: Handler, kind: type[ProviderError]
) -> None:
    async with served() as (provider, server):
        server.chat = handler
        got, error = await until_error(provider.stream(ask("x", MODEL)))
        assert len(server.requests) == 1
    assert got == [TextDelta("Hi")]
    assert type(error) is kind


async def test_a_stalled_server_is_given_up() -> None:
    async with served(inactivity_seconds=0.05, loading_seconds=0) as (provider, server):
        server.chat = never_answer
        with pytest.raises(Unavailable, match="sent nothing"):
            await collect(provider, ask("x", MODEL))


async def test_closing_the_answer_stops_the_server() -> None:
    left = asyncio.Event()

    async def endless(request: Request, reply: Reply) -> None:
        try:
            while not reply.gone.is_set():
                await reply.chunk(HI)
        finally:
            left.set()

    async with served() as (provider, server):
        server.chat = endless
        async with aclosing(provider.stream(ask("x", MODEL))) as answer:
            assert await anext(answer) == TextDelta("Hi")
        await left.wait()


async def test_a_server_that_is_down_is_named_with_the_way_to_start_it() -> None:
    provider = Ollama(name="o", base_url="127.0.0.1:1", retry_seconds=0)
    assert await provider.presence(1) == "absent"
    asks: list[Callable[[], Awaitable[object]]] = [
        provider.list_models,
        provider.default_model,
        lambda: provider.capabilities("m"),
        lambda: collect(provider, ask()),
    ]
    for one in asks:
        with pytest.raises(Unavailable) as caught:
            await one()
        assert caught.value.hint == "start it with `ollama serve`"


async def test_the_default_is_a_running_model_else_the_newest_that_chats() -> None:
    async with served() as (provider, server):
        assert await provider.default_model() == THINKER
        server.loaded = {"nomic-embed-text:latest": 512, MODEL: 4096}
        assert await provider.default_model() == MODEL


async def test_without_models_the_way_to_get_one_is_said() -> None:
    async with served() as (provider, server):
        server.models.clear()
        with pytest.raises(ModelMissing) as caught:
            await provider.default_model()
    assert caught.value.hint == "get one with `ollama pull llama3.2`"


async def test_models_that_only_embed_are_marked() -> None:
    async with served() as (provider, _):
        notes = {model.name: model.note for model in await provider.list_models()}
    assert notes[MODEL] == ""
    assert notes["nomic-embed-text:latest"] == "embeddings only"


async def test_the_window_is_unknown_until_the_model_is_loaded() -> None:
    async with served() as (provider, server):
        before = await provider.capabilities("llama3.2")
        server.loaded = {MODEL: 4096}
        after = await provider.capabilities("llama3.2")
    assert (before.window, after.window) == (None, 4096)
    assert (before.max_window, after.max_window) == (131072, 131072)
    assert (after.tools, after.thinking, after.images) == (True, False, False)


@pytest.mark.parametrize(
    ("shown", "continues"),
    [
        ({"template": "{{ .System }}{{ .Prompt }}"}, True),
        ({"template": "{{ range .Messages }}{{ if not $last }}<|end|>{{ end }}{{ end }}"}, True),
        ({"template": "{{ range .Messages }}{{ .Content }}<|end|>{{ end }}"}, False),
        ({"template": "{{ .Messages }}", "modelfile": "FROM x\nRENDERER qwen3-coder\n"}, True),
        ({"template": "", "remote_host": "https://ollama.com"}, False),
    ],
)
def test_templates_that_leave_the_last_message_open_let_an_answer_go_on(
    shown: dict[str, Any], continues: bool
) -> None:
    assert shown_capabilities(shown, None).continues is continues


async def test_a_download_tells_how_far_it_is() -> None:
    async with served() as (provider, _):
        steps = [step async for step in provider.pull("tiny")]
        assert any(model.is_called("tiny") for model in await provider.list_models())
    assert steps[:4] == [
        Preparing("pulling manifest"),
        Preparing("pulling dde5aa3fc5ff", 0.0),
        Preparing("pulling dde5aa3fc5ff", 0.25),
        Preparing("pulling dde5aa3fc5ff", 1.0),
    ]
    assert steps[-1] == Preparing("success")


async def test_a_download_of_nothing_is_a_missing_model() -> None:
    async with served() as (provider, _):
        with pytest.raises(ModelMissing, match="no-such"):
            async for _ in provider.pull("no-such"):
                pass


@pytest.mark.parametrize(
    ("details", "bytes_per_token"),
    [
        ({}, None),
        ({"block_count": 28}, None),
        ({"block_count": 28, "attention.head_count": 24, "embedding_length": 3072}, 344_064),
        (
            {
                "block_count": 28,
                "attention.head_count": 24,
                "attention.head_count_kv": 8,
                "attention.key_length": 128,
            },
            114_688,
        ),
    ],
)
def test_what_a_token_of_the_window_takes_is_told_for_this_machine_only(
    details: dict[str, int], bytes_per_token: int | None
) -> None:
    info = {"general.architecture": "llama", "llama.context_length": 131_072}
    show = {"model_info": info | {f"llama.{name}": value for name, value in details.items()}}
    assert shown_capabilities(show, None, here=True).window_bytes_per_token == bytes_per_token
    assert shown_capabilities(show, None).window_bytes_per_token is None


async def test_a_cloud_model_that_wants_a_sign_in_says_how() -> None:
    async def refuse(request: Request, reply: Reply) -> None:
        url = "https://ollama.com/connect?name=desk"
        await reply.json({"error": "unauthorized", "signin_url": url}, 401)

    async with OllamaServer() as server:
        server.chat = refuse
        provider = Ollama(name="ollama", base_url=server.url, retry_seconds=0)
        _, failed = await until_error(provider.stream(ask(model="gpt-oss:120b-cloud")))
        await provider.close()
    assert isinstance(failed, AuthFailed)
    assert failed.hint == "sign in with `ollama signin` or at https://ollama.com/connect?name=desk"


async def test_a_server_that_is_silent_for_a_while_is_told_of() -> None:
    heard = asyncio.Event()

    async def slow(request: Request, reply: Reply) -> None:
        await heard.wait()
        await server.answer(request, reply)

    async with OllamaServer() as server:
        server.chat = slow
        provider = Ollama(name="ollama", base_url=server.url, retry_seconds=0)
        events: list[StreamEvent] = []
        async for event in provider.stream(ask("word " * 4000, MODEL)):
            events.append(event)
            heard.set()
        await provider.close()
    assert events[0] == Preparing(f"{MODEL} is loading, or reading about 5.0k tokens")
    assert isinstance(events[-1], Completed)


async def test_how_long_a_model_stays_loaded_is_sent_if_it_is_set() -> None:
    async with OllamaServer() as server:
        provider = Ollama(name="ollama", base_url=server.url, keep_alive="30m")
        await collect(provider, ask(model=MODEL))
        await provider.close()
    assert server.requests[-1].json["keep_alive"] == "30m"


async def test_a_model_that_is_nowhere_is_not_answered_with_a_hint_to_pull_it() -> None:
    async with HttpServer(
        streaming([b'{"error":"pull model manifest: file does not exist"}\n'])
    ) as s:
        provider = Ollama(name="ollama", base_url=s.url, retry_seconds=0)
        _, failed = await until_error(provider.pull("nonesuch"))
        await provider.close()
    assert isinstance(failed, ModelMissing)
    assert "pull" not in failed.hint


CLOUD_MODEL = "gpt-oss:120b-cloud"


async def test_a_cloud_model_that_is_refused_says_why() -> None:
    async with OllamaServer() as server:
        server.add_cloud_model(CLOUD_MODEL)
        provider = Ollama(name="ollama", base_url=server.url, retry_seconds=0)
        server.is_signed_in = False
        _, unknown = await until_error(provider.stream(ask(model=CLOUD_MODEL)))
        server.is_signed_in, server.may_use_cloud = True, False
        _, refused = await until_error(provider.stream(ask(model=CLOUD_MODEL)))
        await provider.close()
    assert isinstance(unknown, AuthFailed)
    assert unknown.hint.startswith("sign in with `ollama signin` or at https://ollama.com/")
    assert isinstance(refused, AuthFailed)
    assert "requires a subscription" in refused.message
    assert "sign" not in refused.hint, "that would not help"


async def test_a_model_that_shares_weights_runs_as_its_sibling() -> None:
    async with OllamaServer() as server:
        server.add_sibling("llama3.2-brief:latest", MODEL)
        provider = Ollama(name="ollama", base_url=server.url)
        await collect(provider, ask(model=MODEL, window=4096))
        able = await provider.capabilities("llama3.2-brief")
        other = await provider.capabilities(THINKER)
        await collect(provider, ask(model="llama3.2-brief:latest", window=4096))
        running = await provider.running()
        await provider.unload("llama3.2-brief")
        rest = await provider.running()
        await provider.close()
    assert (able.window, other.window) == (4096, None)
    assert server.loads == 1
    assert running == (
        RunningModel(MODEL, ("llama3.2-brief:latest",), size_bytes=2_000_000_000, window=4096),
    )
    assert rest == ()


async def test_every_request_treats_a_full_window_alike_so_that_nothing_is_loaded_again() -> None:
    async with OllamaServer() as server:
        provider = Ollama(name="ollama", base_url=server.url)
        for _ in range(3):
            await collect(provider, ask(model=MODEL, window=4096))
        assert server.loads == 1
        options = {"num_ctx": 4096}
        body: Any = {"model": MODEL, "messages": [], "options": options, "shift": True}
        async with httpx.AsyncClient() as another_program:
            await another_program.post(f"{server.url}/api/chat", json=body)
        assert server.loads == 2, "the stand-in does as the real server"
        await provider.close()


async def test_a_model_that_is_not_there_can_be_neither_deleted_nor_copied_nor_unloaded() -> None:
    async with OllamaServer() as server:
        provider = Ollama(name="ollama", base_url=server.url)
        for change in (
            provider.delete("nonesuch"),
            provider.copy("nonesuch", "other"),
            provider.unload("nonesuch"),
        ):
            with pytest.raises(ModelMissing) as caught:
                await change
            assert caught.value.hint == "/models lists all"
        await provider.copy(MODEL, "other")
        await provider.delete(MODEL)
        await provider.close()
    assert MODEL not in server.models and "other:latest" in server.models


async def test_vectors_come_from_the_server_and_a_missing_model_is_named() -> None:
    async with OllamaServer() as server:
        provider = Ollama(name="ollama", base_url=server.url)
        vectors = await provider.embed(EMBEDDER, ["one", "two words"])
        with pytest.raises(ModelMissing):
            await provider.embed("nonesuch", ["one"])
        await provider.close()
    assert [len(vector) for vector in vectors] == [8, 8]
