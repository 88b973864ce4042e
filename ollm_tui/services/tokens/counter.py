"""Counts the prompts of a conversation with one model, and learns from the counts it reports."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path

from msgspec.structs import replace

from ollm_tui.core.errors import ProviderError
from ollm_tui.core.provider import ChatRequest, Provider, ToolSpec
from ollm_tui.services.tokens.careful_estimate import careful_estimate
from ollm_tui.services.tokens.learnt import LEAST_TEXT, ModelMemory
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
"""A prompt of which the model read less than this share was cut off, so its count is not used.

Servers such as Ollama cut a prompt that is too long and still answer with success: the number of
tokens they report is the only sign of it.
"""


class _Entry:
    """What is known of one message, or of the tool descriptions (then `messages` is 0)."""

    __slots__ = ("careful", "images", "messages", "plain", "settled", "texts")

    def __init__(self, texts: list[str], images: int, messages: int) -> None:
        self.texts = texts
        """The texts to count; emptied when they are counted."""
        self.careful = sum(map(careful_estimate, texts))
        self.images = images
        """Tokens of its images, by what the provider usually counts."""
        self.messages = messages
        self.plain: int | None = None
        """Tokens of its texts by the tokenizer; None until they are counted."""
        self.settled: int | None = None
        """Its share of a prompt that was measured; None before, and with the model's vocabulary."""


class TokenCounter:
    """Counts at once, from estimates if need be; `settle` makes the counts as good as possible.

    A message is counted once, however many prompts it is part of.
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
        # A template that drops parts of the texts can make the learnt overhead negative. That holds
        # for the conversation it was learnt in, not for a new one.
        self._request = max(0, self._learnt.request)
        self._tokenizer: Tokenizer | None = None
        self._entries: dict[tuple[str, int], _Entry] = {}
        self._schemas: tuple[Sequence[ToolSpec], _Entry] | None = None
        self._known: tuple[list[_Entry], Source] | None = None
        """The last prompt whose length is not an estimate, and the source of that length."""
        self._template_before: tuple[int, int] | None = None
        """Messages and template tokens of the last prompt that was learnt from."""

    def count(self, prompt: Sequence[Piece], tools: Sequence[ToolSpec] = ()) -> PromptCount:
        """Return the tokens of a prompt by parts, at once; only new messages are estimated."""
        sums = dict.fromkeys(GROUPS, 0)
        entries = self._all(prompt, tools)
        # Not strict: the entry of the tools, which follows those of the messages, has no piece.
        for piece, entry in zip(prompt, entries, strict=False):
            tokens = self._tokens(entry)
            sums["system"] += piece.fixed(tokens)
            sums[piece.group] += tokens - piece.fixed(tokens)
        sums["system"] += self._request + sum(map(self._tokens, entries[len(prompt) :]))
        return PromptCount(Parts(**sums), self._source(entries))

    def extended(self, count: PromptCount, *more: Piece) -> PromptCount:
        """Return a count with more messages at its end, without looking at the others."""
        for piece in more:
            count = count.plus(piece.group, self._tokens(self._entry(piece)))
        return count

    def message(self, piece: Piece) -> Count:
        """Return the tokens of one message, with what the template adds to it."""
        entry = self._entry(piece)
        exact = self._own and entry.plain is not None and not entry.images
        return Count(self._tokens(entry), "exact" if exact else "estimated")

    @property
    def takes_tools(self) -> bool:
        """Whether the model has never refused tools, in this run or an earlier one."""
        return self._learnt.takes_tools

    async def tools_refused(self) -> None:
        """Remember that the model cannot use tools."""
        self._learnt = replace(self._learnt, takes_tools=False)
        await asyncio.to_thread(self._memory.keep, self._name, self._learnt)

    def tools(self, tools: Sequence[ToolSpec]) -> int:
        """Return the tokens that the descriptions of tools take."""
        return self._tokens(self._schema_entry(tools)) if tools else 0

    def text_tokens(self, text: str) -> int:
        """Return the tokens of a text by itself, as well as possible at once; nothing is cached."""
        if self._tokenizer is None:
            return round(careful_estimate(text))
        plain = self._tokenizer.count(text)
        if self._tokenizer.own:
            return plain
        return round(self._learnt.text_tokens(plain, careful_estimate(text)))

    @property
    def around_message(self) -> int:
        """The tokens that the template adds to every message."""
        return self._learnt.per_message

    def growing(self, count: PromptCount, question: Piece) -> GrowingCount:
        """Return the count of a prompt to which the answer to `question` is being added."""
        tokenizer, entry, around = self._tokenizer, self._entry(question), self._learnt.per_message
        if tokenizer is None:
            return GrowingCount(count, around, careful_estimate)
        if tokenizer.own:
            return GrowingCount(count, around, tokenizer.count)
        # An answer is mostly in the language of the question, so the same rate holds for it. A
        # question of a few words says nothing about the rate: the template outweighs it.
        text = self._tokens(entry) - entry.images - around
        if entry.plain and min(entry.plain, text) >= LEAST_TEXT:
            rate = text / entry.plain
            return GrowingCount(count, around, lambda delta: tokenizer.count(delta) * rate)
        learnt = self._learnt

        def estimate(delta: str) -> float:
            return learnt.text_tokens(tokenizer.count(delta), careful_estimate(delta))

        return GrowingCount(count, around, estimate)

    async def settle(self, prompt: Sequence[Piece], tools: Sequence[ToolSpec] = ()) -> PromptCount:
        """Count in a thread what was only estimated, then return the prompt's tokens."""
        if self._tokenizer is None:
            self._tokenizer = await self._tokenizers.of(self._provider, self._model)
        missing = [entry for entry in self._all(prompt, tools) if entry.plain is None]
        await self._settle(self._tokenizer, missing)
        return self.count(prompt, tools)

    async def settle_end(self, prompt: Sequence[Piece]) -> bool:
        """Count the uncounted messages at the end of a prompt, if the vocabulary is loaded.

        Stops at the last message that is counted already. Returns whether there were any.
        """
        if self._tokenizer is None:
            return False
        entries = map(self._entry, reversed(prompt))
        missing = list(takewhile(lambda entry: entry.plain is None, entries))
        await self._settle(self._tokenizer, missing)
        return bool(missing)

    async def _settle(self, tokenizer: Tokenizer, missing: list[_Entry]) -> None:
        """Count the texts of some entries in a thread."""
        if missing:
            texts = [entry.texts for entry in missing]
            counted = await asyncio.to_thread(_count_all, tokenizer, texts)
            for entry, plain in zip(missing, counted, strict=True):
                entry.plain, entry.texts = plain, []

    async def check(self, request: ChatRequest, prompt: Sequence[Piece]) -> PromptCount:
        """Return the tokens of a prompt about to be sent: exact if the server can count them."""
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
        """Learn from the number of tokens the model reports for a prompt; False if it was cut."""
        if tokens <= 0:
            return True  # a server that counts nothing
        await self.settle(prompt, tools)
        # Compared with the counted tokens and not with the estimate, which may be far too high and
        # would then make a whole prompt look like one that was cut.
        least = sum(entry.settled or entry.plain or 0 for entry in self._all(prompt, tools))
        if tokens < least * CUT_BELOW:
            return False
        await self._learn(prompt, tools, tokens, "measured")
        return True

    async def _learn(
        self, prompt: Sequence[Piece], tools: Sequence[ToolSpec], tokens: int, source: Source
    ) -> None:
        """Take over the true length of a prompt and remember what it says about the model."""
        predicted = (await self.settle(prompt, tools)).tokens
        entries = self._all(prompt, tools)
        if self._own:
            self._learn_template(entries, tokens, predicted)
        else:
            self._learn_text(entries, tokens, predicted)
        # The rest goes to the request, so that the prompt counts as just its true length.
        self._request = tokens - sum(map(self._tokens, entries))
        self._known = (entries, source)
        await asyncio.to_thread(self._memory.keep, self._name, self._learnt)

    def _learn_template(self, entries: list[_Entry], tokens: int, predicted: int) -> None:
        """Learn what the template adds: with the model's vocabulary the texts are known exactly."""
        messages = sum(entry.messages for entry in entries)
        rest = tokens - sum((entry.plain or 0) + entry.images for entry in entries)
        learnt = self._learnt.with_template(messages, rest, self._template_before)
        self._learnt = replace(learnt, agreed=tokens == predicted)
        self._template_before = (messages, rest)

    def _learn_text(self, entries: list[_Entry], tokens: int, predicted: int) -> None:
        """Learn how the model reads text: the new messages took what the known ones left over."""
        new = [entry for entry in entries if entry.settled is None]
        plain, careful = sum(e.plain or 0 for e in new), sum(e.careful for e in new)
        if plain >= LEAST_TEXT:
            around = sum(e.images + e.messages * self._learnt.per_message for e in new)
            room = tokens - self._request - sum(entry.settled or 0 for entry in entries)
            self._learnt = self._learnt.with_text(room - around, plain, careful)
        elif len(new) == len(entries):
            # A short first prompt tells more about what the template adds than about the text.
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
        # An entry is equal only to itself, so this is the very prompt that was measured.
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
        """Return the entries of all messages, then that of the tools if there are any."""
        # Looked up here first, to save a call for each message of a long prompt.
        known = self._entries.get
        entries = [known((piece.key, piece.size)) or self._entry(piece) for piece in prompt]
        if tools:
            entries.append(self._schema_entry(tools))
        return entries

    def _schema_entry(self, tools: Sequence[ToolSpec]) -> _Entry:
        # By identity, not equality: callers pass the same sequence again at every count.
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
    """The count of a prompt while a reply is streamed; each addition counts only the new text."""

    def __init__(self, start: PromptCount, around: int, estimate: Callable[[str], float]) -> None:
        self._start = start
        self._tokens = float(around)
        self._estimate = estimate

    def add(self, text: str) -> PromptCount:
        """Add some text of the reply and return the new count."""
        self._tokens += self._estimate(text)
        return self._start.plus("assistant", round(self._tokens))


class TokenCounters:
    """Makes the counters; they share the tokenizers, which are loaded when first used."""

    def __init__(self, home: Path | None) -> None:
        """`home` is the directory to remember in what was learnt; None keeps it in memory."""
        self._tokenizers = Tokenizers()
        self._memory = ModelMemory(home)

    def counter(self, provider: Provider, model: str) -> TokenCounter:
        """Make a counter for one conversation with one model."""
        return TokenCounter(provider, model, self._tokenizers, self._memory)


def _count_all(tokenizer: Tokenizer, messages: list[list[str]]) -> list[int]:
    return [sum(map(tokenizer.count_below_newline, texts)) for texts in messages]
