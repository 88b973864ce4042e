"""Folding of messages into a new checkpoint, and aging of the older ones to make room for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

from msgspec.structs import replace

from ollm_tui.core.compression_events import (
    AnyCompressionEvent,
    CheckpointAged,
    CheckpointCreated,
    LedgerMade,
)
from ollm_tui.core.errors import BadAnswer, ProviderError, Unavailable
from ollm_tui.core.provider import CanCompact, ChatRequest, PromptMessage
from ollm_tui.core.session.compression import DETAILED, Checkpoint, Fact, Ledger
from ollm_tui.core.session.goals import Goal, active_goal
from ollm_tui.engine.compression.fold.checkpoints import LEAST_TOKENS, CheckpointMaker
from ollm_tui.engine.compression.ledger.ledger import ledger_of, merged
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

SERVERS_FORM = "compacted by the server; cannot be read or checked here"
"""The note of a checkpoint whose content only the server knows."""

log = logging.getLogger(__name__)


LEAST_SHOWN = 2 * LEAST_TOKENS
"""Tokens below which an older checkpoint says too little to stand by itself."""


class Folding:
    """Makes the checkpoints of one compression; afterwards `checkpoints` holds them."""

    def __init__(
        self,
        material: Material,
        plan: Plan,
        maker: CheckpointMaker,
        writer: SummaryWriter,
        longest_summary: int,
        choice: ModelChoice,
        *,
        of_outputs: bool = True,
    ) -> None:
        """Without `of_outputs` nothing of what tools answered goes into the ledger."""
        self._choice = choice
        self._of_outputs = of_outputs
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
        if self._plan.fold:
            ledger = await asyncio.to_thread(self._ledger)
            async with aclosing(self._fold(ledger, may_do_without)) as steps:
                async for step in steps:
                    yield step
        for aged in await asyncio.to_thread(self._age):
            yield aged

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
        self.new = await self._compacted(made, may_do_without)
        yield CheckpointCreated(checkpoint=self.new)

    async def _compacted(self, made: Checkpoint, may_do_without: bool) -> Checkpoint:
        """Return the checkpoint with the server's form of it, where that is wanted. SummaryFailed
        if only the server should compact and does not, unless `may_do_without`."""
        wanted = self._plan.wanted.strategy
        if wanted not in ("summarize", "provider"):
            return made
        try:
            found = await compacted(made, self._plan, self._choice)
        except ProviderError as error:
            log.info("the server did not compact the messages: %s", error.message)
            if wanted == "summarize":
                return made
            if not may_do_without:
                raise SummaryFailed(error.message, "/compact does it locally") from error
            self.note = f"{error.message}: {FACTS_ALONE}"
            return made
        if found.compacted:
            self.note = SERVERS_FORM
        return found

    def shrink(self, share: float) -> None:
        """Cut all checkpoints down to a share of their tokens: they were estimated too low."""

        def smaller(checkpoint: Checkpoint) -> Checkpoint:
            return self._maker.within(checkpoint, int(checkpoint.current_tokens * share))

        self._older = [smaller(checkpoint) for checkpoint in self._older]
        self.new = smaller(self.new) if self.new else None

    def _ledger(self) -> Ledger:
        folded, rolled = self._plan.fold, self._plan.rolled
        keys = {message.id for message in folded}
        sent = (m for m in self._material.messages if self._material.is_sent(m))
        kept = [message for message in sent if message.id not in keys]
        ledger = ledger_of(folded, kept, of_outputs=self._of_outputs)
        for checkpoint in reversed(rolled):
            ledger = merged(checkpoint.ledger, ledger)
        goals = tuple(fact for goal in self._material.metadata.goals for fact in _of_goal(goal))
        return merged(Ledger(facts=goals), ledger)

    def _summary_request(self, ledger: Ledger) -> SummaryRequest:
        goal = active_goal(self._material.metadata.goals)
        facts = self._maker.facts(ledger, alone=not self._writer.asks_model)
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

    def _age(self) -> list[CheckpointAged]:
        """Shorten the older checkpoints until all fit; if too little is left, merge the oldest."""
        events: list[CheckpointAged] = []

        def use(place: int, changed: Checkpoint, *replaced: Checkpoint) -> None:
            self._older[place : place + len(replaced)] = [changed]
            ids = tuple(each.id for each in replaced)
            events.append(CheckpointAged(checkpoint=changed, replaces=ids))

        for place, checkpoint in enumerate(self._older):
            if (aged := self._maker.aged(checkpoint)) is not checkpoint:
                use(place, aged, checkpoint)
        while self._excess() > 0 and self._older:
            shares = self._maker.shares(self._older, self._room_for_older)
            if len(self._older) > 1 and min(shares) < LEAST_SHOWN:
                first, second = self._older[:2]
                use(0, self._maker.merged(first, second, sum(shares[:2])), first, second)
                continue
            for place, (checkpoint, share) in enumerate(zip(self._older, shares, strict=True)):
                if share < checkpoint.current_tokens:
                    use(place, self._maker.within(checkpoint, share), checkpoint)
            break
        return events

    @property
    def _room_for_older(self) -> int:
        taken = self.new.current_tokens if self.new else 0
        return max(LEAST_TOKENS, self._maker.sizes.cap - taken)

    def _excess(self) -> int:
        total = sum(checkpoint.current_tokens for checkpoint in self.checkpoints)
        return total - self._maker.sizes.cap


def _of_goal(goal: Goal) -> Iterator[Fact]:
    """Yield what the user decided with /decide, unless it is locked and so in every prompt, and
    the steps that are open."""
    about = f"goal {goal.text}"
    for decision in goal.decisions:
        if not decision.locked:
            yield Fact("decided", decision.text, about, goal.id, from_user=True, at=decision.at)
    if goal.status in ("active", "paused"):
        for step in goal.subtasks:
            if not step.done:
                yield Fact("open", step.text, about, goal.id, from_user=True)


async def compacted(checkpoint: Checkpoint, plan: Plan, choice: ModelChoice) -> Checkpoint:
    """Return the checkpoint with what the server compacted of the same messages.

    Returns it unchanged if what the server gives is longer than there is room for. ProviderError
    if it cannot compact, or fails.
    """
    provider = choice.provider
    able = isinstance(provider, CanCompact)
    if not able or not (await provider.capabilities(choice.model)).compaction:
        raise Unavailable(f"{provider.name} cannot compact prompts", "OpenAI's Responses API can")
    made = await provider.compact(_compaction_request(plan, choice))
    # Beside a summary of ours it is worth its place only if it is shorter.
    is_alone = plan.wanted.strategy == "provider"
    most = max(plan.sizes.new, checkpoint.current_tokens) if is_alone else checkpoint.current_tokens
    if not 0 < made.tokens <= most:
        if is_alone:
            raise BadAnswer(f"the result of {provider.name} is not shorter")
        return checkpoint
    return replace(checkpoint, compacted=made)


def _compaction_request(plan: Plan, choice: ModelChoice) -> ChatRequest:
    rolled = (
        PromptMessage(role="assistant", text=checkpoint_text(each), compacted=each.compacted)
        for each in plan.rolled
    )
    said = (piece.message for message in plan.fold for piece in pieces_of(message))
    return ChatRequest(model=choice.model, messages=(*rolled, *said), window=choice.window)
