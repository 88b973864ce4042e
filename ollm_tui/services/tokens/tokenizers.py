"""Which vocabulary a model is counted with; loading one takes a moment and happens once."""

from __future__ import annotations

import asyncio
import re

from ollm_tui.core.errors import OllmError
from ollm_tui.core.provider import Provider
from ollm_tui.core.vocabulary import HasVocabulary
from ollm_tui.services.tokens.tokenizer import Tokenizer

_READS_GENERIC = re.compile(r"(?:.*/)?(?:gpt-4o|gpt-4\.[15]|gpt-5|gpt-oss|chatgpt-4o|o[134])\b.*")
"""Models whose own vocabulary is the one that comes with the program."""


class Tokenizers:
    """Finds the tokenizer of each model: its own where it can be read, else the general one."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], asyncio.Task[Tokenizer]] = {}
        self._generic: asyncio.Task[Tokenizer] | None = None

    async def of(self, provider: Provider, model: str) -> Tokenizer:
        """The tokenizer to count with; whoever asks meanwhile waits for the same one."""
        key = (provider.name, model)
        if key not in self._found:
            self._found[key] = asyncio.create_task(self._find(provider, model))
        return await asyncio.shield(self._found[key])

    async def _find(self, provider: Provider, model: str) -> Tokenizer:
        if isinstance(provider, HasVocabulary):
            own = await _own(provider, model)
            if own is not None:
                return own
        if self._generic is None:
            self._generic = asyncio.create_task(asyncio.to_thread(Tokenizer.generic))
        generic = await self._generic
        return generic.as_own() if _READS_GENERIC.fullmatch(model) else generic


async def _own(provider: HasVocabulary, model: str) -> Tokenizer | None:
    """The model's own; a server that cannot be asked has none to offer."""
    try:
        vocabulary = await provider.vocabulary(model)
    except OllmError:
        return None
    return vocabulary and await asyncio.to_thread(Tokenizer.of, vocabulary)
