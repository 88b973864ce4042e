"""The vendors' own client libraries as counterparts: they and our adapters meet the same servers
and see the same; and what our adapters send has the shape that the libraries know.

One test for each library: loading one takes a second or two.
"""

from __future__ import annotations

import asyncio
import importlib
import json
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from ollm_tui.core.errors import ProviderError, RateLimited
from ollm_tui.core.provider import (
    ChatRequest,
    Completed,
    Image,
    PromptMessage,
    Provider,
    ReasoningDelta,
    TextDelta,
    ToolCallArrived,
    ToolSpec,
)
from ollm_tui.core.session.message import Opaque, ToolCallPart
from ollm_tui.providers.anthropic import Anthropic
from ollm_tui.providers.aws_credentials import AwsAccount
from ollm_tui.providers.bedrock import Bedrock
from ollm_tui.providers.gemini import Gemini
from ollm_tui.providers.openai_responses import OpenAIResponses
from ollm_tui.providers.wire.aws_signing import Credentials, signed_headers
from tests.providers.test_hosted import ANSWERS, ITEMS, KEYS, ROUTE, talk
from tests.stand_ins.anthropic_server import (
    MODEL,
    SIGNATURE,
    anthropic,
    ended,
    started,
    text,
    thinking,
    tool_use,
)
from tests.stand_ins.collected_events import ask, collect, until_error
from tests.stand_ins.hosted_servers import answering_at
from tests.stand_ins.http_server import HttpServer
from tests.stand_ins.openai_server import refusing

pytestmark = pytest.mark.more  # each library takes a second to load; the wire has tests of its own

pytestmark = pytest.mark.filterwarnings("ignore")

KEY = "a-secret-key-of-ours"
TOOL = ToolSpec("look", "Look at it.", {"type": "object", "properties": {"at": {"type": "string"}}})
Seen = tuple[str, str, list[tuple[str, Any]], int, int]
"""Text, thinking, calls, and the tokens read and written."""


async def seen(provider: Provider, request: ChatRequest) -> tuple[Seen, Completed]:
    """What our adapter sees of an answer."""
    events = await collect(provider, request)
    end = events[-1]
    assert isinstance(end, Completed)
    assert end.usage
    said = "".join(e.text for e in events if isinstance(e, TextDelta))
    thought = "".join(e.text for e in events if isinstance(e, ReasoningDelta))
    calls = [(e.call.name, e.call.args) for e in events if isinstance(e, ToolCallArrived)]
    return (said, thought, calls, end.usage.input_tokens, end.usage.output_tokens), end


def library(name: str) -> Any:
    """Load a library that has no types."""
    return importlib.import_module(name)


def strictly(kind: Any, value: Any) -> None:
    """Check a request against the types of a library: no field that it does not know, and what it
    knows as it should be."""
    import pydantic

    assert set(value) <= set(kind.__annotations__)
    pydantic.TypeAdapter(kind).validate_python(value)


CLAUDE_ITEMS = (
    {"type": "thinking", "thinking": "let me see", "signature": SIGNATURE},
    {"type": "text", "text": "Hello"},
    {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "x"}},
)


async def test_anthropics_client_and_our_adapter_see_the_same() -> None:
    import anthropic as sdk
    from anthropic.types import message_create_params

    answer = [
        started(),
        thinking(0, "let me ", "see"),
        text(1, "Hel", "lo"),
        tool_use(2, "toolu_1", "look", '{"at"', ': "x"}'),
        ended("tool_use"),
    ]
    call = ToolCallPart(call_id="ours", name="look", args={"at": "x"})
    opaque = Opaque(vendor="v", model=MODEL, items=CLAUDE_ITEMS, calls=("ours",))
    messages = (
        PromptMessage(role="system", text="Be brief."),
        PromptMessage(role="user", text="Look", images=(Image("image/png", "aGk="),)),
        PromptMessage(role="assistant", text="Hello", tool_calls=(call,), opaque=opaque),
        PromptMessage(role="tool", text="this", tool_call_id="ours", tool_name="look"),
    )
    request = ask(model=MODEL, messages=messages, tools=(TOOL,), thinking="high")
    async with HttpServer(anthropic(answer, tokens=42)) as server:
        provider = Anthropic(name="p", base_url=server.url, api_key=KEY)
        ours, end = await seen(provider, request)
        body = server.requests[-1].json
        count = await provider.count_tokens(request)
        await provider.close()
        client = sdk.AsyncAnthropic(base_url=server.url, api_key=KEY, max_retries=0)
        plain: Any = {key: body[key] for key in ("model", "max_tokens", "messages", "tools")}
        async with client.messages.stream(**plain) as stream:
            message = await stream.get_final_message()
        counted = await client.messages.count_tokens(model=MODEL, messages=body["messages"])
        await client.close()
    blocks = [block.model_dump(exclude_none=True) for block in message.content]
    assert tuple(blocks) == end.opaque == CLAUDE_ITEMS
    assert ours == ("Hello", "let me see", [("look", {"at": "x"})], 7, 5)
    assert (message.usage.input_tokens, message.usage.output_tokens) == (7, 5)
    assert count == counted.input_tokens == 42
    strictly(message_create_params.MessageCreateParamsStreaming, body)


async def test_openais_client_and_our_adapter_see_the_same() -> None:
    import openai as sdk
    from openai.types.responses import response_create_params

    routes = {"/responses": ANSWERS["responses"], "/input_tokens": {"input_tokens": 42}}
    messages = talk("responses")
    request = ask(model="gpt-5.1", messages=messages, tools=(TOOL,), thinking="high")
    async with HttpServer(answering_at(routes)) as server:
        provider = OpenAIResponses(name="p", base_url=f"{server.url}/v1", api_key=KEY)
        ours, end = await seen(provider, request)
        sent = server.requests[-1]
        await provider.close()
        client = sdk.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=KEY, max_retries=0)
        plain: Any = {key: sent.json[key] for key in ("model", "input", "store")}
        async with client.responses.stream(**plain) as stream:
            final = await stream.get_final_response()
        theirs = server.requests[-1]
        azure = sdk.AsyncAzureOpenAI(
            azure_endpoint=server.url, api_key=KEY, api_version="v1", max_retries=0
        )
        await (await azure.responses.create(stream=True, **plain)).close()
        as_azure = server.requests[-1]
        variant = OpenAIResponses(
            name="p", base_url=f"{server.url}/openai", api_key=KEY, api_version="v1"
        )
        await collect(variant, request)
        own_azure = server.requests[-1]
        await variant.close()
    items = [item.model_dump(exclude_none=True, exclude={"parsed"}) for item in final.output]
    for item in items:  # what the library works out for convenience
        item.pop("parsed_arguments", None)
        for part in cast(list[dict[str, Any]], item.get("content", [])):
            part.pop("parsed", None)
    assert tuple(items) == end.opaque == ITEMS["responses"]
    assert ours[:3] == ("Hello", "let me see", [("look", {"at": "x"}), ("look", {})])
    assert final.usage
    assert ours[3:] == (final.usage.input_tokens, final.usage.output_tokens)
    assert sent.headers["authorization"] == theirs.headers["authorization"]
    assert (as_azure.path, as_azure.headers["api-key"]) == (own_azure.path, KEY)
    assert own_azure.headers["api-key"] == KEY
    strictly(response_create_params.ResponseCreateParamsStreaming, sent.json)


async def test_googles_client_and_our_adapter_see_the_same() -> None:
    from google import genai as sdk
    from google.genai import types

    model = "gemini-3.5-flash"
    request = ask(model=model, messages=talk("gemini"), tools=(TOOL,), thinking="high")
    async with HttpServer(answering_at({ROUTE["gemini"]: ANSWERS["gemini"]})) as server:
        provider = Gemini(name="p", base_url=server.url, api_key=KEY)
        ours, _ = await seen(provider, request)
        sent = server.requests[-1]
        await provider.close()
        options = types.HttpOptions(base_url=server.url)
        client = sdk.Client(api_key=KEY, http_options=options)
        said, thought, calls, usage = "", "", list[tuple[str, Any]](), None
        stream = await client.aio.models.generate_content_stream(model=model, contents="Look")
        async for chunk in stream:
            usage = chunk.usage_metadata or usage
            for part in (chunk.candidates or [])[0].content.parts or []:  # pyright: ignore[reportOptionalMemberAccess] the stand-in always sends one
                if part.function_call:
                    calls.append((part.function_call.name or "", part.function_call.args or {}))
                elif part.thought:
                    thought += part.text or ""
                else:
                    said += part.text or ""
        theirs = server.requests[-1]
        await client.aio.aclose()
    assert ours[:3] == (said, thought, calls)
    assert usage
    written = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
    assert ours[3:] == (usage.prompt_token_count, written)
    assert (sent.path, sent.headers["x-goog-api-key"]) == (
        theirs.path,
        theirs.headers["x-goog-api-key"],
    )
    # Each content, tool and setting is read by the library's own types, which allow no others.
    for content in sent.json["contents"]:
        types.Content.model_validate(content)
    types.Tool.model_validate(sent.json["tools"][0])
    types.ThinkingConfig.model_validate(sent.json["generationConfig"]["thinkingConfig"])


async def test_amazons_client_and_our_adapter_see_the_same() -> None:
    botocore = library("botocore.session")
    config = library("botocore.config")

    model = "anthropic.claude-x-v1:0"
    request = ask(model=model, messages=talk("bedrock"), tools=(TOOL,))
    async with HttpServer(answering_at({ROUTE["bedrock"]: ANSWERS["bedrock"]})) as server:
        provider = Bedrock(
            name="p", region="us-east-1", account=AwsAccount("p", KEYS), base_url=server.url
        )
        ours, _ = await seen(provider, request)
        sent = server.requests[-1]
        await provider.close()

        def theirs() -> list[dict[str, Any]]:
            client: Any = botocore.Session().create_client(
                "bedrock-runtime",
                region_name="us-east-1",
                endpoint_url=server.url,
                aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
                aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
                config=config.Config(retries={"total_max_attempts": 1}),
            )
            body = json.loads(sent.body)
            # The library takes bytes where the format has base64.
            body["messages"][0]["content"][0]["image"]["source"]["bytes"] = b"hi"
            return list(client.converse_stream(modelId=model, **body)["stream"])

        events = await asyncio.to_thread(theirs)
        same = server.requests[-1]
    assert json.loads(same.body) == json.loads(sent.body)
    assert same.path == sent.path
    deltas = [e["contentBlockDelta"]["delta"] for e in events if "contentBlockDelta" in e]
    said = "".join(d.get("text", "") for d in deltas)
    thought = "".join(d.get("reasoningContent", {}).get("text", "") for d in deltas)
    assert ours[:2] == (said, thought)
    usage = next(e["metadata"]["usage"] for e in events if "metadata" in e)
    assert ours[3:] == (usage["inputTokens"] + usage["cacheReadInputTokens"], usage["outputTokens"])


async def test_our_signature_is_that_of_amazons_client() -> None:
    auth, requests = library("botocore.auth"), library("botocore.awsrequest")
    credentials = library("botocore.credentials")

    url = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/a.b%3A0%2Fc/converse-stream"
    for token in (None, "a/token+of=ours"):
        for address in (url, "https://bedrock.eu-west-1.amazonaws.com/models?b=2&a=x%20y"):
            given = credentials.Credentials("AKID", "secret/+", token)
            request: Any = requests.AWSRequest(
                "POST", address, data=b'{"a": 1}', headers={"content-type": "application/json"}
            )
            auth.SigV4Auth(given, "bedrock", "eu-west-1").add_auth(request)
            moment = request.headers["X-Amz-Date"]
            ours = signed_headers(
                "POST",
                address,
                b'{"a": 1}',
                Credentials("AKID", "secret/+", token),
                "eu-west-1",
                now=datetime.strptime(moment, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC),
            )
            assert ours["authorization"] == request.headers["Authorization"]


async def test_a_busy_server_is_told_alike() -> None:
    import anthropic as sdk

    busy = refusing(429, {"type": "error", "error": {"type": "rate_limit_error", "message": "m"}},
                    **{"Retry-After": "60"})  # fmt: skip
    async with HttpServer(busy) as server:
        provider = Anthropic(name="p", base_url=server.url, api_key=KEY)
        _, failed = await until_error(provider.stream(ask(model=MODEL)))
        await provider.close()
        client = sdk.AsyncAnthropic(base_url=server.url, api_key=KEY, max_retries=0)
        with pytest.raises(sdk.RateLimitError) as caught:
            await client.messages.create(
                model=MODEL, max_tokens=5, messages=[{"role": "user", "content": "Hi"}]
            )
        await client.close()
    assert isinstance(failed, ProviderError)
    assert isinstance(failed, RateLimited)
    assert caught.value.response.headers["retry-after"] == f"{failed.retry_after:g}"
