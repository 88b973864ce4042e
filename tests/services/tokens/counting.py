"""A counter whose vocabulary is loaded already, and short ways to write prompts."""

from __future__ import annotations

from pathlib import Path

from ollm_tui.core.provider import PromptMessage, Provider
from ollm_tui.core.session.message import Role
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.tokens.counter import TokenCounter
from ollm_tui.services.tokens.learnt import ModelMemory
from ollm_tui.services.tokens.prompt_count import Piece
from ollm_tui.services.tokens.tokenizer import Tokenizer, Tokenizers


class Loaded(Tokenizers):
    """Has one tokenizer, for every model."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__()
        self._tokenizer = tokenizer

    async def of(self, provider: Provider, model: str) -> Tokenizer:
        return self._tokenizer


def counter_with(tokenizer: Tokenizer, home: Path | None = None) -> TokenCounter:
    return TokenCounter(Scripted(), "a model", Loaded(tokenizer), ModelMemory(home))


def piece(key: str, text: str, role: Role = "user") -> Piece:
    return Piece.of(key, PromptMessage(role=role, text=text))


SYSTEM = piece("system", "You are a helpful assistant. Answer briefly.", "system")
