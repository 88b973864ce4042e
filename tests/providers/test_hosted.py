"""OpenAI's Responses, Gemini and Bedrock: requests as they are sent, answers as they come."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ollm_tui.core.errors import (
    AuthFailed,
    BadAnswer,
    ModelMissing,
    OverLimit,
    ProviderError,
    RateLimited,
    Unavailable,
)
from ollm_tui.core.provider import (
    Capabilities,
    ChatRequest,
    CompactedPrompt,
    Completed,
    Image,
    PromptMessage,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolCallArrived,
    ToolSpec,
)
from ollm_tui.core.session.message import Opaque, ToolCallPart, Usage
from ollm_tui.providers.aws_credentials import AwsAccount
from ollm_tui.providers.bedrock import Bedrock
from ollm_tui.providers.gemini import Gemini
from ollm_tui.providers.openai_chat import OpenAICompatible
from ollm_tui.providers.openai_responses import OpenAIResponses
from ollm_tui.providers.wire.hosted import Hosted
from tests.stand_ins.collected_events import ask, collect, joined, until_error
from tests.stand_ins.hosted_servers import (
    ENCRYPTED,
    GEMINI_USAGE,
    THOUGHT_SIGNATURE,
    answering_at,
    bedrock_stream,
    call_item,
    frame,
    gemini_chunk,
    message_item,
    reasoning_item,
    response,
    responses_stream,
)
from tests.stand_ins.http_server import Handler, HttpServer, Request
from tests.stand_ins.openai_server import (
    event,
    one_after_the_other,
    refusing,
    reset_after,
    reset_at_once,
    streaming,
    text_answer,
)

KEY = "a-secret-key-of-ours"
KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG"}
TOOL = ToolSpec("look", "Look at it.", {"type": "object", "properties": {}})
USAGE = Usage(input_tokens=75, output_tokens=9, cached_tokens=64, reasoning_tokens=4)
MODELS = {
    "responses": "gpt-5.1",
    "gemini": "gemini-3.5-flash",
    "bedrock": "anthropic.claude-x-v1:0",
}


def provider_of(kind: str, url: str) -> Hosted:
    match kind:
        case "responses":
            return OpenAIResponses(name="p", base_url=url + "/v1", api_key=KEY, retry_seconds=0)
        case "gemini":
            return Gemini(name="p", base_url=url, api_key=KEY, retry_seconds=0)
        case _:
            account = AwsAccount("p", KEYS)
            return Bedrock(
                name="p", region="us-east-1", account=account, base_url=url, retry_seconds=0
            )


@asynccontextmanager
async def served(kind: str, handler: Handler) -> AsyncGenerator[tuple[Any, HttpServer], None]:
    async with HttpServer(handler) as server:
        provider = provider_of(kind, server.url)
        try:
            yield provider, server
        finally:
            await provider.close()


def asked(kind: str, **fields: Any) -> ChatRequest:
    return ask(model=MODELS[kind], **fields)


ROUTE = {"responses": "/responses", "gemini": "streamGenerateContent", "bedrock": "converse-stream"}
CALL = {"toolUseId": "tooluse_1", "name": "look"}
THOUGHT = [{"text": "let me "}, {"text": "see"}, {"signature": "c2lnbmVk"}]
ANSWERS: dict[str, list[bytes]] = {
    "responses": responses_stream(
        reasoning_item(), message_item(), call_item(1), call_item(2, "{}")
    ),
    "gemini": [
        gemini_chunk({"text": "let me ", "thought": True}),
        gemini_chunk({"text": "see", "thought": True}),
        gemini_chunk({"text": "Hel"}),
        gemini_chunk({"text": "lo"}),
        gemini_chunk(
            {
                "functionCall": {"id": "call_1", "name": "look", "args": {"at": "x"}},
                "thoughtSignature": THOUGHT_SIGNATURE,
            },
            {"functionCall": {"id": "call_2", "name": "look", "args": {}}},
            finish="STOP",
            usageMetadata=GEMINI_USAGE,
        ),
    ],
    "bedrock": bedrock_stream(
        [{"reasoningContent": each} for each in THOUGHT],
        [{"text": "Hel"}, {"text": "lo"}],
        [
            {"start": {"toolUse": {**CALL, "toolUseId": "call_1"}}},
            {"toolUse": {"input": '{"at"'}},
            {"toolUse": {"input": ': "x"}'}},
        ],
        [{"start": {"toolUse": {**CALL, "toolUseId": "call_2"}}}],
        stop="tool_use",
    ),
}
ITEMS: dict[str, tuple[dict[str, Any], ...]] = {
    "responses": (reasoning_item(), message_item(), call_item(1), call_item(2, "{}")),
    "gemini": (
        {"text": "let me see", "thought": True},
        {"text": "Hello"},
        {
            "functionCall": {"id": "call_1", "name": "look", "args": {"at": "x"}},
            "thoughtSignature": THOUGHT_SIGNATURE,
        },
        {"functionCall": {"id": "call_2", "name": "look", "args": {}}},
    ),
    "bedrock": (
        {
            "reasoningContent": {
                "reasoningText": {"text": "let me see", "signature": "c2lnbmVk"},
            }
        },
        {"text": "Hello"},
        {"toolUse": {"toolUseId": "call_1", "name": "look", "input": {"at": "x"}}},
        {"toolUse": {"toolUseId": "call_2", "name": "look", "input": {}}},
    ),
}
KINDS = sorted(MODELS)
REPLIES = {"responses": "gpt-5.1", "gemini": "gemini-3.5-flash", "bedrock": None}


@pytest.mark.parametrize("kind", KINDS)
async def test_thinking_words_and_parallel_calls_come_in_order(kind: str) -> None:
    async with served(kind, answering_at({ROUTE[kind]: ANSWERS[kind]})) as (provider, _):
        events = joined(await collect(provider, asked(kind)))
    usage = USAGE if kind != "bedrock" else replace(USAGE, reasoning_tokens=None)
    assert events == [
        ReasoningDelta("let me see"),
        TextDelta("Hello"),
        ToolCallArrived(ToolCallPart(call_id="call_1", name="look", args={"at": "x"})),
        ToolCallArrived(ToolCallPart(call_id="call_2", name="look", args={})),
        Completed(finish="tool_calls", usage=usage, model=REPLIES[kind], opaque=ITEMS[kind]),
    ]


@pytest.mark.parametrize("kind", KINDS)
async def test_an_answer_is_the_same_however_its_bytes_are_cut(kind: str) -> None:
    whole = b"".join(ANSWERS[kind])
    got: list[list[StreamEvent]] = []
    for size in (len(whole), 1, 5):
        pieces = [whole[i : i + size] for i in range(0, len(whole), size)]
        async with served(kind, streaming(pieces)) as (provider, _):
            got.append(joined(await collect(provider, asked(kind))))
    assert got[0] == got[1] == got[2]


def talk(kind: str, calls: tuple[str, ...] = ("ours_1", "ours_2")) -> tuple[PromptMessage, ...]:
    """A conversation with an opaque reply whose two calls were answered."""
    parts = tuple(ToolCallPart(call_id=f"ours_{n}", name="look", args={}) for n in (1, 2))
    opaque = Opaque(vendor="v", model=MODELS[kind], items=ITEMS[kind], calls=calls)
    return (
        PromptMessage(role="system", text="Be brief."),
        PromptMessage(role="user", text="Look", images=(Image("image/png", "aGk="),)),
        PromptMessage(role="assistant", text="Hello", tool_calls=parts, opaque=opaque),
        PromptMessage(role="tool", text="this", tool_call_id="ours_1", tool_name="look"),
        PromptMessage(role="tool", text="that", tool_call_id="ours_2", tool_name="look"),
    )


async def sent(kind: str, **fields: Any) -> Request:
    async with served(kind, answering_at({ROUTE[kind]: ANSWERS[kind]})) as (provider, server):
        await collect(provider, asked(kind, **fields))
        return server.requests[-1]


def blocks(kind: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Everything that is said in a request, in one list."""
    if kind == "responses":
        return body["input"]
    turns = body["contents" if kind == "gemini" else "messages"]
    return [part for turn in turns for part in turn["parts" if kind == "gemini" else "content"]]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_reply_goes_back_as_it_came_and_results_name_the_servers_ids(kind: str) -> None:
    request = await sent(kind, messages=talk(kind), tools=(TOOL,))
    said = blocks(kind, request.json)
    start = next(i for i, block in enumerate(said) if block == ITEMS[kind][0])
    assert tuple(said[start : start + 4]) == ITEMS[kind]
    results = json.dumps(said[start + 4 :])
    assert "call_1" in results
    assert "call_2" in results
    assert "ours_" not in request.body.decode()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_reply_whose_calls_do_not_match_is_sent_without_what_is_opaque(kind: str) -> None:
    request = await sent(kind, messages=talk(kind, calls=()), tools=(TOOL,))
    secret = {"responses": ENCRYPTED, "gemini": THOUGHT_SIGNATURE, "bedrock": "c2lnbmVk"}[kind]
    assert secret not in request.body.decode()
    assert "ours_1" in request.body.decode()


@pytest.mark.parametrize("kind", KINDS)
async def test_what_the_server_no_longer_accepts_is_left_out_once(kind: str) -> None:
    said = {"message": "the signature of the reasoning is not valid"}
    bad = refusing(400, said if kind == "bedrock" else {"error": said})
    async with served(kind, one_after_the_other([bad, streaming(ANSWERS[kind])])) as (p, server):
        await collect(p, asked(kind, messages=talk(kind), tools=(TOOL,)))
    first, second = (request.body.decode() for request in server.requests)
    assert "call_1" in first
    assert "ours_1" in second


async def test_openai_is_told_to_store_nothing() -> None:
    request = await sent("responses", messages=talk("responses"), tools=(TOOL,), thinking="high")
    body = request.json
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert (body["store"], body["include"]) == (False, ["reasoning.encrypted_content"])
    assert body["reasoning"] == {"summary": "auto", "effort": "high"}
    assert body["instructions"] == "Be brief."
    assert body["tools"][0]["name"] == "look"
    picture = body["input"][0]["content"][1]
    assert (picture["type"], picture["image_url"]) == ("input_image", "data:image/png;base64,aGk=")


async def test_gemini_gets_its_key_in_a_header_and_thinking_by_level_or_number() -> None:
    request = await sent("gemini", messages=talk("gemini"), tools=(TOOL,), thinking="low")
    assert request.headers["x-goog-api-key"] == KEY
    assert request.path == "/v1/models/gemini-3.5-flash:streamGenerateContent?alt=sse"
    config = request.json["generationConfig"]["thinkingConfig"]
    assert config == {"includeThoughts": True, "thinkingLevel": "LOW"}
    older = replace(asked("gemini", thinking="low"), model="gemini-2.5-pro")
    async with served("gemini", streaming(ANSWERS["gemini"])) as (provider, server):
        await collect(provider, older)
    config = server.requests[-1].json["generationConfig"]["thinkingConfig"]
    assert config == {"includeThoughts": True, "thinkingBudget": 2048}


async def test_bedrock_is_asked_with_a_signature_and_marks_for_the_cache() -> None:
    request = await sent("bedrock", messages=talk("bedrock"), tools=(TOOL,), window=10_000)
    assert request.path == "/model/anthropic.claude-x-v1%3A0/converse-stream"
    assert request.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "wJalr" not in str(request.headers)
    body = request.json
    point = {"cachePoint": {"type": "default"}}
    assert body["system"] == [{"text": "Be brief."}, point]
    assert body["messages"][-1]["content"][-1] == point
    assert body["inferenceConfig"] == {"maxTokens": 1500}
    picture = {"format": "png", "source": {"bytes": "aGk="}}
    assert body["messages"][0]["content"][0] == {"image": picture}


async def test_bedrock_gets_the_tools_of_earlier_calls_where_none_is_offered() -> None:
    body = (await sent("bedrock", messages=talk("bedrock"))).json
    assert [t["toolSpec"]["name"] for t in body["toolConfig"]["tools"]] == ["look"]


async def test_a_bearer_key_of_bedrock_needs_no_signature() -> None:
    account = AwsAccount("p", {"AWS_BEARER_TOKEN_BEDROCK": KEY})
    async with HttpServer(streaming(ANSWERS["bedrock"])) as server:
        provider = Bedrock(name="p", region="r", account=account, base_url=server.url)
        await collect(provider, asked("bedrock"))
        await provider.close()
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


COUNTS: dict[str, tuple[str, dict[str, int]]] = {
    "responses": ("/responses/input_tokens", {"input_tokens": 42}),
    "gemini": (":countTokens", {"totalTokens": 42}),
    "bedrock": ("/count-tokens", {"inputTokens": 42}),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_the_server_counts_each_prompt_once(kind: str) -> None:
    ending, answer = COUNTS[kind]
    async with served(kind, answering_at({ending: answer})) as (provider, server):
        for _ in range(2):
            assert await provider.count_tokens(asked(kind, tools=(TOOL,))) == 42
        assert await provider.count_tokens(asked(kind, text="other")) == 42
    assert len(server.requests) == 2


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_that_cannot_count_is_no_error(kind: str) -> None:
    async with served(kind, refusing(404, {})) as (provider, _):
        assert await provider.count_tokens(asked(kind)) is None


async def test_openai_compacts_and_the_items_go_back_as_they_came() -> None:
    made = ({"type": "compaction", "id": "cmp_1", "encrypted_content": ENCRYPTED},)
    routes = {
        "/responses/compact": {**response(*made), "object": "response.compaction"},
        "/responses/input_tokens": {"input_tokens": 12},
        "/responses": ANSWERS["responses"],
    }
    async with served("responses", answering_at(routes)) as (provider, server):
        compacted = await provider.compact(asked("responses", messages=talk("responses")))
        assert compacted == CompactedPrompt(
            provider=provider.vendor, model="gpt-5.1", items=made, tokens=12
        )
        assert set(server.requests[0].json) == {"model", "input", "instructions"}
        prompt = PromptMessage(role="assistant", text="in short", compacted=compacted)
        await collect(provider, asked("responses", messages=(prompt,)))
    assert server.requests[-1].json["input"] == list(made)


async def test_a_server_that_compacts_nothing_is_an_error_and_is_remembered() -> None:
    async with served("responses", refusing(404, {"error": {"message": "no"}})) as (provider, _):
        with pytest.raises(ProviderError):
            await provider.compact(asked("responses"))
        assert (await provider.capabilities("gpt-5.1")).compaction is False


async def test_azure_has_its_own_header_and_a_version_in_the_address() -> None:
    async with HttpServer(streaming(ANSWERS["responses"])) as server:
        provider = OpenAIResponses(
            name="p", base_url=f"{server.url}/openai", api_key=KEY, api_version="2025-04-01"
        )
        await collect(provider, ask(model="mine"))
        await provider.close()
    request = server.requests[0]
    assert request.path == "/openai/responses?api-version=2025-04-01"
    assert request.headers["api-key"] == KEY
    assert "authorization" not in request.headers


async def test_azures_chat_names_the_deployment_in_the_address() -> None:
    async with HttpServer(streaming([text_answer("Hi")])) as server:
        provider = OpenAICompatible(
            name="p",
            base_url=f"{server.url}/openai",
            api_key=None,
            headers={"api-key": KEY},
            azure_version="v",
        )
        await collect(provider, ask(model="my one"))
        await provider.close()
    assert server.requests[0].path == (
        "/openai/deployments/my%20one/chat/completions?api-version=v"
    )


def said(kind: str, status: int, message: str, name: str = "") -> Handler:
    if kind == "bedrock":
        return refusing(status, {"message": message}, **{"x-amzn-errortype": f"{name}:x"})
    return refusing(status, {"error": {"message": message, "code": name, "status": name}})


BEGUN: dict[str, bytes] = {
    "responses": b"".join(responses_stream(message_item("Hi"))[:4]),
    "gemini": gemini_chunk({"text": "Hi"}),
    "bedrock": frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Hi"}}),
}
FAULTS: list[tuple[str, Handler, type[ProviderError]]] = [
    *((kind, said(kind, 401, "no"), AuthFailed) for kind in KINDS),
    *((kind, said(kind, 500, "oops"), Unavailable) for kind in KINDS),
    *((kind, said(kind, 429, "slow", "rate_limit_exceeded"), RateLimited) for kind in KINDS),
    *((kind, said(kind, 529, "busy"), RateLimited) for kind in KINDS),
    *((kind, said(kind, 400, "the input is too long for it"), OverLimit) for kind in KINDS),
    *((kind, reset_at_once, Unavailable) for kind in KINDS),
    ("responses", said("responses", 404, "the model 'x' does not exist"), ModelMissing),
    ("responses", said("responses", 429, "pay", "insufficient_quota"), AuthFailed),
    (
        "gemini",
        refusing(400, [{"error": {"details": [{"reason": "API_KEY_INVALID"}]}}]),
        AuthFailed,
    ),
    ("gemini", streaming([event({"promptFeedback": {"blockReason": "SAFETY"}})]), BadAnswer),
    ("bedrock", said("bedrock", 403, "expired", "ExpiredTokenException"), AuthFailed),
    ("bedrock", said("bedrock", 400, "on-demand throughput isn't supported"), ModelMissing),
    ("bedrock", streaming([b"this is no frame at all"]), BadAnswer),
]


@pytest.mark.parametrize(("kind", "handler", "error"), FAULTS)
async def test_a_request_that_fails_says_why(
    kind: str, handler: Handler, error: type[ProviderError]
) -> None:
    async with served(kind, handler) as (provider, _):
        got, failed = await until_error(provider.stream(asked(kind)))
    assert (got, type(failed)) == ([], error)
    assert failed.hint


OVERLOADED = {"error": {"code": 503, "status": "UNAVAILABLE", "message": "busy"}}
MIDDLE: list[tuple[str, list[bytes], type[ProviderError]]] = [
    *((kind, [], Unavailable) for kind in KINDS),
    ("responses", [event({"type": "error", "code": "rate_limit_exceeded"})], RateLimited),
    ("responses", [event({"error": {"type": "server_error"}})], Unavailable),
    ("responses", [b"data: {broken\n\n"], BadAnswer),
    (
        "responses",
        responses_stream(last="failed", error={"code": "server_error", "message": "x"})[-1:],
        Unavailable,
    ),
    ("gemini", [event(OVERLOADED)], Unavailable),
    ("gemini", [b"data: {broken\n\n"], BadAnswer),
    ("bedrock", [frame("throttlingException", {"message": "s"}, "exception")], RateLimited),
    ("bedrock", [frame("modelStreamErrorException", {}, "exception")], Unavailable),
    ("bedrock", [frame("metadata", {})[:-1] + b"\0"], BadAnswer),
]


@pytest.mark.parametrize(("kind", "rest", "error"), MIDDLE)
async def test_what_had_arrived_is_kept_when_an_answer_breaks(
    kind: str, rest: list[bytes], error: type[ProviderError]
) -> None:
    async with served(kind, streaming([BEGUN[kind], *rest])) as (provider, server):
        got, failed = await until_error(provider.stream(asked(kind)))
    assert (joined(got), type(failed)) == ([TextDelta("Hi")], error)
    assert len(server.requests) == 1


@pytest.mark.parametrize("kind", KINDS)
async def test_a_connection_that_breaks_in_the_middle_is_not_tried_again(kind: str) -> None:
    async with served(kind, reset_after(BEGUN[kind])) as (provider, server):
        got, failed = await until_error(provider.stream(asked(kind)))
    assert (joined(got), type(failed), len(server.requests)) == ([TextDelta("Hi")], Unavailable, 1)


async def test_google_says_in_the_body_how_long_to_wait() -> None:
    detail = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
    busy = refusing(429, {"error": {"status": "RESOURCE_EXHAUSTED", "details": [detail]}})
    async with served("gemini", busy) as (provider, _):
        _, failed = await until_error(provider.stream(asked("gemini")))
    assert isinstance(failed, RateLimited)
    assert failed.retry_after == 34.5


async def test_models_that_cannot_chat_are_marked() -> None:
    google = [
        {
            "name": f"models/{name}",
            "inputTokenLimit": 1000,
            "supportedGenerationMethods": [method],
        }
        for name, method in (("talks", "generateContent"), ("embeds", "embedContent"))
    ]
    openai = [{"id": "text-embedding-3", "created": 2}, {"id": "gpt-5.1", "created": 1}]
    amazon = [
        {"modelId": "a.talks", "inferenceTypesSupported": ["ON_DEMAND"]},
        {"modelId": "a.profile-only", "inferenceTypesSupported": ["INFERENCE_PROFILE"]},
    ]
    lists: dict[str, dict[str, Any]] = {
        "gemini": {"/models": {"models": google}},
        "responses": {"/models": {"data": openai}},
        "bedrock": {
            "/foundation-models": {"modelSummaries": amazon},
            "/inference-profiles": {
                "inferenceProfileSummaries": [{"inferenceProfileId": "us.a.profile-only"}]
            },
        },
    }
    found: dict[str, list[tuple[str, bool]]] = {}
    for kind, routes in lists.items():
        async with served(kind, answering_at(routes)) as (provider, _):
            found[kind] = [(m.name, m.chats) for m in await provider.list_models()]
    assert found == {
        "gemini": [("talks", True), ("embeds", False)],
        "responses": [("gpt-5.1", True), ("text-embedding-3", False)],
        "bedrock": [("a.talks", True), ("us.a.profile-only", True)],
    }


async def test_gemini_says_the_window_of_a_model() -> None:
    routes = {"/models/gemini-3.5-flash": {"inputTokenLimit": 1000, "thinking": True}}
    async with served("gemini", answering_at(routes)) as (provider, _):
        able = await provider.capabilities("gemini-3.5-flash")
    assert able == Capabilities(thinking=True, window=1000, max_window=1000)


def test_keys_of_amazon_come_from_the_environment_or_a_profile(tmp_path: Path) -> None:
    (tmp_path / "credentials").write_text(
        "[work]\naws_access_key_id = A\naws_secret_access_key = B\n"
    )
    (tmp_path / "config").write_text("[profile work]\nregion = eu-central-1\n")
    files = {
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
    }
    named = AwsAccount("p", {**files, **KEYS}, "work")
    assert named.credentials()[:3] == ("A", "B", None)
    assert named.region() == "eu-central-1"
    plain = AwsAccount("p", {**files, **KEYS, "AWS_PROFILE": "work"})
    assert plain.credentials().access_key == "AKIDEXAMPLE"


def test_a_program_may_give_the_keys_and_is_asked_again_when_they_end(tmp_path: Path) -> None:
    soon = (datetime.now(UTC) + timedelta(minutes=1)).isoformat()
    answer = {"Version": 1, "AccessKeyId": "A", "SecretAccessKey": "B", "Expiration": soon}
    (tmp_path / "answer").write_text(json.dumps(answer))
    (tmp_path / "config").write_text(
        f"[default]\ncredential_process = sh -c 'echo x >> {tmp_path}/log; cat {tmp_path}/answer'\n"
    )
    account = AwsAccount(
        "p", {"AWS_CONFIG_FILE": str(tmp_path / "config"), "PATH": "/usr/bin:/bin"}
    )
    assert account.credentials().access_key == account.credentials().access_key == "A"
    assert (tmp_path / "log").read_text() == "x\nx\n"


def test_a_program_that_fails_shows_nothing_of_its_output(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("[default]\ncredential_process = echo top-secret\n")
    account = AwsAccount(
        "p", {"AWS_CONFIG_FILE": str(tmp_path / "config"), "PATH": "/usr/bin:/bin"}
    )
    with pytest.raises(AuthFailed) as caught:
        account.credentials()
    assert "top-secret" not in f"{caught.value} {caught.value.hint} {caught.value.__cause__}"
