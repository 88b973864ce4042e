"""Vectors from servers: asked for in one request, checked before they are used."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from ollm_tui.core.errors import BadAnswer, ModelMissing
from ollm_tui.core.provider import CanEmbed
from ollm_tui.providers.ollama import Ollama
from ollm_tui.providers.openai_chat import OpenAICompatible
from ollm_tui.providers.wire.json_lines import vectors_in
from tests.stand_ins.http_server import HttpServer, Reply, Request

TEXTS = ("one", "two")
VECTORS = ((0.5, 1.0), (0.0, -1.0))


@asynccontextmanager
async def server(document: Any, status: int = 200) -> AsyncGenerator[tuple[str, list[Request]]]:
    """A server that answers everything with a document."""
    asked: list[Request] = []

    async def answer(request: Request, reply: Reply) -> None:
        asked.append(request)
        await reply.json(document, status)

    async with HttpServer(answer) as http:
        yield http.url, asked


async def test_ollama_is_asked_for_all_vectors_at_once() -> None:
    async with server({"embeddings": [[0.5, 1], [0, -1]]}) as (url, asked):
        provider = Ollama(name="ollama", base_url=url)
        assert isinstance(provider, CanEmbed)
        assert await provider.embed("nomic-embed-text", TEXTS) == VECTORS
        assert asked[0].path == "/api/embed"
        assert asked[0].json["input"] == ["one", "two"]
        await provider.close()


async def test_an_openai_server_may_answer_in_any_order() -> None:
    data = [{"index": 1, "embedding": [0, -1]}, {"index": 0, "embedding": [0.5, 1]}]
    async with server({"data": data}) as (url, asked):
        provider = OpenAICompatible(name="local", base_url=url, api_key=None)
        assert isinstance(provider, CanEmbed)
        assert await provider.embed("small", TEXTS) == VECTORS
        assert asked[0].path == "/v1/embeddings"
        await provider.close()


async def test_a_model_that_is_not_there_is_named() -> None:
    async with server({"error": "model 'nomic' not found"}, 404) as (url, _):
        provider = Ollama(name="ollama", base_url=url)
        with pytest.raises(ModelMissing, match="nomic"):
            await provider.embed("nomic", TEXTS)
        await provider.close()


@pytest.mark.parametrize("vectors", ([], [[1]], [[1], [1, 2]], [["a"], ["b"]], [[], []], "no"))
async def test_an_answer_that_is_not_one_vector_a_text_is_refused(vectors: Any) -> None:
    async with server({"embeddings": vectors}) as (url, _):
        provider = Ollama(name="ollama", base_url=url)
        with pytest.raises(BadAnswer):
            await provider.embed("nomic", TEXTS)
        await provider.close()


def test_vectors_are_numbers_of_one_length_or_nothing() -> None:
    assert vectors_in([[1, 2.5], [3, 4]]) == ((1.0, 2.5), (3.0, 4.0))
    assert vectors_in([[1], None]) == ()
    assert vectors_in(None) == ()
