"""The vocabularies, read once: loading one takes a second."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.providers.llama_cpp.gguf import read_vocabulary
from ollm_tui.providers.llama_cpp.model_catalogue import SMOLLM2
from ollm_tui.services.tokens.vocabulary_encoding import VocabularyEncoding
from tests.conftest import MODELS


@pytest.fixture(scope="session")
def generic() -> VocabularyEncoding:
    """The general vocabulary that comes with the program."""
    return VocabularyEncoding.shipped("o200k_base")


@pytest.fixture(scope="session")
def own() -> VocabularyEncoding:
    """The vocabulary of the embedded model, from its file."""
    vocabulary = read_vocabulary(MODELS / SMOLLM2.file_name)
    assert vocabulary is not None, f"no model in {MODELS}: run `make model` first"
    encoding = VocabularyEncoding.of(vocabulary)
    assert encoding is not None
    return encoding


@pytest.fixture
def memory_home(tmp_path: Path) -> Path:
    """A directory to remember in."""
    return tmp_path / "memory"
