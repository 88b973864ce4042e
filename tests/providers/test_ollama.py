"""Ollama's wire format. The marked tests also run against a real server:
`OLLM_TEST_OLLAMA=http://127.0.0.1:11434 pytest -m ollama`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from ollm_tui.core.errors import ModelMissing, OverLimit
from ollm_tui.core.provider import Completed, PromptMessage, Provider, ToolSpec
from ollm_tui.providers.ollama import Ollama, ollama_address
from tests.stand_ins.collected_events import ask, collect, text_of

pytestmark = pytest.mark.ollama

WINDOW = 2048
BRIEF: dict[str, Any] = {"window": WINDOW, "max_output": 24, "temperature": 0.0}


async def test_it_is_a_provider(ollama: Ollama) -> None:
    provider: Provider = ollama
    assert provider.name == "ollama"


async def test_a_running_server_answers(ollama: Ollama) -> None:
    assert await ollama.presence(5) == "there"


async def test_an_answer_ends_with_measured_usage(ollama: Ollama, ollama_model: str) -> None:
    events = await collect(ollama, ask("Say hello to me", ollama_model, **BRIEF))
    done = events[-1]
    assert text_of(events)
    assert isinstance(done, Completed)
    assert done.usage is not None
    assert done.usage.input_tokens > 0
    assert done.usage.output_tokens > 0
    assert done.usage.load_seconds is not None
    assert done.usage.prompt_seconds is not None
    assert done.usage.output_seconds is not None
    assert done.model


async def test_the_output_cap_ends_the_answer_with_length(
    ollama: Ollama, ollama_model: str
) -> None:
    request = ask(
        "Count from one to one hundred in words", ollama_model, window=WINDOW, max_output=3
    )
    done = (await collect(ollama, request))[-1]
    assert isinstance(done, Completed)
    assert done.finish == "length"
    assert done.usage is not None
    assert done.usage.output_tokens <= 3


async def test_a_prompt_that_does_not_fit_is_an_error_and_never_cut(
    ollama: Ollama, ollama_model: str
) -> None:
    with pytest.raises(OverLimit):
        await collect(ollama, ask("word " * 6000, ollama_model, **BRIEF))


async def test_many_messages_that_do_not_fit_are_an_error_too(
    ollama: Ollama, ollama_model: str
) -> None:
    messages = tuple(PromptMessage(role="user", text="word " * 400) for _ in range(10))
    with pytest.raises(OverLimit):
        await collect(ollama, ask(model=ollama_model, messages=messages, **BRIEF))


async def test_the_window_that_was_asked_for_is_the_one_allocated(
    ollama: Ollama, ollama_model: str
) -> None:
    await collect(ollama, ask("Hi", ollama_model, **BRIEF))
    capabilities = await ollama.capabilities(ollama_model)
    assert capabilities.window == WINDOW
    assert capabilities.max_window is not None
    assert capabilities.max_window >= WINDOW
    assert capabilities.tools is not None
    assert capabilities.thinking is not None


async def test_thinking_may_be_asked_of_every_model(ollama: Ollama, ollama_model: str) -> None:
    for thinking in (True, False, True):
        events = await collect(ollama, ask("Hi", ollama_model, thinking=thinking, **BRIEF))
        assert isinstance(events[-1], Completed)


async def test_a_conversation_with_tool_calls_is_accepted(
    ollama: Ollama, ollama_model: str
) -> None:
    if not (await ollama.capabilities(ollama_model)).tools:
        pytest.skip("the model cannot use tools")
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    tool = ToolSpec("read_file", "Reads a file.", schema)
    events = await collect(ollama, ask("Read the file a.txt", ollama_model, tools=(tool,), **BRIEF))
    assert isinstance(events[-1], Completed)


async def test_the_installed_models_are_listed(ollama: Ollama, ollama_model: str) -> None:
    models = {model.name: model for model in await ollama.list_models()}
    assert ollama_model in models
    assert models[ollama_model].size_bytes
    assert models[ollama_model].quantization


async def test_a_missing_model_is_named_with_the_way_to_get_it(ollama: Ollama) -> None:
    for attempt in (
        ollama.capabilities("no-such-model"),
        collect(ollama, ask(model="no-such-model")),
    ):
        with pytest.raises(ModelMissing) as caught:
            await attempt
        assert "no-such-model" in caught.value.message
        assert caught.value.hint == "get it with `ollama pull no-such-model`"


async def test_an_answer_can_be_closed_and_the_next_one_comes(
    ollama: Ollama, ollama_model: str
) -> None:
    request = ask("Count from one to one hundred in words", ollama_model, window=WINDOW)
    stream = ollama.stream(request)
    await anext(stream)
    await stream.aclose()
    assert isinstance((await collect(ollama, ask("Hi", ollama_model, **BRIEF)))[-1], Completed)


async def test_tokens_are_not_counted_before_the_answer(ollama: Ollama) -> None:
    assert await ollama.count_tokens(ask()) is None


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("http://127.0.0.1:11434/", "http://127.0.0.1:11434"),
        ("localhost:11434", "http://localhost:11434"),
        ("localhost", "http://localhost:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("http://0.0.0.0:1234", "http://127.0.0.1:1234"),
        (":8080", "http://127.0.0.1:8080"),
        ("[::]:11434", "http://[::1]:11434"),
        ("https://ollama.example.com/", "https://ollama.example.com"),
        ("http://box:11434/api", "http://box:11434"),
        ("http://box:11434/v1/", "http://box:11434"),
        ("  10.0.0.5  ", "http://10.0.0.5:11434"),
    ],
)
def test_addresses_are_understood_as_people_write_them(written: str, address: str) -> None:
    assert ollama_address(written) == address


async def test_a_schema_binds_the_answer(ollama: Ollama, ollama_model: str) -> None:
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
    }
    request = ask('{"ok":true}', ollama_model, window=WINDOW, max_output=50, answer_schema=schema)
    assert isinstance(json.loads(text_of(await collect(ollama, request))), dict)
