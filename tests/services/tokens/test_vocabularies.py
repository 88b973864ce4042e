"""Vocabularies as they come from model files and servers, also damaged ones."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.errors import Unavailable
from ollm_tui.core.provider import HasVocabulary, Vocabulary
from ollm_tui.providers.embedded import Embedded
from ollm_tui.providers.llama_cpp.gguf import read_vocabulary
from ollm_tui.providers.ollama import Ollama
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.tokens.tokenizer import Tokenizers
from ollm_tui.services.tokens.vocabulary_encoding import VocabularyEncoding
from tests.stand_ins.http_server import HttpServer, Reply, Request

NUMBER, INTEGER, TEXT, LIST = 4, 5, 8, 9
SMALL = Vocabulary("gpt-2", ["<s>", "a", "b", "ab"], (3, 1, 1, 1))


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def model_file(model: str = "gpt2") -> bytes:
    tokens = b"".join(map(text, SMALL.tokens))
    entries = [
        entry("general.architecture", TEXT, text("llama")),
        entry("general.tags", LIST, struct.pack("<IQ", TEXT, 2) + text("a") + text("b")),
        entry("llama.context_length", NUMBER, struct.pack("<I", 8192)),
        entry("llama.layers", LIST, struct.pack("<IQII", NUMBER, 2, 1, 2)),
        entry("tokenizer.ggml.model", TEXT, text(model)),
        entry("tokenizer.ggml.pre", TEXT, text("gpt-2")),
        entry("tokenizer.ggml.tokens", LIST, struct.pack("<IQ", TEXT, 4) + tokens),
        entry("tokenizer.ggml.token_type", LIST, struct.pack("<IQ4i", INTEGER, 4, *SMALL.kinds)),
        entry("tokenizer.ggml.merges", LIST, b"not read"),
    ]
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries)) + b"".join(entries)


def test_the_vocabulary_of_a_model_file_is_found_between_other_values(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(model_file())
    assert read_vocabulary(path) == SMALL
    assert SMALL.specials() == {"<s>": 0}


def test_a_vocabulary_of_another_kind_or_none_is_not_counted_with(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    assert read_vocabulary(path) is None
    for content in (b"", b"<html>not found</html>", model_file("llama")):
        path.write_bytes(content)
        assert read_vocabulary(path) is None


@given(place=st.integers(0, len(model_file()) - 1), value=st.binary(max_size=9))
def test_damage_never_raises(tmp_path: Path, place: int, value: bytes) -> None:
    path, whole = tmp_path / "model.gguf", model_file()
    path.write_bytes(whole[:place] + value + whole[place + len(value) :])
    read_vocabulary(path)
    path.write_bytes(whole[:place])
    read_vocabulary(path)


def shown(**changes: Any) -> dict[str, Any]:
    info = {
        "general.architecture": "llama",
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": list(SMALL.tokens),
        "tokenizer.ggml.token_type": list(SMALL.kinds),
        "tokenizer.ggml.merges": ["a b"],
    }
    return {"model_info": {**info, **changes}}


async def vocabulary_from(answer: Any, status: int = 200) -> Vocabulary | None:
    async def show(request: Request, reply: Reply) -> None:
        assert request.path == "/api/show"
        assert request.json == {"model": "llama3.2", "verbose": True}
        await reply.json(answer, status)

    async with HttpServer(show) as server:
        provider = Ollama(name="ollama", base_url=server.url)
        found = await provider.vocabulary("llama3.2")
        await provider.close()
    return found


async def test_ollama_tells_the_vocabulary_when_asked_for_everything() -> None:
    assert await vocabulary_from(shown()) == Vocabulary("gpt-2", list(SMALL.tokens), [3, 1, 1, 1])


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"model_info": None},
        shown(**{"tokenizer.ggml.model": "llama"}),
        shown(**{"tokenizer.ggml.tokens": None}),
        shown(**{"tokenizer.ggml.tokens": ["a", "b"]}),
        shown(**{"tokenizer.ggml.tokens": [1, 2, 3, 4]}),
        shown(**{"tokenizer.ggml.token_type": ["1", "1", "1", "1"]}),
    ],
)
async def test_an_answer_without_a_usable_vocabulary_is_none(answer: Any) -> None:
    assert await vocabulary_from(answer) is None


async def test_a_server_that_refuses_has_no_vocabulary() -> None:
    assert await vocabulary_from({"error": "model not found"}, 404) is None


async def test_a_model_that_is_not_here_has_no_vocabulary(tmp_path: Path) -> None:
    provider = Embedded(models_dir=tmp_path)
    assert isinstance(provider, HasVocabulary)
    assert await provider.vocabulary("smollm2:135m") is None
    assert await provider.vocabulary("../../etc/passwd") is None


class Silent(Scripted):
    """A server that is down when it is asked for a vocabulary."""

    async def vocabulary(self, model: str) -> Vocabulary | None:
        raise Unavailable("nobody there")


class Telling(Scripted):
    async def vocabulary(self, model: str) -> Vocabulary | None:
        return SMALL


async def test_the_own_vocabulary_is_preferred_to_the_general_one() -> None:
    tokenizers = Tokenizers()
    own = await tokenizers.of(Telling(name="telling"), "m")
    assert own.own
    assert await own.count(["ab<s>", "aab"]) == [2, 2]
    for provider in (Scripted(), Silent(name="silent")):
        general = await tokenizers.of(provider, "one")
        assert not general.own
        assert await general.count(["hello world"]) == [2]


async def test_models_that_read_by_a_shipped_vocabulary_are_counted_exactly() -> None:
    tokenizers, text = Tokenizers(), "Pommes frites, 你好 und Käsespätzle"
    counts = {
        name: VocabularyEncoding.shipped(name).count(text) for name in ("o200k_base", "cl100k_base")
    }
    assert counts["o200k_base"] != counts["cl100k_base"]
    for model in ("gpt-4o", "gpt-5-mini", "openai/gpt-4.1", "gpt-4.5-preview", "o3", "gpt-oss:20b"):
        found = await tokenizers.of(Scripted(), model)
        assert found.own, model
        assert await found.count([text]) == [counts["o200k_base"]], model
    for model in ("gpt-4", "gpt-4-turbo", "openai/gpt-4-0613", "gpt-3.5-turbo", "gpt-35-turbo-16k"):
        found = await tokenizers.of(Scripted(), model)
        assert found.own, model
        assert await found.count([text]) == [counts["cl100k_base"]], model
    for model in ("olmo", "llama3.2", "o365", "gpt-40b", "gpt-neox"):
        assert not (await tokenizers.of(Scripted(), model)).own, model
