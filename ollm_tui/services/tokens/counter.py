"""Counts the prompts of a conversation with one model, and learns from the counts it reports."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from itertools import chain, takewhile
from pathlib import Path

from msgspec.structs import replace

from ollm_tui.core.errors import ProviderError
from ollm_tui.core.provider import CanTokenize, ChatRequest, Provider, ToolSpec, vendor_of
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
from ollm_tui.services.tokens.prompt_entries import Entry, Known, Tally, valid_bytes
from ollm_tui.services.tokens.tokenizer import Tokenizer, Tokenizers

CUT_BELOW = 0.75
"""A prompt of which the model read less than this share was cut off, so its count is not used.

Servers such as Ollama cut a prompt that is too long and still answer with success: the number of
tokens they report is the only sign of it.
"""
BATCH_CHARACTERS = 200_000
"""The most characters that are handed to a tokenizer at once, unless one message has more."""
TOOLS_WITHIN = (0.25, 1.25)
"""Shares of the estimate between which the descriptions of tools are believed to be: templates
write them shorter than as JSON, never much longer."""
TAIL_CHARACTERS = 400
"""The end of a growing reply that is estimated anew with each addition: its language shows only in
a few dozen words together."""


class TokenCounter:
    """Counts at once, from estimates if need be; `settle` makes the counts as good as possible.

    A message is counted once, however many prompts it is part of. No vocabulary is loaded before
    `settle`: a provider that reports what it reads corrects the estimates as well. What is no
    coroutine may also be called in a thread: there it only adds entries, each once.
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
        self._entries: dict[tuple[str, int], Entry] = {}
        self._tools: tuple[Sequence[ToolSpec], Entry] | None = None
        self._schemas: dict[tuple[str, ...], Entry] = {}
        self._known: Known | None = None
        self._told: dict[int, tuple[int, Source]] = {}
        """Every prompt whose length was ever told, by its chain of entries: going back to one
        needs no new measurement."""
        self._last: tuple[PromptCount, Tally] | None = None
        self._around_before: int | None = None
        """What the template added to each message, by the last prompt that told it."""
        self.version = 0
        """Another number whenever a prompt may have another count than before."""

    def count(self, prompt: Sequence[Piece], tools: Sequence[ToolSpec] = ()) -> PromptCount:
        """Return the tokens of a prompt by parts, at once; only new messages are estimated."""
        return self._counted(self._tallied(self._begun(tools), prompt))

    def extended(self, count: PromptCount, *more: Piece) -> PromptCount | None:
        """Return a count with more messages at its end, without looking at the others; None if
        another prompt was counted since."""
        if not more:
            return count
        last = self._last
        if last and last[0] is count:
            return self._counted(self._tallied(last[1], more))
        return None

    def _begun(self, tools: Sequence[ToolSpec]) -> Tally:
        """Return the tally of a prompt without messages."""
        sums = dict.fromkeys(GROUPS, 0)
        if not tools:
            return Tally(0, tuple(sums.values()))
        entry = self._schema_entry(tools)
        tokens = sums["system"] = self._tokens(entry)
        return Tally(hash(id(entry)), tuple(sums.values()), 1, more=tokens, is_counted=False)

    def _tallied(self, tally: Tally, pieces: Sequence[Piece]) -> Tally:
        """Return a tally with more messages. One loop: it runs over every message of a prompt."""
        sums = dict(zip(GROUPS, tally.sums, strict=True))
        chain, _, length, told, told_after, more, is_counted, source = tally
        known, own = self._entries.get, self._own
        for piece in pieces:
            entry = known((piece.key, piece.size)) or self._entry(piece)
            tokens = self._tokens(entry)
            fixed = piece.fixed(tokens) if piece.data else 0
            sums["system"] += fixed
            sums[piece.group] += tokens - fixed
            # An entry lives as long as its counter, so its id stands for it.
            chain = hash((chain, id(entry)))
            length += 1
            if (known_length := self._told.get(chain)) is not None:
                told, source = known_length
                told_after, more, is_counted = length, 0, True
            else:
                more += tokens
                is_counted = is_counted and own and entry.is_counted
        return Tally(
            chain, tuple(sums.values()), length, told, told_after, more, is_counted, source
        )

    def _counted(self, tally: Tally) -> PromptCount:
        """Return what a tally says; what belongs to no message is the template's."""
        sums = dict(zip(GROUPS, tally.sums, strict=True))
        total = max(0, (self._request if tally.told is None else tally.told) + tally.more)
        sums["system"] += total - sum(sums.values())
        if sums["system"] < 0:  # the estimates of the others are too high
            others = shared_out(total, [sums[group] for group in GROUPS[1:]])
            sums = dict(zip(GROUPS, (0, *others), strict=True))
        source: Source = "estimated"
        if tally.told is not None and tally.told_after == tally.length:
            source = tally.source
        elif tally.is_counted and self._own and self._learnt.agreed:
            source = "exact"
        count = PromptCount(Parts(**sums), source)
        self._last = (count, tally)
        return count

    def message(self, piece: Piece) -> Count:
        """Return the tokens of one message, with what the template adds to it."""
        entry = self._entry(piece)
        exact = self._own and entry.is_counted
        return Count(self._tokens(entry), "exact" if exact else "estimated")

    @property
    def takes_tools(self) -> bool:
        """Whether the model has never refused tools, in this run or an earlier one."""
        return self._learnt.takes_tools

    async def tools_refused(self) -> None:
        """Remember that the model cannot use tools."""
        self._learnt = replace(self._learnt, takes_tools=False)
        await asyncio.to_thread(self._memory.keep, self._name, self._learnt)

    @property
    def summarises(self) -> bool | None:
        """Whether the model passed the trial of summaries; None before it was tried."""
        return self._learnt.summarises

    async def remember_summaries(self, passed: bool) -> None:
        """Remember whether the model can write summaries."""
        self._learnt = replace(self._learnt, summarises=passed)
        await asyncio.to_thread(self._memory.keep, self._name, self._learnt)

    def tools(self, tools: Sequence[ToolSpec]) -> int:
        """Return the tokens that the descriptions of tools take."""
        return self._tokens(self._schema_entry(tools)) if tools else 0

    def text_tokens(self, text: str) -> int:
        """Return the tokens of a text by itself, estimated at once; nothing is cached."""
        return round(self._learnt.text_tokens(None, careful_estimate(text)))

    def at_most(
        self, count: PromptCount, prompt: Sequence[Piece], tools: Sequence[ToolSpec]
    ) -> int:
        """Return the most tokens that a counted prompt can have, however wrong the estimates."""
        unsure = [entry for entry in self._all(prompt, tools) if not entry.is_known]
        doubts = (entry.careful * (1 - self._learnt.rate) for entry in unsure)
        return count.tokens + max(0, round(sum(doubts)))

    @property
    def around_message(self) -> int:
        """The tokens that the template adds to every message."""
        return self._learnt.per_message

    def growing(self, count: PromptCount, question: Piece) -> GrowingCount:
        """Return the count of a prompt to which the answer to `question` is being added."""
        entry, around = self._entry(question), self._learnt.per_message
        # An answer is mostly in the language of the question, so the same rate holds for it. A
        # question of a few words says nothing about the rate: the template outweighs it.
        text = self._tokens(entry) - entry.images - around
        is_long = min(text, entry.careful) >= LEAST_TEXT
        rate = text / entry.careful if is_long else self._learnt.rate
        return GrowingCount(count, around, rate)

    async def settle(self, prompt: Sequence[Piece], tools: Sequence[ToolSpec] = ()) -> PromptCount:
        """Count what was only estimated, by a vocabulary if need be; return the prompt's tokens."""
        await self.settle_each(prompt, tools)
        return self.count(prompt, tools)

    async def settle_each(self, pieces: Sequence[Piece], tools: Sequence[ToolSpec] = ()) -> None:
        """Do the same without adding up, which takes its time with thousands of messages."""
        if self._tokenizer is None:
            self._tokenizer = await self._tokenizers.of(self._provider, self._model)
        await self._settle(self._tokenizer, self._all(pieces, tools))

    async def settle_end(self, prompt: Sequence[Piece]) -> bool:
        """Count the uncounted messages at the end of a prompt, if nothing has to be loaded for it.

        Stops at the last message that is counted already. Returns whether there were any.
        """
        tokenizer = await self._at_hand()
        if tokenizer is None:
            return False
        entries = map(self._entry, reversed(prompt))
        missing = list(takewhile(lambda entry: entry.plain is None, entries))
        await self._settle(tokenizer, missing)
        return bool(missing)

    async def _at_hand(self) -> Tokenizer | None:
        """Return the tokenizer if it can count with nothing to load."""
        provider, model = self._provider, self._model
        is_served = isinstance(provider, CanTokenize) and provider.tokenizes(model)
        if self._tokenizer is None and is_served:
            self._tokenizer = await self._tokenizers.of(provider, model)
        return self._tokenizer if self._tokenizer and self._tokenizer.is_at_hand else None

    async def _settle(self, tokenizer: Tokenizer, entries: list[Entry]) -> None:
        """Count the texts of entries that were not counted; they stay estimated if that fails."""
        missing = [entry for entry in entries if entry.plain is None]
        for batch in _batches(missing):
            # Others may count the same entries meanwhile, and empty them.
            texts = [entry.texts for entry in batch]
            # After a newline, where templates put them: blanks at the beginning of a text may be
            # one token with it. The newline itself, which comes first, is no part of the text.
            below = ["\n", *(f"\n{text}" for text in chain.from_iterable(texts))]
            counts = await tokenizer.count([valid_bytes(text).decode() for text in below])
            if counts is None:
                return
            self.version += 1
            newline, *rest = counts
            counted = iter(rest)
            for entry, its in zip(batch, texts, strict=True):
                entry.plain = sum(next(counted) - newline for _ in its)
                entry.texts = []
        if missing:
            await self._learn_again()

    async def check(self, request: ChatRequest, prompt: Sequence[Piece]) -> PromptCount:
        """Return the tokens of a prompt about to be sent: exact if the server can count them."""
        told = await self.ask(request, prompt)
        return await self.settle(prompt, request.tools) if told is None else told

    async def ask(self, request: ChatRequest, prompt: Sequence[Piece]) -> PromptCount | None:
        """Have the server count a prompt; None if it cannot."""
        try:
            tokens = await self._provider.count_tokens(request)
        except ProviderError:
            return None  # the request itself will say what is wrong
        if tokens is None:
            return None
        await self._learn(prompt, request.tools, tokens, "exact")
        return self.count(prompt, request.tools)

    def is_told(self, prompt: Sequence[Piece], tools: Sequence[ToolSpec]) -> bool:
        """Return whether a server has told the length of this very prompt."""
        tally = self._tallied(self._begun(tools), prompt)
        return tally.told is not None and tally.told_after == tally.length

    async def measured(
        self,
        prompt: Sequence[Piece],
        tools: Sequence[ToolSpec],
        tokens: int,
        *,
        has_room: bool = False,
    ) -> bool:
        """Learn from the number of tokens the model reports for a prompt; False if it was cut.

        With `has_room` the prompt is far shorter than the window, so that it was hardly cut.
        """
        if tokens <= 0:
            return True  # a server that counts nothing
        entries = self._all(prompt, tools)
        unsure = (e for e in entries if e.messages and not (has_room or e.is_known))
        least = sum(e.least for e in entries) + sum(self._tokens(e) - e.least for e in unsure)
        if tokens < least * CUT_BELOW:
            # An estimate may be far too high, and would make a whole prompt look like one that was
            # cut. The vocabulary has to tell.
            await self.settle(prompt, tools)
            least = sum(entry.least for entry in entries)
            if tokens < least * CUT_BELOW:
                return False
        await self._learn(prompt, tools, tokens, "measured")
        return True

    async def _learn(
        self, prompt: Sequence[Piece], tools: Sequence[ToolSpec], tokens: int, source: Source
    ) -> None:
        """Take over the true length of a prompt and remember what it says about the model."""
        entries = self._all(prompt, tools)
        tokenizer = await self._at_hand()
        if tokenizer is not None:
            await self._settle(tokenizer, entries)
        tally = self._tallied(self._begun(tools), prompt)
        if tally.told_after == tally.length:
            # The same prompt again: nothing but its length is new, if even that.
            self._told.pop(tally.chain, None)
            tally = self._tallied(self._begun(tools), prompt)
        predicted = self._counted(tally).tokens
        base = self._request if tally.told is None else tally.told
        new = [entry for entry in entries if entry.settled is None]
        known = Known(entries, tally.told_after, base, new, tokens, source, _is_counted(entries))
        if self._own and known.is_learnt:
            self._learn_template(known, predicted)
        else:
            self._learn_text(known, predicted)
        self._told[tally.chain] = (tokens, source)
        await self._take_over(known)

    async def _learn_again(self) -> None:
        """Learn from the last known prompt once more, if only now its texts are counted."""
        known = self._known
        if known is None or known.is_learnt or not _is_counted(known.entries):
            return
        if self._own:
            self._learn_template(known, None)
        else:
            read = known.tokens - self._request - self._around(known.entries)
            self._learn_rate(known.entries, read)
            self._share_out(known.new, self._left(known))
        await self._take_over(known._replace(is_learnt=True))

    async def _take_over(self, known: Known) -> None:
        """Make the known prompt count as just its true length, and remember what was learnt."""
        # What is left over goes to the request.
        self._request = known.tokens - sum(map(self._tokens, known.entries))
        self._known = known
        self.version += 1
        await asyncio.to_thread(self._memory.keep, self._name, self._learnt)

    def _learn_template(self, known: Known, predicted: int | None) -> None:
        """Learn what the template adds: with the model's vocabulary the texts are known exactly."""
        added = known.added
        unsure = [entry for entry in added if not entry.is_plain and entry.settled is None]
        texts = sum(self._tokens(entry) for entry in added if entry not in unsure)
        left = known.tokens - known.base - texts
        if unsure:
            # Calls, results, tools and pictures take what the plain texts leave.
            self._share_out(unsure, left)
            self._learn_tools(unsure)
        elif not known.before:
            request = self._learnt.request if left == 0 else known.base + left
            self._learnt = replace(self._learnt.with_request(request), agreed=left == 0)
        elif added:
            self._learn_around(added, known.tokens - known.base)
            request = known.tokens - sum(map(self._tokens, known.entries))
            is_right = known.tokens == predicted
            self._learnt = replace(self._learnt.with_request(request), agreed=is_right)
        plain = sum(entry.plain or 0 for entry in known.entries)
        if plain >= LEAST_TEXT:
            careful = sum(entry.careful for entry in known.entries)
            self._learnt = self._learnt.with_text(plain, None, careful)

    def _learn_around(self, added: list[Entry], read: int) -> None:
        """Learn what the template adds to each of the plain messages that a prompt grew by."""
        rest = read - sum(entry.plain or 0 for entry in added)
        around = round(rest / len(added))
        # One odd prompt, after a reply that was stopped, say, does not outweigh what was right.
        if not self._learnt.agreed or around == self._around_before:
            self._learnt = self._learnt.with_around(around)
        self._around_before = around

    def _learn_text(self, known: Known, predicted: int) -> None:
        """Learn how the model reads text: the new messages took what the known ones left over."""
        new, left = known.new, self._left(known)
        tools = next((entry for entry in new if not entry.messages), None)
        if tools is not None:
            # A template writes tools in its own way, so they get what the messages leave; what
            # the messages say about the vocabulary would be a guess.
            new = [entry for entry in new if entry is not tools]
            guess = self._tokens(tools)
            least, most = (round(guess * share) for share in TOOLS_WITHIN)
            tools.settled = min(max(left - sum(map(self._tokens, new)), least), most, max(left, 0))
            self._learn_tools([tools])
            self._share_out(new, left - tools.settled)
            return
        is_long = self._learn_rate(new, left - self._around(new))
        if not is_long and len(new) == len(known.entries):
            # A short first prompt tells more about what the template adds than about the text.
            self._learnt = self._learnt.with_request(self._request + known.tokens - predicted)
            self._request = self._learnt.request
            left = known.tokens - self._request
        self._share_out(new, left)

    def _learn_tools(self, entries: Sequence[Entry]) -> None:
        """Learn how long the template makes the descriptions of tools, if they are among these."""
        for entry in entries:
            if not entry.messages and entry.settled is not None and entry.careful > 0:
                self._learnt = self._learnt.with_tools(entry.settled / entry.careful)

    def _learn_rate(self, entries: list[Entry], read: int) -> bool:
        """Learn from the texts of entries, which the model read as so many tokens; False if they
        are too short for that."""
        careful = sum(entry.careful for entry in entries)
        plain = sum(entry.plain or 0 for entry in entries) if _is_counted(entries) else None
        is_long = (careful if plain is None else plain) >= LEAST_TEXT
        if is_long:
            self._learnt = self._learnt.with_text(read, plain, careful)
        return is_long

    def _left(self, known: Known) -> int:
        """Return the tokens that a prompt leaves to its new entries."""
        new = set(known.new)
        before = sum(e.settled or 0 for e in known.entries if e not in new)
        return known.tokens - self._request - before

    def _share_out(self, entries: list[Entry], tokens: int) -> None:
        """Give each entry its share of what was measured."""
        for entry in entries:
            entry.settled = None
        shares = shared_out(max(0, tokens), [self._tokens(entry) for entry in entries])
        for entry, share in zip(entries, shares, strict=True):
            entry.settled = share

    def _around(self, entries: list[Entry]) -> int:
        """Return the tokens of the images, and of what the template adds to messages."""
        return sum(entry.images + entry.messages * self._learnt.per_message for entry in entries)

    @property
    def _own(self) -> bool:
        return self._tokenizer is not None and self._tokenizer.own

    def _tokens(self, entry: Entry) -> int:
        is_exact = self._own and entry.plain is not None and entry.is_plain
        if entry.settled is not None and not is_exact:
            return entry.settled
        if not entry.messages and self._learnt.tools:
            return round(entry.careful * self._learnt.tools)
        around = entry.messages * self._learnt.per_message + entry.images
        if self._own and entry.plain is not None:
            return entry.plain + around
        return round(self._learnt.text_tokens(entry.plain, entry.careful)) + around

    def _all(self, prompt: Sequence[Piece], tools: Sequence[ToolSpec]) -> list[Entry]:
        """Return the entry of the tools, if there are any, then those of all messages."""
        # Looked up here first, to save a call for each message of a long prompt.
        known = self._entries.get
        entries = [self._schema_entry(tools)] if tools else []
        entries += [known((piece.key, piece.size)) or self._entry(piece) for piece in prompt]
        return entries

    def _schema_entry(self, tools: Sequence[ToolSpec]) -> Entry:
        # By identity first: callers pass the same sequence again at every count.
        known = self._tools
        if known is None or known[0] is not tools:
            texts = schema_texts(tools)
            entry = self._schemas.setdefault(tuple(texts), Entry(texts, 0, 0, is_plain=False))
            known = self._tools = (tools, entry)
        return known[1]

    def _entry(self, piece: Piece) -> Entry:
        key = (piece.key, piece.size)
        entry = self._entries.get(key)
        if entry is None:
            message = piece.message
            images = image_tokens(self._provider.name, message)
            texts, made = texts_of(message), message.compacted
            # Sent in place of the text, to the server that made it.
            if made and (made.provider, made.model) == (vendor_of(self._provider), self._model):
                texts, images = [], made.tokens
            is_plain = not (images or message.tool_calls or message.tool_name or message.reasoning)
            entry = self._entries.setdefault(key, Entry(texts, images, 1, is_plain=is_plain))
        return entry


class GrowingCount:
    """The count of a prompt while a reply is streamed; an addition costs as much as its length."""

    def __init__(self, start: PromptCount, around: int, rate: float) -> None:
        """`rate` is the number of tokens that one token of the careful estimate stands for."""
        self._start = start
        self._tokens = float(around)
        self._rate = rate
        self._tail = ""

    def add(self, text: str) -> PromptCount:
        """Add some text of the reply and return the new count."""
        self._tail += text
        tail = careful_estimate(self._tail) * self._rate
        count = self._start.plus("assistant", round(self._tokens + tail))
        if len(self._tail) >= TAIL_CHARACTERS:
            self._tokens += tail
            self._tail = ""
        return count


class TokenCounters:
    """Makes the counters; they share the tokenizers, which are found when first used."""

    def __init__(self, home: Path | None) -> None:
        """`home` is the directory to remember in what was learnt; None keeps it in memory."""
        self._tokenizers = Tokenizers()
        self._memory = ModelMemory(home)

    def counter(self, provider: Provider, model: str) -> TokenCounter:
        """Make a counter for one conversation with one model."""
        return TokenCounter(provider, model, self._tokenizers, self._memory)


def _batches(entries: list[Entry]) -> Iterator[list[Entry]]:
    """Divide entries so that the texts of each part can be counted in one go."""
    batch, size = list[Entry](), 0
    for entry in entries:
        batch.append(entry)
        size += sum(map(len, entry.texts))
        if size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _is_counted(entries: list[Entry]) -> bool:
    return all(entry.plain is not None for entry in entries)
