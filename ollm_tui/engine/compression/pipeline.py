"""The pipeline of one compression, from the plan to a validated draft, as a stream of events.

It changes nothing: stopped at any point, the context is as it was before.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.compression_events import (
    AnyCompressionEvent,
    CompressionDrafted,
    CompressionFailed,
    CompressionSkipped,
    CompressionStarted,
    DataElided,
    Draft,
    SnapshotTaken,
    StageReached,
    UserMessagesFill,
)
from ollm_tui.core.counts import counted
from ollm_tui.core.session.compression import CompressedContext, Compression
from ollm_tui.core.session.session import compressed, next_number
from ollm_tui.engine.compression.fold.checkpoints import LEAST_TOKENS, CheckpointMaker
from ollm_tui.engine.compression.fold.folding import Folding
from ollm_tui.engine.compression.invariants import checkpoint_tokens, violations
from ollm_tui.engine.compression.plan.material import CompressionRequest, Material
from ollm_tui.engine.compression.plan.plan import (
    Plan,
    beyond,
    cannot_fit,
    make_plan,
    own_messages_fill,
)
from ollm_tui.engine.compression.summary.summariser import (
    FACTS_ALONE,
    UNFIT,
    Summariser,
    SummaryWriter,
)
from ollm_tui.engine.compression.summary.summary_guard import SummaryFailed
from ollm_tui.engine.compression.summary.summary_trial import SummaryTrial, fitness
from ollm_tui.engine.context.context_view import ContextView
from ollm_tui.engine.context.session_context import SessionContext
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.settings.schema import Compression as CompressionSettings

log = logging.getLogger(__name__)

ATTEMPTS_TO_SHRINK = 4
"""How often checkpoints that turn out too large are cut down before the draft is judged."""
SHRINK_MORE = 0.97
"""Checkpoints are cut below the cap by this factor: a low estimate will be low again."""

NOT_SMALLER = CompressionSkipped(
    reason="not-enough",
    message="compression would not make the context smaller",
    hint="the recent part, your own messages and pins are never compressed",
)

Snapshot = Callable[[], Awaitable[str | None]]
"""Takes a snapshot of the context and returns its id, or None if none was taken."""


class Pipeline:
    """Runs one compression of a conversation's context, up to a draft."""

    def __init__(
        self,
        context: SessionContext,
        request: CompressionRequest,
        settings: CompressionSettings,
        snapshot: Snapshot | None = None,
        *,
        of_outputs: bool = True,
    ) -> None:
        """Without a `snapshot` it is a preview. Without `of_outputs` nothing of what tools
        answered goes into the ledger."""
        self._of_outputs = of_outputs
        self._context = context
        self._request = request
        self._settings = settings
        self._snapshot = snapshot
        self._writer = self._summary_writer()
        self._snapshot_id: str | None = None
        self._begun = time.monotonic()

    async def events(self) -> AsyncGenerator[AnyCompressionEvent, None]:
        """Run the compression. The last event is a draft, or says why there is none."""
        await self._context.check(self._context.request())
        material = await self._context.material()
        is_full = await asyncio.to_thread(own_messages_fill, material)
        if is_full and self._request.own == "keep":
            yield _own_fill(material)
        plan = await asyncio.to_thread(make_plan, material, self._request)
        if isinstance(plan, CompressionSkipped):
            yield plan
            return
        yield self._started(material, plan)
        yield StageReached(stage="identify")
        if self._snapshot:
            yield StageReached(stage="snapshot")
            self._snapshot_id = await self._snapshot()
            if self._snapshot_id:
                yield SnapshotTaken(snapshot_id=self._snapshot_id)
        if plan.elide:
            yield StageReached(stage="elide")
            yield DataElided(
                message_ids=tuple(plan.elide),
                before_tokens=plan.elided_before,
                after_tokens=plan.elided_after,
            )
        maker = self._maker(material, plan)
        choice = self._context.choice
        folding = Folding(
            material,
            plan,
            maker,
            self._writer,
            self._settings.summary_max_tokens,
            choice,
            of_outputs=self._of_outputs,
        )
        if plan.fold or plan.excess:
            yield StageReached(stage="summarise")
            # A context that stays too full is worse than one without a summary: compression
            # would be tried again after every turn. A user who asked for it wants the summary; in
            # a preview one that was rejected can be edited or left out.
            may_do_without = self._request.trigger != "manual" or self._snapshot is None
            try:
                steps = folding.events(may_do_without=may_do_without)
                async with aclosing(steps):
                    async for step in steps:
                        yield step
            except SummaryFailed as error:
                yield CompressionFailed(error=error.message, hint=error.hint, kind="SummaryFailed")
                return
        yield StageReached(stage="validate")
        yield await self._validated(material, plan, folding)

    def _summary_writer(self) -> SummaryWriter:
        """Return what has summaries written; nothing if the model is not fit for them."""
        # The server compacts by itself: beside its form there is the ledger alone.
        if self._request.strategy in ("truncate", "provider"):
            return SummaryWriter(None)
        context = self._context
        room = context.view().budget.room
        limit = room.limit if room else None
        fit = fitness(context.choice, context.counter, self._settings)
        if fit == "unfit":
            writer = SummaryWriter(None)
            writer.note = f"{UNFIT}: {FACTS_ALONE}" if self._settings.summaries == "auto" else ""
            return writer
        summariser = Summariser(
            context.choice,
            context.counter.text_tokens,
            limit,
            Redactor().redact,
            context.in_line,
        )

        if fit == "fit":
            return SummaryWriter(summariser)
        return SummaryWriter(
            summariser, SummaryTrial(summariser, context.counter.remember_summaries)
        )

    def _started(self, material: Material, plan: Plan) -> CompressionStarted:
        needs_model = bool(plan.fold) and self._writer.asks_model
        return CompressionStarted(
            number=next_number(material.metadata),
            strategy=self._request.strategy,
            trigger=self._request.trigger,
            before_tokens=material.budget.used,
            expected_tokens=plan.expected,
            limit=material.room.limit,
            outcomes=plan.outcomes,
            model=self._context.choice.model if needs_model else "",
        )

    def _maker(self, material: Material, plan: Plan) -> CheckpointMaker:
        counter = self._context.counter
        return CheckpointMaker(
            next_number(material.metadata),
            plan.sizes,
            counter.text_tokens,
            counter.around_message,
            self._context.choice.model,
        )

    async def _validated(
        self, material: Material, plan: Plan, folding: Folding
    ) -> CompressionDrafted | CompressionFailed | CompressionSkipped:
        """Return the draft with exact token counts, or why it cannot be used."""
        draft = self._draft(material, plan, folding)
        after = await self._view_with(draft)
        # Sizes were estimated text by text; only the view counts the checkpoints in the prompt.
        for _ in range(ATTEMPTS_TO_SHRINK):
            taken = checkpoint_tokens(after)
            most = plan.sizes.cap
            if self._request.target is not None:
                most = min(most, taken - (after.count.tokens - self._request.target))
            if taken <= most or most < LEAST_TOKENS:
                break
            await asyncio.to_thread(folding.shrink, most / taken * SHRINK_MORE)
            draft = self._draft(material, plan, folding)
            after = await self._view_with(draft)
        target = self._request.target
        if self._request.trigger == "overflow" and after.budget.over_limit:
            return cannot_fit(material)
        if target is not None and after.count.tokens > target:
            return beyond(target, after.count.tokens)
        if after.count.tokens >= self._context.count().tokens:
            return NOT_SMALLER
        return await judged(self._context, draft, after)

    def _own_note(self, plan: Plan) -> str:
        """Say that messages of the user were folded without asking; empty if none were."""
        own = sum(1 for message in plan.fold if message.role == "user")
        if not own or self._request.own == "fold":
            return ""
        return f"{counted(own, 'message')} of yours folded as well: they filled the context"

    async def _view_with(self, draft: Draft) -> ContextView:
        return await self._context.view_with(compressed(self._context.metadata, draft.compression))

    def _draft(self, material: Material, plan: Plan, folding: Folding) -> Draft:
        before = material.metadata.compressed
        # Every change to an older checkpoint gives it a new id, so `made` has the changed ones too.
        older = {checkpoint.id for checkpoint in material.assembly.shortening.checkpoints}
        made = tuple(each for each in folding.checkpoints if each.id not in older)
        # What a checkpoint stands for is not in the prompt, so there is nothing to cut short in it.
        covered = {key for checkpoint in folding.checkpoints for key in checkpoint.messages}
        elided = [key for key in (*before.elided, *plan.elide) if key not in covered]
        compression = Compression(
            number=next_number(material.metadata),
            at=clock.now(),
            strategy=self._request.strategy,
            trigger=self._request.trigger,
            before_tokens=material.budget.used,
            after_tokens=plan.expected,
            before=before,
            after=CompressedContext(
                checkpoints=tuple(each.id for each in folding.checkpoints), elided=tuple(elided)
            ),
            created=made,
            folded=tuple(message.id for message in plan.fold),
            elisions=plan.elide,
            last=self._context.leaf,
            above=self._request.above,
            model=folding.new.model if folding.new else None,
            snapshot=self._snapshot_id,
            seconds=round(time.monotonic() - self._begun, 3),
            note=" ".join(text for text in (folding.note, self._own_note(plan)) if text),
        )
        return Draft(
            compression=compression,
            based_on=before,
            head=self._context.leaf,
            checkpoint=folding.new,
        )


async def validated(
    context: SessionContext, draft: Draft
) -> CompressionDrafted | CompressionFailed:
    """Check a draft against the context as it is now; see `judged`."""
    after = await context.view_with(compressed(context.metadata, draft.compression))
    return await judged(context, draft, after)


async def judged(
    context: SessionContext, draft: Draft, after: ContextView
) -> CompressionDrafted | CompressionFailed:
    """Return the draft with exact token counts, or what is wrong with it.

    `after` is the context as the draft would leave it.
    """
    compression = draft.compression
    before = context.view()
    # In a thread: every message that stays is looked for in the prompt.
    wrong = await asyncio.to_thread(
        violations, before, after, compression.folded, compression.created
    )
    if wrong:
        log.error("a compression was given up: %s", "; ".join(wrong))
        return CompressionFailed(
            error=f"the compressed context would be invalid: {wrong[0]}",
            hint="nothing changed; details in logs/ollm.log",
            kind="Invalid",
        )
    exact = replace(compression, before_tokens=before.count.tokens, after_tokens=after.count.tokens)
    return CompressionDrafted(draft=replace(draft, compression=exact))


def _own_fill(material: Material) -> UserMessagesFill:
    own = [message for message in material.messages if message.role == "user"]
    foldable = sum(1 for message in own[:-1] if not material.is_pinned(message))
    return UserMessagesFill(
        tokens=material.own_tokens, limit=material.room.limit, foldable=foldable
    )
