"""Compression of one conversation: when it is due, how it runs, how it is applied and undone."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.compression_events import (
    AnyCompressionEvent,
    CompressionCancelled,
    CompressionDrafted,
    CompressionFailed,
    CompressionSkipped,
    ContextCompressed,
    Draft,
    SnapshotTaken,
    StageReached,
)
from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.intake import clean
from ollm_tui.core.provider import ChatRequest
from ollm_tui.core.session.compression import Compression, Strategy, Trigger, last_undoable
from ollm_tui.core.session.record import Compressed, CompressionUndone
from ollm_tui.core.session.session import compressed, next_number
from ollm_tui.core.snapshot import Reason
from ollm_tui.engine.compression.plan.material import Choice, CompressionRequest
from ollm_tui.engine.context.prompt_message import readable
from ollm_tui.engine.context.session_context import SessionContext
from ollm_tui.engine.conversation.held_session import HeldSession
from ollm_tui.engine.conversation.stoppable import Stoppable
from ollm_tui.settings.schema import Settings

if TYPE_CHECKING:
    from ollm_tui.engine.compression.pipeline import Pipeline

log = logging.getLogger(__name__)

Choices = Mapping[str, Choice]
"""What the user decided for single messages, by their ids."""
NO_CHOICES: Choices = MappingProxyType({})
FAILURES_IN_A_ROW = 3
"""Failed compressions after which none is tried for `PAUSE_SECONDS`."""
PAUSE_SECONDS = 300
REFILLS_AT_ONCE = 3
"""Compressions, each within one turn of the last, after which a note says what fills up."""


class Breaker:
    """Pauses automatic compression after repeated failures.

    A compression that the user asks for is never held back, and its failure is not counted.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._failures = 0
        self._paused_until = 0.0
        self._refills = 0
        self._turns_at_last: int | None = None

    @property
    def paused_seconds(self) -> int:
        """Seconds until compression is tried again; 0 if it is not paused."""
        return max(0, round(self._paused_until - self._now()))

    def failed(self) -> bool:
        """Count a failure. Return True if it was one too many and the pause begins."""
        self._failures += 1
        if self._failures < FAILURES_IN_A_ROW:
            return False
        self._failures = 0
        self._paused_until = self._now() + PAUSE_SECONDS
        return True

    def succeeded(self, turns: int) -> bool:
        """Count a compression applied in turn number `turns`.

        Return True if the context filled up again at once so often that the user should be told
        what fills it.
        """
        self._failures, self._paused_until = 0, 0.0
        at_once = self._turns_at_last is not None and turns - self._turns_at_last <= 1
        self._turns_at_last = turns
        self._refills = self._refills + 1 if at_once else 0
        if self._refills < REFILLS_AT_ONCE:
            return False
        self._refills = 0
        return True


Snapshot = Callable[[Reason], Awaitable[str | None]]
"""Takes a snapshot for a reason and returns its id, or None if none was taken."""
DropSnapshot = Callable[[str], Awaitable[None]]
"""Removes a snapshot that was taken in vain."""
RunHooks = Callable[[Literal["pre-compress", "post-compress"]], Awaitable[None]]
TakeSnapshot = Callable[[], Awaitable[str | None]]
LARGEST_TOLD = 3
"""How many of the largest items a note names."""


class ConversationCompression:
    """Compresses the context of one session.

    One compression runs at a time, and none during a turn unless the turn itself asks for it.
    """

    def __init__(
        self,
        session: HeldSession,
        context: SessionContext,
        settings: Settings,
        check_free: Callable[[], None],
        snapshot: Snapshot,
        run_hooks: RunHooks | None = None,
        drop_snapshot: DropSnapshot | None = None,
    ) -> None:
        self._session = session
        self._context = context
        self._settings = settings
        self._check_free = check_free
        self._snapshot = snapshot
        self._run_hooks = run_hooks
        self._drop_snapshot = drop_snapshot
        self._breaker = Breaker()
        self._running: Stoppable | None = None
        self._can_hold = False
        """Whether the running compression may still end with a draft instead of being applied."""
        self._holds = False
        """Whether it will: the user asked to see the draft first."""
        self.folds_own = False
        """Whether the user's oldest messages are folded without asking: nobody can be asked."""

    @property
    def is_running(self) -> bool:
        """Whether a compression is under way."""
        return self._running is not None

    @property
    def history(self) -> tuple[Compression, ...]:
        """Every compression of the session, the oldest first."""
        return self._context.metadata.compression_history

    @property
    def is_due(self) -> bool:
        """Whether the context should be compressed before the next message.

        After an undo it is not due until a prompt no longer fits.
        """
        view = self._context.view()
        if view.compresses != "trigger" or self._breaker.paused_seconds:
            return False
        return view.budget.needs_compression

    def run(
        self,
        trigger: Trigger = "manual",
        *,
        strategy: Strategy | None = None,
        above: str | None = None,
        instructions: str = "",
        fold_own: bool = False,
        target: int | None = None,
        choices: Choices = NO_CHOICES,
    ) -> AsyncGenerator[AnyCompressionEvent, None]:
        """Compress the context, to at most `target` tokens if given.

        `choices` tell what becomes of single messages. Raises UsageError while the model answers.
        """
        self._check_free()
        self._can_hold, self._holds = True, False
        request = self._request(trigger, strategy, above, instructions, fold_own)
        return self._applying(request._replace(target=target, choices=choices))

    def hold(self) -> bool:
        """Have the running compression end with a draft, as a preview does.

        Nothing is changed until `apply`. Return False if it is too late, or if a turn waits for
        the compression.
        """
        self._holds = self.is_running and self._can_hold
        return self._holds

    async def make_room(
        self,
        trigger: Trigger = "overflow",
        strategy: Strategy | None = None,
        above: str | None = None,
        instructions: str = "",
        fold_own: bool = False,
    ) -> AsyncGenerator[AnyCompressionEvent, None]:
        """Compress as `run` does, but also during a turn: its prompt does not fit."""
        request = self._request(trigger, strategy, above, instructions, fold_own)
        async with aclosing(self._applying(request)) as events:
            async for event in events:
                yield event

    async def _applying(
        self, request: CompressionRequest
    ) -> AsyncGenerator[AnyCompressionEvent, None]:
        """Compress, and apply the draft unless the user asked to see it first."""
        async with aclosing(self._events(request, self._take_snapshot)) as events:
            async for event in events:
                if isinstance(event, CompressionDrafted) and not self._holds:
                    self._can_hold = False
                    yield StageReached(stage="apply")
                    yield await self._applied(event.draft)
                else:
                    yield event

    def preview(
        self,
        *,
        strategy: Strategy | None = None,
        above: str | None = None,
        instructions: str = "",
        fold_own: bool = False,
        target: int | None = None,
        choices: Choices = NO_CHOICES,
    ) -> AsyncGenerator[AnyCompressionEvent, None]:
        """Compress up to the last step: the events end with a draft, and nothing is changed.

        Raises UsageError while the model answers.
        """
        self._check_free()
        request = self._request("manual", strategy, above, instructions, fold_own)
        return self._events(request._replace(target=target, choices=choices), None)

    def before_and_after(self, draft: Draft, summary: str | None = None) -> tuple[str, str]:
        """Return the prompt as it is, and as a draft would leave it, as text for people."""
        if summary is not None and draft.checkpoint:
            draft = self._with_summary(draft, clean(summary).strip())
        after = compressed(self._context.metadata, draft.compression)
        assemblies = (self._context.assembly, self._context.view_as(after).prompt.assembly)
        before, then = (
            readable(ChatRequest(model="", messages=assembly.prompt)) for assembly in assemblies
        )
        return before, then

    async def foldable(self, *, own: bool = False) -> tuple[int, int]:
        """Return how many messages could be folded now, and the tokens saved by that; with `own`
        those of the user too, and only they are counted.

        The tokens are a lower bound, and include what else is folded along with them.
        """
        from ollm_tui.engine.compression.plan.plan import Plan, make_plan

        material = await self._context.material()
        plan = make_plan(material, self._request("manual", None, None, "", fold_own=own))
        if not isinstance(plan, Plan):
            return 0, 0
        count = sum(message.role == "user" for message in plan.fold) if own else len(plan.fold)
        return count, max(0, material.budget.used - plan.expected)

    async def apply(self, draft: Draft, summary: str | None = None) -> Compression:
        """Apply a draft, with another summary if one is given.

        Raises UsageError if the conversation went on since, or if the draft breaks an invariant.
        """
        self._check_free()
        if (draft.head, draft.based_on) != (self._context.leaf, self._context.metadata.compressed):
            raise UsageError("the conversation has changed meanwhile", "/compact again")
        if summary is not None and draft.checkpoint:
            draft = self._with_summary(draft, clean(summary).strip())
        # Again, since the summary may be the user's own and longer than what it replaces.
        checked = await self._validated(draft)
        if isinstance(checked, CompressionFailed):
            raise UsageError(checked.error, checked.hint)
        draft = checked.draft
        compression = replace(
            draft.compression,
            # Another one may have been made and undone since.
            number=next_number(self._context.metadata),
            snapshot=await self._take_snapshot(),
        )
        return (await self._applied(replace(draft, compression=compression))).compression

    async def undo(self) -> Compression:
        """Undo the last compression and return it, marked as undone.

        Raises UsageError if there is none, or if the context was restored since.
        """
        self._check_free()
        last = last_undoable(self.history, self._context.metadata.compressed)
        if last is None:
            raise UsageError("no compression to undo", "/compact compresses")
        undone = CompressionUndone(at=clock.now(), number=last.number)
        await self._session.record(undone)
        return replace(last, undone_at=undone.at)

    def stop(self) -> None:
        """Cancel the running compression; the context stays as it was."""
        if self._running:
            self._running.stop()

    async def _events(
        self, request: CompressionRequest, snapshot: TakeSnapshot | None
    ) -> AsyncGenerator[AnyCompressionEvent, None]:
        running = self._running = Stoppable()
        unused = ""
        where = {"session": self._session.session_id}
        log.info("compression begun: %s, %s", request.strategy, request.trigger, extra=where)
        try:
            if self._run_hooks:
                await running.wait(self._run_hooks("pre-compress"))
            pipeline = await self._pipeline(request, snapshot)
            async with aclosing(pipeline.events()) as steps:
                while (event := await running.wait(anext(steps, None))) is not None:
                    if isinstance(event, SnapshotTaken):
                        unused = event.snapshot_id
                    elif isinstance(event, CompressionDrafted):
                        unused = ""
                    yield self._told(self._noted(event, request))
            if running.stopped:
                yield self._told(CompressionCancelled())
        except OllmError as error:
            kind = type(error).__name__
            failed = CompressionFailed(error=error.message, hint=error.hint, kind=kind)
            yield self._told(self._noted(failed, request))
        finally:
            log.info("compression ended", extra=where)
            if unused and self._drop_snapshot:
                await self._drop_snapshot(unused)
            self._running = None
            self._can_hold = self._holds = False

    def _told(self, event: AnyCompressionEvent) -> AnyCompressionEvent:
        """Publish an event for outsiders; returns it."""
        self._session.heard.publish(event)
        return event

    def _noted(
        self, event: AnyCompressionEvent, request: CompressionRequest
    ) -> AnyCompressionEvent:
        """Count a failure; after too many, return the event with a hint about the pause."""
        match event:
            case CompressionFailed() | CompressionSkipped(reason="not-enough"):
                pass
            case _:
                return event
        if request.trigger == "manual":
            return event
        if not self._breaker.failed():
            return event
        minutes = self._breaker.paused_seconds // 60
        hint = f"no retry for {minutes} minutes; /compact runs it now"
        return replace(event, hint=hint)

    def _request(
        self,
        trigger: Trigger,
        strategy: Strategy | None,
        above: str | None,
        instructions: str,
        fold_own: bool,
    ) -> CompressionRequest:
        chosen = strategy or self._settings.compression.strategy
        # The prompt must become shorter now although compression keeps failing: no model is asked.
        if trigger == "overflow" and self._breaker.paused_seconds:
            chosen = "truncate"
        own = "fold" if fold_own else "fold-if-full" if self.folds_own else "keep"
        return CompressionRequest(chosen, trigger, above, clean(instructions).strip(), own)

    async def _pipeline(
        self, request: CompressionRequest, snapshot: TakeSnapshot | None
    ) -> Pipeline:
        # In a thread: the import takes longer than a key press may wait for its echo.
        new_pipeline = await asyncio.to_thread(_load_pipeline)
        of_outputs = self._settings.retention.store_tool_outputs
        settings = self._settings.compression
        return new_pipeline(self._context, request, settings, snapshot, of_outputs=of_outputs)

    async def _applied(self, draft: Draft) -> ContextCompressed:
        """Record a compression. The context changes with the record and with nothing else."""
        compression = draft.compression
        turns = sum(1 for message in self._session.state.branch() if message.role == "user")
        if self._breaker.succeeded(turns):
            largest = self._largest()
            compression = replace(compression, note=f"{compression.note} {largest}".strip())
        await self._session.record(Compressed(at=compression.at, compression=compression))
        if self._run_hooks:
            await self._run_hooks("post-compress")
        done = ContextCompressed(compression=compression)
        self._session.heard.publish(done)
        return done

    def _largest(self) -> str:
        """Say what fills the context again and again."""
        items = sorted(self._context.view().items, key=lambda item: -item.tokens.tokens)
        names = ", ".join(f"{item.title[:40]} ({item.tokens})" for item in items[:LARGEST_TOLD])
        return f"still nearly full, mostly with {names}"

    async def _validated(self, draft: Draft) -> CompressionDrafted | CompressionFailed:
        from ollm_tui.engine.compression.pipeline import validated

        return await validated(self._context, draft)

    def _with_summary(self, draft: Draft, summary: str) -> Draft:
        """Return the draft with the user's summary instead of the model's.

        The ledger makes room for it: together they are no longer than before.
        """
        from ollm_tui.engine.compression.ledger.ledger import rendered

        made = draft.checkpoint
        assert made is not None
        count = self._context.counter.text_tokens
        more = count(summary) - count(made.summary)
        # What a server compacted still says what the model wrote, so it goes with those words.
        edited = replace(made, summary=summary, edited=True, compacted=None)
        if more > 0:
            told = rendered(made.ledger, max(0, count(made.facts) - more), count)
            edited = replace(edited, facts=told.text, ledger=told.ledger)
        parts = draft.compression.created
        created = tuple(edited if each.id == edited.id else each for each in parts)
        compression = replace(draft.compression, created=created)
        return replace(draft, checkpoint=edited, compression=compression)

    async def _take_snapshot(self) -> str | None:
        return await self._snapshot("compression")


def _load_pipeline() -> type[Pipeline]:
    """Import what runs a compression, and return it.

    Not imported with this module: compiling its patterns takes longer than the rest of the
    program needs to start.
    """
    from ollm_tui.engine.compression.pipeline import Pipeline

    return Pipeline
