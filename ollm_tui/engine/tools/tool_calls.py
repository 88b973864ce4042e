"""Runs the tool calls of a reply one by one: each is planned, judged, approved, run, recorded."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import OllmError, ToolError
from ollm_tui.core.intake import clean
from ollm_tui.core.session.message import Approval, Message, ToolCallPart, ToolResultPart, new_id
from ollm_tui.core.session.record import MessageAdded, ToolCallAdded
from ollm_tui.core.session.session import ToolCall, ToolResult
from ollm_tui.core.snapshot import Reason
from ollm_tui.core.tool import Action, Decision, PlannedCall, Tool, ToolOutcome, Verdict
from ollm_tui.core.tool_events import (
    REFUSED,
    AnyToolEvent,
    ApprovalAnswered,
    ApprovalRequested,
    ToolFinished,
    ToolOutputArrived,
    ToolStarted,
)
from ollm_tui.engine.conversation.held_session import HeldSession
from ollm_tui.engine.conversation.stoppable import Stoppable
from ollm_tui.engine.loops.loop_watch import LoopWatch
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.redaction.stream_redactor import StreamRedactor
from ollm_tui.settings.schema import HookEvent

if TYPE_CHECKING:
    from ollm_tui.services.files.file_changes import FileWatch


CHANGING = ("write", "run")
"""The effects of calls that may change files."""


class RunHooks(Protocol):
    """A function that runs the hooks of an event."""

    async def __call__(self, event: HookEvent, **facts: object) -> None:
        """Run the hooks of an event; they get the facts as JSON."""
        ...


Touch = Callable[[Sequence[str]], Awaitable[None]]
"""Hears the paths of files that a call read or changed."""


class AroundCalls:
    """Runs the hooks, and keeps the context and the files as they are before a change."""

    def __init__(
        self,
        run_hooks: RunHooks,
        snapshot: Callable[[Reason], Awaitable[str | None]],
        files: Callable[[], FileWatch | None],
        touch: Touch | None = None,
    ) -> None:
        self._touch = touch
        self._run_hooks = run_hooks
        self._snapshot = snapshot
        self._files = files
        self.snapshot_id: str | None = None
        """The snapshot of this turn, taken before its first change."""

    async def before(self, call: ToolCallPart, action: Action) -> None:
        """Run the hooks; before a call that may change files also keep those, and once a turn the
        context."""
        await self._run_hooks("before-tool", callId=call.call_id, tool=call.name, args=call.args)
        if action.effect not in CHANGING:
            return
        if self.snapshot_id is None:
            self.snapshot_id = await self._snapshot("tool")
        if files := self._files():
            # What a command will change is not known: all files are compared then.
            path = action.subject if action.effect == "write" else ""
            await asyncio.to_thread(files.before, path)

    async def after(self, action: Action) -> tuple[str, ...] | None:
        """Compare the files after a call, also one that was stopped. The paths of those that are
        different; None if they were not compared."""
        if action.effect in CHANGING and (files := self._files()):
            return tuple(change.path for change in await asyncio.to_thread(files.after))
        return None

    async def over(
        self, call: ToolCallPart, action: Action, changes: Sequence[str], changed: bool | None
    ) -> None:
        """Tell which files were touched, and run the hooks, after a call that was not stopped."""
        if self._touch:
            named = action.effect in ("read", "write")
            await self._touch((action.reads or (action.subject,)) if named else changes)
        await self._run_hooks("after-tool", callId=call.call_id, tool=call.name, changed=changed)


log = logging.getLogger(__name__)

CANCELLED = "cancelled by the user"
KEPT_CHARACTERS = 20_000
"""How much is kept of what a cancelled call had printed: its end, which says how far it came."""
NOT_ALLOWED = "not allowed: "
"""How the answer to a call begins that the rules refuse."""
ANOTHER_WAY = "do it another way, or ask the user"
NOBODY_TO_ASK = "the user would have to be asked, and nobody can be here"

Remember = Callable[[str, Action, Verdict, Decision], None]
"""Stores an answer that holds for more than once."""

Judge = Callable[[str, Action], Verdict]
"""Gives the verdict on what a tool would do."""


class Approvals:
    """The question to the user that waits for an answer; one at a time in a conversation."""

    def __init__(self) -> None:
        self.can_ask = False
        """Whether anybody is there who could answer."""
        self.keep: Remember | None = None
        """Where answers for more than once are stored."""
        self._waiting: dict[str, asyncio.Future[Decision]] = {}

    def ask(self, call_id: str) -> asyncio.Future[Decision]:
        """Ask about a call; the future is the answer."""
        waiting: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._waiting = {call_id: waiting}
        return waiting

    def answer(self, call_id: str, decision: Decision) -> None:
        """Give the user's answer; one to a question that is over is ignored."""
        waiting = self._waiting.get(call_id)
        if waiting and not waiting.done():
            waiting.set_result(decision)

    def remember(self, tool: str, action: Action, verdict: Verdict, decision: Decision) -> None:
        """Store an answer that holds for more than this once."""
        if self.keep and decision.answer in ("always", "never"):
            self.keep(tool, action, verdict, decision)


@dataclass
class _Progress:
    """How far one call has come, so that it can be recorded wherever it breaks off."""

    call: ToolCallPart
    approval: Approval | None = None
    outcome: ToolOutcome | None = None
    printed: str = ""

    def ended(self) -> ToolOutcome:
        """The outcome; without one the call was cancelled, with what it had printed so far."""
        if self.outcome:
            return self.outcome
        text = f"{CANCELLED}; until then it printed:\n{self.printed}" if self.printed else CANCELLED
        return ToolOutcome(text, is_error=True, summary="cancelled", is_ours=not self.printed)


class ToolCalls:
    """Runs the calls of replies. A call that fails is answered with its error."""

    def __init__(
        self,
        session: HeldSession,
        tools: Callable[[], Mapping[str, Tool]],
        judge: Judge,
        approvals: Approvals,
        loops: LoopWatch,
        around: AroundCalls,
        shorten: Callable[[str, str], Awaitable[str]],
        redactor: Redactor,
        check: Callable[[str, str], Awaitable[str]] | None = None,
    ) -> None:
        self._check = check
        self._session = session
        self._tools = tools
        self._judge = judge
        self._approvals = approvals
        self._loops = loops
        self._around = around
        self._shorten = shorten
        self._redactor = redactor

    async def events(
        self, reply: Message, stoppable: Stoppable
    ) -> AsyncGenerator[AnyToolEvent, None]:
        """The events of all calls of a reply, in order; after a stop, the rest is recorded as
        cancelled: the model needs an answer to every call."""
        for call in reply.tool_calls:
            found = self._loops.called(call.name, call.args, call.call_id)
            if found and not stoppable.stopped:
                async with aclosing(self._loops.pause(found, stoppable)) as pausing:
                    async for event in pausing:
                        yield event
            async with aclosing(self._one(reply, call, stoppable)) as steps:
                async for event in steps:
                    yield event
        if (found := self._loops.paused) and not stoppable.stopped:
            async with aclosing(self._loops.pause(found, stoppable, between_calls=True)) as pausing:
                async for event in pausing:
                    yield event
        if recorded := await self._loops.tell():
            yield recorded

    async def _one(
        self, reply: Message, call: ToolCallPart, stoppable: Stoppable
    ) -> AsyncGenerator[AnyToolEvent, None]:
        """The events of one call; whatever becomes of it, a result is recorded."""
        begun = time.monotonic()
        progress = _Progress(call)
        if not stoppable.stopped:
            try:
                async with aclosing(self._attempt(reply, progress, stoppable)) as steps:
                    async for step in steps:
                        yield step
            except OllmError as error:
                progress.outcome = _failure(error)
            except Exception as error:
                log.exception("a tool failed", extra={"session": self._session.session_id})
                progress.outcome = _failure(OllmError(f"{type(error).__name__}: {error}"))
        outcome = progress.ended()
        result = await self._record(call, outcome, progress.approval)
        self._loops.answered(
            call.call_id, result.content, is_error=outcome.is_error, changed_state=outcome.changed
        )
        yield ToolFinished(reply.id, result, outcome.summary, time.monotonic() - begun)

    async def _attempt(
        self, reply: Message, progress: _Progress, stoppable: Stoppable
    ) -> AsyncGenerator[AnyToolEvent, None]:
        """The events of a call until it has an outcome. ToolError if it cannot be done."""
        call = progress.call
        planned = await self._plan(call)
        action = planned.action
        verdict = self._judge(call.name, action)
        if verdict.ruling == "deny":
            progress.outcome = _not_allowed(f"{verdict.reason} ({ANOTHER_WAY})")
            return
        if verdict.ruling == "ask":
            if not self._approvals.can_ask:
                progress.outcome = _not_allowed(f"{NOBODY_TO_ASK} ({verdict.reason})")
                return
            # Before the event: the front end may answer while it handles it.
            answer = self._approvals.ask(call.call_id)
            yield ApprovalRequested(reply.id, call, action, verdict)
            decision = await stoppable.wait(answer)
            if decision is None:
                return
            yield ApprovalAnswered(call.call_id, decision)
            progress.approval = Approval(
                call_id=call.call_id, decision=decision.answer, scope=decision.scope
            )
            self._approvals.remember(call.name, action, verdict, decision)
            if decision.answer in ("no", "never"):
                progress.outcome = _refusal(decision)
                return
        yield ToolStarted(reply.id, call, action)
        await stoppable.wait(self._around.before(call, action))
        if stoppable.stopped:
            return  # nothing was begun, and nothing is
        async with aclosing(self._run(planned, progress, stoppable)) as steps:
            async for step in steps:
                yield step

    async def _plan(self, call: ToolCallPart) -> PlannedCall:
        """What a call would do. ToolError for an unknown tool or arguments that make no sense."""
        tools = self._tools()
        tool = tools.get(call.name)
        if tool is None:
            raise ToolError(f"there is no tool {call.name!r}", f"there are: {', '.join(tools)}")
        if call.raw_arguments is not None:
            raise ToolError(f"the arguments of {call.name} are no JSON object", "call it again")
        return await tool.plan(call.args)

    async def _run(
        self, planned: PlannedCall, progress: _Progress, stoppable: Stoppable
    ) -> AsyncGenerator[ToolOutputArrived, None]:
        """The output of a call as it comes; without an outcome if it was stopped."""
        call, printed, news = progress.call, list[str](), asyncio.Event()
        stream = StreamRedactor(self._redactor)

        def tell(text: str) -> None:
            printed.append(text)
            news.set()

        running = asyncio.ensure_future(planned.run(tell))
        running.add_done_callback(lambda _: news.set())
        try:
            while not running.done():
                if await stoppable.wait(news.wait()) is None:
                    return
                news.clear()
                if printed:
                    text = stream.feed("".join(printed))
                    printed.clear()
                    progress.printed = (progress.printed + text)[-KEPT_CHARACTERS:]
                    if text:
                        yield ToolOutputArrived(call.call_id, text)
        finally:
            if not running.done():
                running.cancel()
                # Files are only compared once it has really ended.
                await asyncio.wait({running})
            changes = await self._around.after(planned.action)
        changed = None if changes is None else bool(changes)
        outcome = running.result()
        if outcome.changed is None:
            outcome = replace(outcome, changed=changed)
        progress.outcome = outcome
        await stoppable.wait(self._around.over(call, planned.action, changes or (), changed))

    async def _record(
        self, call: ToolCallPart, outcome: ToolOutcome, approval: Approval | None
    ) -> ToolResultPart:
        """Record a result as a message for the model and as a tool call. If the model gets a cut
        output, the tool call has all of it."""
        whole = self._redactor.redact(outcome.text)
        if self._check and not outcome.is_ours:
            whole = self._redactor.redact(await self._check(call.name, whole))
        content = await self._shorten(whole, call.call_id)
        result = ToolResultPart(
            call_id=call.call_id,
            name=call.name,
            content=content,
            is_error=outcome.is_error,
            trusted=outcome.is_ours,
        )
        moment = clock.now()
        approvals = (approval,) if approval else ()
        message = Message(
            id=new_id(),
            role="tool",
            parts=(result, *approvals, *outcome.attachments),
            timestamp=moment,
            parent_id=self._session.state.header.head,
        )
        display = whole if whole != content else None
        answer = ToolResult(content, display, trusted=outcome.is_ours)
        executed = ToolCall(call.call_id, call.name, call.args, answer, moment)
        await self._session.record(
            MessageAdded(at=moment, message=message), ToolCallAdded(at=moment, tool_call=executed)
        )
        return result


def _failure(error: OllmError) -> ToolOutcome:
    text = f"{error.message} ({error.hint})" if error.hint else error.message
    return ToolOutcome(text, is_error=True, summary="failed")


def _not_allowed(why: str) -> ToolOutcome:
    return ToolOutcome(f"{NOT_ALLOWED}{why}", is_error=True, changed=False, summary="refused")


def _refusal(decision: Decision) -> ToolOutcome:
    words = clean(decision.words).strip()
    text = f"{REFUSED}: {words}" if words else REFUSED
    return ToolOutcome(text, is_error=True, changed=False, summary="refused", is_ours=True)
