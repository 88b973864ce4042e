"""Real llama.cpp speaks three of the formats: all adapters get the same answer from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.core.provider import Completed, PromptMessage, Provider
from ollm_tui.providers.anthropic import Anthropic
from ollm_tui.providers.embedded import Embedded
from ollm_tui.providers.llama_cpp.server_process import ServerTarget, start_server
from ollm_tui.providers.openai_chat import OpenAICompatible
from ollm_tui.providers.openai_responses import OpenAIResponses
from tests.stand_ins.collected_events import ask, collect, text_of

MODEL = "smollm2:135m"
MESSAGES = (
    PromptMessage(role="system", text="You are a helpful assistant."),
    PromptMessage(role="user", text="What is the capital of France?"),
    PromptMessage(role="assistant", text="The capital of France is Paris."),
    PromptMessage(role="user", text="And of Italy?"),
)


@pytest.mark.model
@pytest.mark.long
async def test_the_same_answer_comes_through_every_format(model_home: Path) -> None:
    embedded = Embedded(models_dir=model_home / "models")
    path = next((model_home / "models").rglob("*.gguf"))
    await embedded.close()
    server = await start_server(ServerTarget(name=MODEL, path=path, window=2048))
    url = f"http://127.0.0.1:{server.port}"
    providers: list[Provider] = [
        OpenAICompatible(name="chat", base_url=url, api_key=server.key),
        OpenAIResponses(name="responses", base_url=f"{url}/v1", api_key=server.key),
        Anthropic(name="messages", base_url=url, api_key=server.key),
    ]
    request = ask(model=MODEL, messages=MESSAGES, max_output=12, temperature=0.0)
    try:
        said: list[str] = []
        read: list[int] = []
        for provider in providers:
            events = await collect(provider, request)
            end = events[-1]
            assert isinstance(end, Completed)
            assert end.usage
            said.append(text_of(events))
            read.append(end.usage.input_tokens)
            counted = await provider.count_tokens(request)
            assert counted in (None, end.usage.input_tokens)
            await provider.close()
    finally:
        await server.stop()
    assert said[0]
    assert said == [said[0]] * 3
    assert read == [read[0]] * 3
