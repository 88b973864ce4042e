"""Folding of messages into a new checkpoint, and aging of the older ones to make room for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec.structs import replace

from ollm_tui.core.compression_events import (
    AnyCompressionEvent,
    CheckpointAged,
    CheckpointCreated,
    LedgerMade,
)
from ollm_tui.core.errors import ProviderError
from ollm_tui.core.provider import CanCompact, ChatRequest, PromptMessage
from ollm_tui.core.session.compression import COMPACT, DETAILED, Checkpoint, Ledger
from ollm_tui.core.session.goals import active_goal
from ollm_tui.engine.compression.fold.checkpoints import CheckpointMaker, ledger_for
from ollm_tui.engine.compression.ledger.ledger import KnownFacts, merged
from ollm_tui.engine.compression.plan.material import Material
from ollm_tui.engine.compression.plan.plan import Plan
from ollm_tui.engine.compression.summary.summariser import (
    FACTS_ALONE,
    SummaryRequest,
    SummaryWriter,
)
from ollm_tui.engine.compression.summary.summary_guard import SummaryFailed
from ollm_tui.engine.context.prompt_message import checkpoint_text, pieces_of
from ollm_tui.engine.conversation.model_choice import ModelChoice

log = logging.getLogger(__name__)


class Folding:
    """Makes the checkpoints of one compression; afterwards `checkpoints` holds them."""

    def __init__(
        self,
        material: Material,
        plan: Plan,
        maker: CheckpointMaker,
        writer: SummaryWriter,
        longest_summary: int,
        known: KnownFacts,
        choice: ModelChoice,
    ) -> None:
        self._choice = choice
        self._known = known
        self._plan = plan
        self._maker = maker
        self._writer = writer
        self._longest = longest_summary
        self._material = material
        rolled = {checkpoint.id for checkpoint in plan.rolled}
        older = material.assembly.shortening.checkpoints
        self._older = [checkpoint for checkpoint in older if checkpoint.id not in rolled]
        self.new: Checkpoint | None = None
        self.note = ""
        """What the user should know about the new checkpoint; empty if nothing."""

    @property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        """All checkpoints of the context, in the order of the prompt."""
        return (*self._older, self.new) if self.new else tuple(self._older)

    async def events(self, *, may_do_without: bool) -> AsyncGenerator[AnyCompressionEvent, None]:
        """Make the checkpoints.

        Raises SummaryFailed if the model gives no usable summary, unless `may_do_without`.
        """
        ledger = Ledger()
        if self._plan.fold:
            ledger = await asyncio.to_thread(self._ledger)
            async with aclosing(self._fold(ledger, may_do_without)) as steps:
                async for step in steps:
                    yield step
        async with aclosing(self._age(ledger)) as steps:
            async for step in steps:
                yield step

    async def _fold(
        self, ledger: Ledger, may_do_without: bool
    ) -> AsyncGenerator[AnyCompressionEvent, None]:
        """Make the new checkpoint from the messages that fold."""
        request = await asyncio.to_thread(self._summary_request, ledger)
        if request.facts:
            yield LedgerMade(text=request.facts)
        try:
            async with aclosing(self._writer.write(request)) as steps:
                async for step in steps:
                    yield step
        except SummaryFailed as error:
            if not may_do_without:
                raise
            self.note = f"{error.message}: {FACTS_ALONE}"
        self.note = self.note or self._writer.note
        folded, rolled = self._plan.fold, self._plan.rolled
        tokens = self._material.total(folded)
        text = self._writer.text
        made = await asyncio.to_thread(self._maker.made, folded, rolled, ledger, text, tokens)
        self.new = await compacted(made, self._plan, self._choice)
        yield CheckpointCreated(checkpoint=self.new)

    def shrink(self, share: float) -> None:
        """Cut all checkpoints down to a share of their tokens: they were estimated too low."""

        def smaller(checkpoint: Checkpoint) -> Checkpoint:
            return self._maker.within(checkpoint, int(checkpoint.current_tokens * share))

        self._older = [smaller(checkpoint) for checkpoint in self._older]
        self.new = smaller(self.new) if self.new else None

    def _ledger(self) -> Ledger:
        keys = {message.id for message in self._plan.fold}
        # Messages in older checkpoints are in the ledgers of those and are not read again.
        sent = [message for message in self._material.messages if self._material.is_sent(message)]
        ledger = ledger_for(sent, keys, self._known)
        for checkpoint in reversed(self._plan.rolled):
            ledger = merged(checkpoint.ledger, ledger)
        return ledger

    def _summary_request(self, ledger: Ledger) -> SummaryRequest:
        goal, facts = active_goal(self._material.metadata.goals), self._maker.facts(ledger)
        return SummaryRequest(
            messages=self._plan.fold,
            earlier="\n".join(each.summary for each in self._plan.rolled if each.summary),
            facts=facts,
            goal=goal.text if goal else "",
            instructions=self._plan.wanted.instructions,
            most_tokens=min(self._longest, self._maker.room_beside(facts)),
            level=DETAILED,
            known_tokens=self._known_tokens(),
        )

    def _known_tokens(self) -> int:
        """The tokens of the folded messages in full; 0 if some of them are sent in short."""
        assembly = self._material.assembly
        in_short = assembly.shortening.elided.keys() | assembly.marks.folded.keys()
        if any(message.id in in_short for message in self._plan.fold):
            return 0
        return self._material.total(self._plan.fold)

    async def _age(self, newer: Ledger) -> AsyncGenerator[AnyCompressionEvent, None]:
        """Correct and shorten the older checkpoints, then merge the oldest until all fit."""
        for place, checkpoint in enumerate(self._older):
            corrected = await asyncio.to_thread(self._maker.corrected, checkpoint, newer)
            if self._maker.wants_aging(corrected):
                text = None
                if self._maker.wants_shortening(corrected):
                    async with aclosing(self._shorten(corrected.summary, corrected)) as steps:
                        async for step in steps:
                            yield step
                    text = self._writer.text
                corrected = await asyncio.to_thread(self._maker.aged, corrected, text)
            if corrected is not checkpoint:
                self._older[place] = corrected
                yield CheckpointAged(checkpoint=corrected, replaces=(checkpoint.id,))
        while self._excess() > 0 and self._older:
            first, *others = self._older
            second = others[0] if others else self.new
            if second is None:
                cap = self._maker.sizes.cap
                only = await asyncio.to_thread(self._maker.within, first, cap)
                self._older = [only]
                yield CheckpointAged(checkpoint=only, replaces=(first.id,))
                break
            async with aclosing(self._merge(first, second)) as steps:
                async for step in steps:
                    yield step

    async def _merge(
        self, first: Checkpoint, second: Checkpoint
    ) -> AsyncGenerator[AnyCompressionEvent, None]:
        """Merge the two oldest checkpoints; the last older one is merged into the new one."""
        room = first.current_tokens + second.current_tokens - self._excess()
        both = "\n".join(text for text in (first.summary, second.summary) if text)
        async with aclosing(self._shorten(both, second)) as steps:
            async for step in steps:
                yield step
        least = self._maker.sizes.at_level(COMPACT)
        text, size = self._writer.text, max(least, room)
        only = await asyncio.to_thread(self._maker.merged, first, second, text, size)
        if second is self.new:
            self._older, self.new = [], only
        else:
            self._older = [only, *self._older[2:]]
        yield CheckpointAged(checkpoint=only, replaces=(first.id, second.id))

    async def _shorten(
        self, summary: str, checkpoint: Checkpoint
    ) -> AsyncGenerator[AnyCompressionEvent, None]:
        """Have a shorter version of a summary written into the writer's `text`.

        If the model fails, the whole summary is left there: the maker keeps as many of its first
        sentences as fit.
        """
        most = self._maker.sizes.at_level(max(COMPACT, checkpoint.level - 1))
        request = SummaryRequest(
            messages=(),
            earlier=summary,
            facts=checkpoint.facts,
            goal="",
            instructions="",
            most_tokens=min(self._longest, most),
            level=max(COMPACT, checkpoint.level - 1),
        )
        self._writer.text = ""
        try:
            if summary:
                async with aclosing(self._writer.write(request)) as steps:
                    async for step in steps:
                        yield step
        except SummaryFailed as error:
            log.info("an older checkpoint keeps its first sentences: %s", error.message)
        self._writer.text = self._writer.text or summary

    def _excess(self) -> int:
        total = sum(checkpoint.current_tokens for checkpoint in self.checkpoints)
        return total - self._maker.sizes.cap


async def compacted(checkpoint: Checkpoint, plan: Plan, choice: ModelChoice) -> Checkpoint:
    """Return the checkpoint with what the server compacted of the same messages.

    Returns it unchanged if the strategy is another one than `summarize`, if the server cannot
    compact or fails, or if what it gives is longer than the checkpoint's text.
    """
    provider = choice.provider
    if plan.wanted.strategy != "summarize" or not isinstance(provider, CanCompact):
        return checkpoint
    try:
        if not (await provider.capabilities(choice.model)).compaction:
            return checkpoint
        made = await provider.compact(_compaction_request(plan, choice))
    except ProviderError as error:
        log.info("the server did not compact the messages: %s", error.message)
        return checkpoint
    fits = 0 < made.tokens <= checkpoint.current_tokens
    return replace(checkpoint, compacted=made) if fits else checkpoint


def _compaction_request(plan: Plan, choice: ModelChoice) -> ChatRequest:
    rolled = (
        PromptMessage(role="assistant", text=checkpoint_text(each), compacted=each.compacted)
        for each in plan.rolled
    )
    said = (piece.message for message in plan.fold for piece in pieces_of(message))
    return ChatRequest(model=choice.model, messages=(*rolled, *said), window=choice.window)
