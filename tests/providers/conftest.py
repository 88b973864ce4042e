"""An Ollama to test against: the stand-in, or a real one named by OLLM_TEST_OLLAMA."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator

import pytest

from ollm_tui.providers.ollama import Ollama
from tests.stand_ins.ollama_server import OllamaServer

# Read before the isolation of tests empties the environment.
_REAL_URL = os.environ.get("OLLM_TEST_OLLAMA", "")
_REAL_MODEL = os.environ.get("OLLM_TEST_OLLAMA_MODEL", "")


def pytest_configure(config: pytest.Config) -> None:
    """Name the marker of the tests that also run against a real Ollama."""
    text = "ollama: wire tests that run against a real server if OLLM_TEST_OLLAMA is its URL"
    config.addinivalue_line("markers", text)


@pytest.fixture
async def ollama_url() -> AsyncGenerator[str, None]:
    """The address of an Ollama."""
    if _REAL_URL:
        yield _REAL_URL
        return
    async with OllamaServer() as server:
        yield server.url


@pytest.fixture
async def ollama(ollama_url: str) -> AsyncGenerator[Ollama, None]:
    """A provider for that address."""
    provider = Ollama(name="ollama", base_url=ollama_url, retry_seconds=0)
    yield provider
    await provider.close()


@pytest.fixture
async def ollama_model(ollama: Ollama) -> str:
    """A model that can chat there."""
    return _REAL_MODEL or await ollama.default_model()
