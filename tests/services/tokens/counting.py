"""A counter whose vocabulary is loaded already, and short ways to write prompts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from ollm_tui.core.provider import PromptMessage, Provider
from ollm_tui.core.session.message import Role
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.tokens.counter import TokenCounter
from ollm_tui.services.tokens.learnt import ModelMemory
from ollm_tui.services.tokens.prompt_count import Piece
from ollm_tui.services.tokens.tokenizer import Tokenizer, Tokenizers
from ollm_tui.services.tokens.vocabulary_encoding import VocabularyEncoding


class Loaded(Tokenizers):
    """Has one tokenizer, for every model; it counts in this process."""

    def __init__(self, encoding: VocabularyEncoding, *, own: bool = False) -> None:
        super().__init__()
        self.tokenizer = InThisProcess(encoding, own=own)

    async def of(self, provider: Provider, model: str) -> Tokenizer:
        return self.tokenizer


class InThisProcess:
    """Counts with a loaded vocabulary; `characters` says how much it was given."""

    is_at_hand = True

    def __init__(self, encoding: VocabularyEncoding, *, own: bool) -> None:
        self.own = own
        self.characters = 0
        self._encoding = encoding

    async def count(self, texts: Sequence[str]) -> list[int]:
        self.characters += sum(map(len, texts))
        await asyncio.sleep(0)  # as with a process, others get their turn meanwhile
        return [self._encoding.count(text) for text in texts]


def counter_with(
    encoding: VocabularyEncoding, home: Path | None = None, *, own: bool = False
) -> TokenCounter:
    return TokenCounter(Scripted(), "a model", Loaded(encoding, own=own), ModelMemory(home))


def piece(key: str, text: str, role: Role = "user") -> Piece:
    return Piece.of(key, PromptMessage(role=role, text=text))


SYSTEM = piece("system", "You are a helpful assistant. Answer briefly.", "system")
