"""Counts against the truth: what the embedded server says a prompt has, in every kind of text."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest

from ollm_tui.core.provider import ChatRequest, Completed
from ollm_tui.providers.embedded import Embedded
from ollm_tui.providers.llama_cpp.model_catalogue import SMOLLM2
from ollm_tui.providers.llama_cpp.server_process import ServerTarget, start_server
from ollm_tui.services.tokens.careful_estimate import careful_estimate
from ollm_tui.services.tokens.counter import TokenCounter, TokenCounters
from ollm_tui.services.tokens.learnt import ModelMemory
from ollm_tui.services.tokens.prompt_count import Piece
from ollm_tui.services.tokens.vocabulary_encoding import VocabularyEncoding
from tests.approximately import approx
from tests.cases import some
from tests.conftest import MODELS
from tests.services.tokens.counting import SYSTEM, Loaded, piece
from tests.services.tokens.samples import MORE_TEXTS, SAMPLES
from tests.stand_ins.collected_events import collect

MODEL = SMOLLM2.name

pytestmark = pytest.mark.model


@pytest.fixture
async def embedded(model_home: Path) -> AsyncGenerator[Embedded, None]:
    provider = Embedded(models_dir=model_home / "models")
    yield provider
    await provider.close()


def request(prompt: list[Piece], max_output: int | None = None) -> ChatRequest:
    messages = tuple(p.message for p in prompt)
    return ChatRequest(model=MODEL, messages=messages, window=8192, max_output=max_output)


async def truth(provider: Embedded, prompt: list[Piece]) -> int:
    tokens = await provider.count_tokens(request(prompt))
    assert tokens is not None
    return tokens


async def test_the_tokens_are_the_ones_of_the_server(own: VocabularyEncoding) -> None:
    target = ServerTarget(name=MODEL, path=MODELS / SMOLLM2.file_name, window=512)
    server = await start_server(target)
    address = f"http://127.0.0.1:{server.port}/tokenize"
    texts = [text for pair in SAMPLES.values() for text in pair]
    texts += [
        "",
        " ",
        "  7  8",
        "a\n\n\n  b",
        "\t\tx = 10**6\n",
        "<|im_end|>",
        "it's I'LL",
        "\x00é",
    ]
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {server.key}"}) as client:
        for text in texts:
            answer = await client.post(address, json={"content": text, "parse_special": True})
            assert own.tokens(text) == answer.json()["tokens"], text
    await server.stop()


async def test_with_the_own_vocabulary_every_prompt_is_counted_to_the_token(
    embedded: Embedded,
) -> None:
    counter = TokenCounters(None).counter(embedded, MODEL)
    prompt = [SYSTEM, piece("first", "Hello!")]
    await counter.measured(prompt, (), await truth(embedded, prompt))
    for turn, (kind, (answer, question)) in enumerate(SAMPLES.items()):
        prompt += [piece(f"{kind} answer", answer, "assistant"), piece(kind, question)]
        read = await truth(embedded, prompt)
        count = await counter.settle(prompt)
        if turn > 0:
            assert count.tokens == read, kind
            assert count.source == "exact" or turn == 1
        await counter.measured(prompt, (), read)


async def test_the_check_before_sending_equals_what_the_model_then_reads(
    embedded: Embedded,
) -> None:
    counter = TokenCounters(None).counter(embedded, MODEL)
    prompt = [SYSTEM, piece("a", SAMPLES["german"][0])]
    checked = await counter.check(request(prompt), prompt)
    last = (await collect(embedded, request(prompt, max_output=1)))[-1]
    assert isinstance(last, Completed)
    assert last.usage is not None
    assert checked.tokens == last.usage.input_tokens
    assert checked.source == "exact"


@some(4, "kind", SAMPLES)
def test_an_estimate_without_vocabulary_is_never_far_below_the_truth(
    own: VocabularyEncoding, kind: str
) -> None:
    for text in SAMPLES[kind]:
        assert careful_estimate(text) >= own.count(text) * 0.9


@some(4, "kind", MORE_TEXTS)
def test_the_estimate_holds_for_texts_it_was_not_fitted_to(
    own: VocabularyEncoding, kind: str
) -> None:
    assert careful_estimate(MORE_TEXTS[kind]) >= own.count(MORE_TEXTS[kind]) * 0.9


@pytest.mark.more
async def test_before_a_measurement_no_estimate_is_below_nine_tenths_of_the_truth(
    embedded: Embedded, generic: VocabularyEncoding
) -> None:
    for kind, (text, _) in SAMPLES.items():
        counter = TokenCounter(embedded, MODEL, Loaded(generic), ModelMemory(None))
        prompt = [SYSTEM, piece("a", text)]
        read = await truth(embedded, prompt)
        assert counter.count(prompt).tokens >= read * 0.9, kind
        assert (await counter.settle(prompt)).tokens >= read * 0.9, kind


@some(1, "order", [(0, 1), (1, 0)], ids=["first-second", "second-first"])
async def test_after_one_measured_turn_every_estimate_is_within_five_percent(
    embedded: Embedded, generic: VocabularyEncoding, order: tuple[int, int]
) -> None:
    for kind, texts in SAMPLES.items():
        first, second = (texts[place] for place in order)
        counter = TokenCounter(embedded, MODEL, Loaded(generic), ModelMemory(None))
        prompt = [SYSTEM, piece("a", first)]
        await counter.measured(prompt, (), await truth(embedded, prompt))
        prompt += [piece("b", "OK.", "assistant"), piece("c", second)]
        count = await counter.settle(prompt)
        assert count.tokens == approx(await truth(embedded, prompt), rel=0.05), kind
