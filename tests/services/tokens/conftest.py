"""The vocabularies, read once: loading one takes a second."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.providers.llama_cpp.gguf import read_vocabulary
from ollm_tui.providers.llama_cpp.model_catalogue import SMOLLM2
from ollm_tui.services.tokens.tokenizer import Tokenizer
from tests.conftest import MODELS


@pytest.fixture(scope="session")
def generic() -> Tokenizer:
    """The vocabulary that comes with the program."""
    return Tokenizer.generic()


@pytest.fixture(scope="session")
def own() -> Tokenizer:
    """The vocabulary of the embedded model, from its file."""
    vocabulary = read_vocabulary(MODELS / SMOLLM2.file_name)
    assert vocabulary is not None, f"no model in {MODELS}: run `make model` first"
    tokenizer = Tokenizer.of(vocabulary)
    assert tokenizer is not None
    return tokenizer


@pytest.fixture
def memory_home(tmp_path: Path) -> Path:
    """A directory to remember in."""
    return tmp_path / "memory"
