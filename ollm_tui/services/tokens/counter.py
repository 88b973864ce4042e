"""Counts the prompts of one conversation with one model, and learns from what was measured."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path

from msgspec.structs import replace

from ollm_tui.core.errors import ProviderError
from ollm_tui.core.provider import ChatRequest, Provider, ToolSpec
from ollm_tui.services.tokens.careful_estimate import careful_estimate
from ollm_tui.services.tokens.learnt import LEAST_TEXT
from ollm_tui.services.tokens.model_memory import ModelMemory
from ollm_tui.services.tokens.prompt_count import (
    GROUPS,
    Count,
    Parts,
    Piece,
    PromptCount,
    Source,
    image_tokens,
    schema_texts,
    shared_out,
    texts_of,
)
from ollm_tui.services.tokens.tokenizer import Tokenizer, Tokenizers

CUT_BELOW = 0.75
"""A prompt of which less than this share was read was cut off: it teaches nothing."""


class _Entry:
    """What is known of one message; `settled` is its share of a prompt that was measured."""

    __slots__ = ("careful", "images", "messages", "plain", "settled", "texts")

    def __init__(self, texts: list[str], images: int, messages: int) -> None:
        self.texts = texts
        """Only until they are counted."""
        self.careful = sum(map(careful_estimate, texts))
        self.images = images
        self.messages = messages
        self.plain: int | None = None
        self.settled: int | None = None


class TokenCounter:
    """Gives counts at once, from estimates if need be; `settle` makes them as good as can be.

    A message is looked at once, whatever prompts it is part of.
    """

    def __init__(
        self, provider: Provider, model: str, tokenizers: Tokenizers, memory: ModelMemory
    ) -> None:
        self._provider = provider
        self._model = model
        self._tokenizers = tokenizers
        self._memory = memory
        self._name = f"{provider.name}/{model}"
        self._learnt = memory.recall(self._name)
        # Of a conversation whose texts the template had cut, less than nothing may be left for the
        # request: true there, but not for a new one.
        self._request = max(0, self._learnt.request)
        self._tokenizer: Tokenizer | None = None
        self._entries: dict[tuple[str, int], _Entry] = {}
        self._schemas: tuple[Sequence[ToolSpec], _Entry] | None = None
        self._known: tuple[list[_Entry], Source] | None = None
        """The prompt whose length is no estimate."""
        self._template_before: tuple[int, int] | None = None

    def count(self, prompt: Sequence[Piece], tools: Sequence[ToolSpec] = ()) -> PromptCount:
        """The tokens of a prompt by parts, at once; nothing is read that was seen before."""
        sums = dict.fromkeys(GROUPS, 0)
        entries = self._all(prompt, tools)
        for piece, entry in zip(prompt, entries, strict=False):
            tokens = self._tokens(entry)
            sums["system"] += piece.fixed(tokens)
            sums[piece.group] += tokens - piece.fixed(tokens)
        sums["system"] += self._request + sum(map(self._tokens, entries[len(prompt) :]))
        return PromptCount(Parts(**sums), self._source(entries))

    def extended(self, count: PromptCount, *more: Piece) -> PromptCount:
        """A count with some more messages at its end, without looking at the others."""
        for piece in more:
            count = count.plus(piece.group, self._tokens(self._entry(piece)))
        return count

    def message(self, piece: Piece) -> Count:
        """The tokens of one message, with what the template adds to it."""
        entry = self._entry(piece)
        exact = self._own and entry.plain is not None and not entry.images
        return Count(self._tokens(entry), "exact" if exact else "estimated")

    @property
    def takes_tools(self) -> bool:
        """Whether the model was never known to refuse tools, now or in an earlier run."""
        return self._learnt.takes_tools

    async def tools_refused(self) -> None:
        """Remember that the model cannot use tools."""
        self._learnt = replace(self._learnt, takes_tools=False)
        await asyncio.to_thread(self._memory.keep, self._name, self._learnt)

    def tools(self, tools: Sequence[ToolSpec]) -> int:
        """The tokens that the descriptions of tools take."""
        return self._tokens(self._schema_entry(tools)) if tools else 0

    def text_tokens(self, text: str) -> int:
        """The tokens of a text by itself, as well as is known at once; nothing is remembered."""
        if self._tokenizer is None:
            return round(careful_estimate(text))
        plain = self._tokenizer.count(text)
        if self._tokenizer.own:
            return plain
        return round(self._learnt.text_tokens(plain, careful_estimate(text)))

    @property
    def around_message(self) -> int:
        """What the template adds to every message."""
        return self._learnt.per_message

    def growing(self, count: PromptCount, question: Piece) -> GrowingCount:
        """The count of a prompt to which the answer to its last message is being added."""
        tokenizer, entry, around = self._tokenizer, self._entry(question), self._learnt.per_message
        if tokenizer is None:
            return GrowingCount(count, around, careful_estimate)
        if tokenizer.own:
            return GrowingCount(count, around, tokenizer.count)
        # Answers are mostly in the language of the question, and so read at the same rate. A
        # few words say nothing about it: what the template adds would outweigh them.
        text = self._tokens(entry) - entry.images - around
        if entry.plain and min(entry.plain, text) >= LEAST_TEXT:
            rate = text / entry.plain
            return GrowingCount(count, around, lambda delta: tokenizer.count(delta) * rate)
        learnt = self._learnt

        def estimate(delta: str) -> float:
            return learnt.text_tokens(tokenizer.count(delta), careful_estimate(delta))

        return GrowingCount(count, around, estimate)

    async def settle(self, prompt: Sequence[Piece], tools: Sequence[ToolSpec] = ()) -> PromptCount:
        """Count what was only estimated, in a thread; then the prompt's tokens."""
        if self._tokenizer is None:
            self._tokenizer = await self._tokenizers.of(self._provider, self._model)
        missing = [entry for entry in self._all(prompt, tools) if entry.plain is None]
        await self._settle(self._tokenizer, missing)
        return self.count(prompt, tools)

    async def settle_end(self, prompt: Sequence[Piece]) -> bool:
        """The same for what came last, where the vocabulary is at hand: nothing is loaded, and
        nothing before it is looked at. Whether there was anything to count."""
        if self._tokenizer is None:
            return False
        entries = map(self._entry, reversed(prompt))
        missing = list(takewhile(lambda entry: entry.plain is None, entries))
        await self._settle(self._tokenizer, missing)
        return bool(missing)

    async def _settle(self, tokenizer: Tokenizer, missing: list[_Entry]) -> None:
        if missing:
            texts = [entry.texts for entry in missing]
            counted = await asyncio.to_thread(_count_all, tokenizer, texts)
            for entry, plain in zip(missing, counted, strict=True):
                entry.plain, entry.texts = plain, []

    async def check(self, request: ChatRequest, prompt: Sequence[Piece]) -> PromptCount:
        """The tokens of a prompt that is about to be sent: exact where the server counts."""
        try:
            tokens = await self._provider.count_tokens(request)
        except ProviderError:
            tokens = None  # the request itself will say what is wrong
        if tokens is not None:
            await self._learn(prompt, request.tools, tokens, "exact")
        return await self.settle(prompt, request.tools)

    async def measured(
        self, prompt: Sequence[Piece], tools: Sequence[ToolSpec], tokens: int
    ) -> bool:
        """Take over what the model has read of a prompt. False if it was cut off."""
        if tokens <= 0:
            return True  # a server that counts nothing
        await self.settle(prompt, tools)
        least = sum(entry.settled or entry.plain or 0 for entry in self._all(prompt, tools))
        if tokens < least * CUT_BELOW:
            return False
        await self._learn(prompt, tools, tokens, "measured")
        return True

    async def _learn(
        self, prompt: Sequence[Piece], tools: Sequence[ToolSpec], tokens: int, source: Source
    ) -> None:
        predicted = (await self.settle(prompt, tools)).tokens
        entries = self._all(prompt, tools)
        if self._own:
            self._learn_template(entries, tokens, predicted)
        else:
            self._learn_text(entries, tokens, predicted)
        self._request = tokens - sum(map(self._tokens, entries))
        self._known = (entries, source)
        await asyncio.to_thread(self._memory.keep, self._name, self._learnt)

    def _learn_template(self, entries: list[_Entry], tokens: int, predicted: int) -> None:
        """The text is known exactly: what is left over is the template's."""
        messages = sum(entry.messages for entry in entries)
        rest = tokens - sum((entry.plain or 0) + entry.images for entry in entries)
        learnt = self._learnt.with_template(messages, rest, self._template_before)
        self._learnt = replace(learnt, agreed=tokens == predicted)
        self._template_before = (messages, rest)

    def _learn_text(self, entries: list[_Entry], tokens: int, predicted: int) -> None:
        """What was new in the prompt gets what the measured length leaves for it."""
        new = [entry for entry in entries if entry.settled is None]
        plain, careful = sum(e.plain or 0 for e in new), sum(e.careful for e in new)
        if plain >= LEAST_TEXT:
            around = sum(e.images + e.messages * self._learnt.per_message for e in new)
            room = tokens - self._request - sum(entry.settled or 0 for entry in entries)
            self._learnt = self._learnt.with_text(room - around, plain, careful)
        elif len(new) == len(entries):
            self._learnt = self._learnt.with_request(self._request + tokens - predicted)
            self._request = self._learnt.request
        room = tokens - self._request - sum(entry.settled or 0 for entry in entries)
        shares = shared_out(max(0, room), [self._tokens(entry) for entry in new])
        for entry, share in zip(new, shares, strict=True):
            entry.settled = share

    @property
    def _own(self) -> bool:
        return self._tokenizer is not None and self._tokenizer.own

    def _source(self, entries: list[_Entry]) -> Source:
        if self._known is not None and entries == self._known[0]:
            return self._known[1]
        counted = self._own and self._learnt.agreed
        if counted and all(entry.plain is not None and not entry.images for entry in entries):
            return "exact"
        return "estimated"

    def _tokens(self, entry: _Entry) -> int:
        if entry.settled is not None:
            return entry.settled
        around = entry.messages * self._learnt.per_message + entry.images
        if entry.plain is None:
            return round(entry.careful) + around
        if self._own:
            return entry.plain + around
        return round(self._learnt.text_tokens(entry.plain, entry.careful)) + around

    def _all(self, prompt: Sequence[Piece], tools: Sequence[ToolSpec]) -> list[_Entry]:
        """What is known of each message, and after them of the tools."""
        known = self._entries.get
        entries = [known((piece.key, piece.size)) or self._entry(piece) for piece in prompt]
        if tools:
            entries.append(self._schema_entry(tools))
        return entries

    def _schema_entry(self, tools: Sequence[ToolSpec]) -> _Entry:
        if self._schemas is None or self._schemas[0] is not tools:
            self._schemas = (tools, _Entry(schema_texts(tools), 0, 0))
        return self._schemas[1]

    def _entry(self, piece: Piece) -> _Entry:
        key = (piece.key, piece.size)
        entry = self._entries.get(key)
        if entry is None:
            images = image_tokens(self._provider.name, piece.message)
            entry = self._entries[key] = _Entry(texts_of(piece.message), images, 1)
        return entry


class GrowingCount:
    """The count of a prompt while a reply is added to it; every addition costs the same."""

    def __init__(self, start: PromptCount, around: int, estimate: Callable[[str], float]) -> None:
        self._start = start
        self._tokens = float(around)
        self._estimate = estimate

    def add(self, text: str) -> PromptCount:
        """The count with some more of the reply."""
        self._tokens += self._estimate(text)
        return self._start.plus("assistant", round(self._tokens))


def _count_all(tokenizer: Tokenizer, messages: list[list[str]]) -> list[int]:
    return [sum(map(tokenizer.count_below_newline, texts)) for texts in messages]


class TokenCounters:
    """Makes a counter for each conversation and model; nothing is loaded before it is used."""

    def __init__(self, home: Path | None) -> None:
        """`home` is where to remember what was learnt; None forgets it at the end."""
        self._tokenizers = Tokenizers()
        self._memory = ModelMemory(home)

    def counter(self, provider: Provider, model: str) -> TokenCounter:
        """A counter for one conversation with one model."""
        return TokenCounter(provider, model, self._tokenizers, self._memory)
