"""Where counters come from: they share the vocabularies and what was learnt about models."""

from __future__ import annotations

from pathlib import Path

from ollm_tui.core.provider import Provider
from ollm_tui.services.tokens.counter import TokenCounter
from ollm_tui.services.tokens.model_memory import ModelMemory
from ollm_tui.services.tokens.tokenizers import Tokenizers


class TokenCounters:
    """Makes a counter for each conversation and model; nothing is loaded before it is used."""

    def __init__(self, home: Path | None) -> None:
        """`home` is where to remember what was learnt; None forgets it at the end."""
        self._tokenizers = Tokenizers()
        self._memory = ModelMemory(home)

    def counter(self, provider: Provider, model: str) -> TokenCounter:
        """A counter for one conversation with one model."""
        return TokenCounter(provider, model, self._tokenizers, self._memory)
