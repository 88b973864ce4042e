"""Tokenizers: they count texts as a model does, or as models usually do, outside this process."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Sequence
from typing import Protocol

import msgspec

from ollm_tui.core.errors import OllmError
from ollm_tui.core.provider import CanTokenize, HasVocabulary, Provider, Vocabulary
from ollm_tui.services.tokens.counting_process import CountingFailed, CountingProcess

GENERAL = "o200k_base"
"""The shipped vocabulary that stands for those that nobody knows."""
_READ_BY = (
    (GENERAL, re.compile(r"(?:.*/)?(?:gpt-4o|gpt-4\.[15]|gpt-5|gpt-oss|chatgpt-4o|o[134])\b.*")),
    ("cl100k_base", re.compile(r"(?:.*/)?gpt-(?:4|3\.5|35)(?:-.*)?")),
)
"""The shipped vocabularies, with the names of the models whose own they are."""
MOST_SECONDS = 60.0
"""A count that takes longer than this will never end."""


class Tokenizer(Protocol):
    """Counts the tokens of texts; `own` if it is by the vocabulary of the model itself."""

    @property
    def own(self) -> bool:
        """Whether the counts are those of the model."""
        ...

    @property
    def is_at_hand(self) -> bool:
        """Whether it can count at once, with nothing to load."""
        ...

    async def count(self, texts: Sequence[str]) -> Sequence[int] | None:
        """Count the tokens of each text; None if that cannot be done now."""
        ...


class Tokenizers:
    """Finds the tokenizer of each model: its own if there is one, else the general one."""

    def __init__(self, process: CountingProcess | None = None) -> None:
        self._process = process or CountingProcess.shared()
        self._found: dict[tuple[str, str], asyncio.Task[Tokenizer]] = {}

    async def of(self, provider: Provider, model: str) -> Tokenizer:
        """Return the tokenizer of a model; concurrent calls wait for the same task."""
        key = (provider.name, model)
        if key not in self._found:
            self._found[key] = asyncio.create_task(self._find(provider, model))
        # A caller that is cancelled must not cancel the task that others wait for.
        return await asyncio.shield(self._found[key])

    async def _find(self, provider: Provider, model: str) -> Tokenizer:
        if isinstance(provider, HasVocabulary):
            own = OwnVocabulary(provider, model, self._process)
            if await own.can_count():
                return own
        for name, models in _READ_BY:
            if models.fullmatch(model):
                return ShippedVocabulary(name, self._process, own=True)
        return ShippedVocabulary(GENERAL, self._process, own=False)


class ShippedVocabulary:
    """Counts with a vocabulary that comes with the program."""

    def __init__(self, name: str, process: CountingProcess, *, own: bool) -> None:
        self._name = name
        self._process = process
        self.own = own

    @property
    def is_at_hand(self) -> bool:
        """Whether the vocabulary is loaded."""
        return self._process.knows(self._name)

    async def count(self, texts: Sequence[str]) -> Sequence[int] | None:
        """Count the tokens of each text; None if the counting process cannot be used."""
        return await _counted(self._process, self._name, texts)


class OwnVocabulary:
    """Counts as the model does: by its running server, else with its vocabulary."""

    own = True

    def __init__(self, provider: HasVocabulary, model: str, process: CountingProcess) -> None:
        self._provider = provider
        self._model = model
        self._process = process
        self._name = ""
        """The name of the vocabulary in the counting process; empty before it was loaded."""

    @property
    def is_at_hand(self) -> bool:
        """Whether a server runs that counts, or the vocabulary is loaded."""
        return self._is_served or self._process.knows(self._name)

    async def can_count(self) -> bool:
        """Return whether there is a server that counts or a vocabulary that can be used."""
        return self._is_served or await self._load()

    async def count(self, texts: Sequence[str]) -> Sequence[int] | None:
        """Count the tokens of each text; None if neither the server nor the process can."""
        counts = await self._ask_server(texts)
        if counts is None and self._process.knows(self._name):
            counts = await _counted(self._process, self._name, texts)
        # Not loaded yet, or no longer: the process ends at rest.
        if counts is None and await self._load():
            counts = await _counted(self._process, self._name, texts)
        return counts

    @property
    def _is_served(self) -> bool:
        return isinstance(self._provider, CanTokenize) and self._provider.tokenizes(self._model)

    async def _ask_server(self, texts: Sequence[str]) -> Sequence[int] | None:
        if not (isinstance(self._provider, CanTokenize) and self._is_served):
            return None
        try:
            return await self._provider.token_counts(self._model, texts)
        except OllmError:
            return None

    async def _load(self) -> bool:
        """Load the vocabulary into the counting process; False if it cannot be used."""
        try:
            vocabulary = await self._provider.vocabulary(self._model)
            if vocabulary is None:
                return False
            self._name = await asyncio.to_thread(_name_of, vocabulary)
            async with asyncio.timeout(MOST_SECONDS):
                return await asyncio.to_thread(self._process.learn, self._name, vocabulary)
        except (OllmError, CountingFailed):
            return False
        except TimeoutError:
            self._process.end()
            return False


async def _counted(
    process: CountingProcess, name: str, texts: Sequence[str]
) -> Sequence[int] | None:
    try:
        async with asyncio.timeout(MOST_SECONDS):
            return await asyncio.to_thread(process.count, name, texts)
    except CountingFailed:
        return None
    except TimeoutError:
        process.end()
        return None


def _name_of(vocabulary: Vocabulary) -> str:
    """Return a name made from the content: another file of the same model is another vocabulary."""
    return hashlib.sha256(msgspec.msgpack.encode(vocabulary)).hexdigest()
