"""Models, windows and counting of servers of the chat completions kind."""

from __future__ import annotations

import pytest

from ollm_tui.core.errors import ModelMissing
from ollm_tui.core.provider import Capabilities
from tests.stand_ins.collected_events import ask
from tests.stand_ins.openai_server import answering, by_path, served

MODELS = {
    "data": [
        {"id": "a", "context_length": 32768, "supported_parameters": ["tools", "reasoning"]},
        {"id": "b", "max_model_len": 4096},
        {"id": "evil\x1b[2J"},
        {"id": 7},
    ]
}


async def test_models_are_listed_without_names_that_cannot_be_shown() -> None:
    async with served(by_path({"/v1/models": answering(MODELS)})) as (provider, _):
        models = await provider.list_models()
        assert [(model.name, model.max_window) for model in models] == [("a", 32768), ("b", 4096)]
        assert await provider.default_model() == "a"


async def test_no_model_is_said_to_be_missing() -> None:
    async with served(by_path({"/v1/models": answering({"data": []})})) as (provider, _):
        with pytest.raises(ModelMissing):
            await provider.default_model()


async def test_capabilities_come_from_the_model_list_and_are_asked_once() -> None:
    async with served(by_path({"/v1/models": answering(MODELS)})) as (provider, server):
        expected = Capabilities(tools=True, thinking=True, window=32768, max_window=32768)
        assert await provider.capabilities("a") == expected
        asked = len(server.requests)
        assert await provider.capabilities("a") == expected
        assert len(server.requests) == asked
        assert await provider.capabilities("b") == Capabilities(window=4096, max_window=4096)


async def test_a_server_that_tells_nothing_has_unknown_capabilities() -> None:
    async with served(by_path({})) as (provider, _):
        assert await provider.capabilities("a") == Capabilities()
        assert await provider.count_tokens(ask()) is None


LLAMA_CPP = {
    "/v1/models": answering({"data": [{"id": "gguf", "meta": {"n_ctx_train": 8192, "size": 9}}]}),
    "/props": answering(
        {
            "default_generation_settings": {"n_ctx": 2048},
            "chat_template": "{{ messages }}",
            "chat_template_caps": {"supports_tools": False},
            "modalities": {"vision": False},
        }
    ),
    "/v1/chat/completions/input_tokens": answering({"input_tokens": 31}),
}


async def test_llama_cpp_tells_its_window_and_counts() -> None:
    async with served(by_path(LLAMA_CPP)) as (provider, server):
        assert await provider.capabilities("gguf") == Capabilities(
            tools=False, counting=True, thinking=False, images=False, window=2048, max_window=8192
        )
        assert await provider.count_tokens(ask("how long?")) == 31
        assert server.requests[-1].json["messages"][0]["content"] == "how long?"


async def test_a_server_that_cannot_count_is_asked_once_and_without_the_prompt() -> None:
    async with served(by_path({})) as (provider, server):
        for _ in range(2):
            assert await provider.count_tokens(ask("my secret plan")) is None
    assert len(server.requests) == 1
    assert b"secret" not in server.requests[0].body
