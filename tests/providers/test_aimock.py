"""Our adapters against aimock, a mock server that others wrote: `make test-wire`, where Node is."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from ollm_tui.core.errors import BadAnswer, RateLimited, Unavailable
from ollm_tui.core.provider import (
    Image,
    Preparing,
    PromptMessage,
    Provider,
    ReasoningDelta,
    ToolCallArrived,
)
from ollm_tui.providers.anthropic import Anthropic
from ollm_tui.providers.aws_credentials import AwsAccount
from ollm_tui.providers.bedrock import Bedrock
from ollm_tui.providers.gemini import Gemini
from ollm_tui.providers.ollama import Ollama
from ollm_tui.providers.openai_chat import OpenAICompatible
from ollm_tui.providers.openai_responses import OpenAIResponses
from tests.stand_ins.collected_events import ask, collect, text_of, until_error

# Read before the isolation of tests empties the environment.
_PROGRAM, _PATH = os.environ.get("OLLM_AIMOCK", ""), os.environ.get("PATH", "")
pytestmark = pytest.mark.skipif(not _PROGRAM, reason="make test-wire starts it")

LONG_TEXT = "word " * 400
FIXTURES: list[dict[str, Any]] = [
    {"match": {"userMessage": "hello"}, "response": {"content": "Hello there, how are you?"}},
    {
        "match": {"userMessage": "think"},
        "response": {"content": "Done.", "reasoning": "Let me see"},
    },
    {
        "match": {"userMessage": "look"},
        "response": {
            "toolCalls": [
                {"name": "look", "arguments": json.dumps({"at": place})} for place in ("x", "y")
            ]
        },
    },
    {"match": {"userMessage": "long"}, "response": {"content": LONG_TEXT}},
    *(
        {
            "match": {"userMessage": f"status {status}"},
            "response": {"error": {"message": "it failed", "type": "api_error"}, "status": status},
        }
        for status in (429, 500, 529)
    ),
    {
        "match": {"userMessage": "break"},
        "response": {"content": LONG_TEXT},
        "truncateAfterChunks": 3,
    },
]
KINDS = ("chat", "responses", "anthropic", "gemini", "bedrock", "ollama")
KEYS = {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret"}


def provider_of(kind: str, url: str, headers: dict[str, str]) -> Provider:
    common: dict[str, Any] = {"name": kind, "headers": headers, "retry_seconds": 0}
    match kind:
        case "chat":
            return OpenAICompatible(base_url=url, api_key="k", **common)
        case "responses":
            return OpenAIResponses(base_url=f"{url}/v1", api_key="k", **common)
        case "anthropic":
            return Anthropic(base_url=url, api_key="k", **common)
        case "gemini":
            return Gemini(base_url=f"{url}/v1beta", api_key="k", **common)
        case "ollama":
            return Ollama(base_url=url, **common)
        case _:
            account = AwsAccount("p", KEYS)
            return Bedrock(region="us-east-1", account=account, base_url=url, **common)


MODELS = {"gemini": "gemini-2.5-flash", "bedrock": "anthropic.claude-3-5-sonnet-20241022-v2:0"}


@pytest.fixture
async def aimock(tmp_path: Path) -> AsyncGenerator[str, None]:
    """The address of a running mock with our fixtures."""
    fixtures = tmp_path / "fixtures.json"
    fixtures.write_text(json.dumps({"fixtures": FIXTURES}))
    arguments = ("--port", "0", "--fixtures", str(fixtures), "--log-level", "info")
    process = await asyncio.create_subprocess_exec(
        "node", _PROGRAM, *arguments, stdout=-1, stderr=-2, env={"PATH": _PATH}
    )
    assert process.stdout
    url = ""
    while not url:
        line = (await process.stdout.readline()).decode()
        assert line, "aimock ended before it was ready"
        url = next((word for word in line.split() if word.startswith("http://127")), "")
    yield url.rstrip("/")
    process.kill()
    await process.wait()


async def check(kind: str, url: str) -> None:
    """Put one adapter through everything the mock can do."""
    provider, model = provider_of(kind, url, {}), MODELS.get(kind, "gpt-4o")
    assert text_of(await collect(provider, ask("hello", model))) == "Hello there, how are you?"
    picture = PromptMessage(role="user", text="hello", images=(Image("image/png", "aGk="),))
    assert text_of(await collect(provider, ask(model=model, messages=(picture,))))
    events = await collect(provider, ask("think", model))
    thought = "".join(e.text for e in events if isinstance(e, ReasoningDelta))
    # The mock knows no thinking in Ollama's format.
    assert (text_of(events), thought) == ("Done.", "" if kind == "ollama" else "Let me see")
    events = await collect(provider, ask("look", model))
    calls = [e.call.args for e in events if isinstance(e, ToolCallArrived)]
    assert calls == [{"at": "x"}, {"at": "y"}]
    async with aclosing(provider.stream(ask("long", model))) as stream:
        await anext(stream)
    for status, error in ((429, RateLimited), (500, Unavailable), (529, RateLimited)):
        got, failed = await until_error(provider.stream(ask(f"status {status}", model)))
        # On a busy machine the tries take so long that it is said what is waited for.
        said = [event for event in got if not isinstance(event, Preparing)]
        assert (said, type(failed)) == ([], error), f"{kind}: {status}"
    # Where the mock breaks the connection, what it had written may be lost.
    _, failed = await until_error(provider.stream(ask("break", model)))
    assert isinstance(failed, Unavailable | BadAnswer)
    await provider.close()


@pytest.mark.parametrize("kind", KINDS)
async def test_an_adapter_understands_a_server_that_others_wrote(kind: str, aimock: str) -> None:
    await check(kind, aimock)
