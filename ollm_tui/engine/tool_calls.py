"""The calls of one reply: understood, allowed or refused, run, and recorded, one by one."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import NamedTuple, Protocol

from ollm_tui.core import clock
from ollm_tui.core.errors import OllmError, ToolError
from ollm_tui.core.intake import clean
from ollm_tui.core.message import Approval, Message, ToolCallPart, ToolResultPart, new_id
from ollm_tui.core.record import MessageAdded, ToolCallAdded
from ollm_tui.core.session import ToolCall, ToolResult
from ollm_tui.core.tool import (
    Action,
    Decision,
    PlannedCall,
    Tool,
    ToolOutcome,
    Verdict,
)
from ollm_tui.core.tool_events import (
    AnyToolEvent,
    ApprovalAnswered,
    ApprovalRequested,
    ToolFinished,
    ToolOutputArrived,
    ToolStarted,
)
from ollm_tui.engine.approvals import Approvals
from ollm_tui.engine.held_session import HeldSession
from ollm_tui.engine.loop_watch import LoopWatch
from ollm_tui.engine.stoppable import Stoppable

CANCELLED = "cancelled by the user"
NOBODY_TO_ASK = "the user would have to be asked, and nobody can be here"

log = logging.getLogger(__name__)

Judge = Callable[[str, Action], Verdict]
"""What the rules say to what a tool would do."""


class Surroundings(Protocol):
    """What stands around every call that is run."""

    async def before(self, call: ToolCallPart, action: Action) -> None:
        """To be called before it runs."""
        ...

    async def after(self, call: ToolCallPart, action: Action) -> bool | None:
        """Whether files are different now; None where nobody looked."""
        ...


class _Told(NamedTuple):
    """How a call ended, for the record and the screen."""

    outcome: ToolOutcome
    approval: Approval | None = None


class ToolCalls:
    """Runs what replies ask for. A call that fails is answered with its error."""

    def __init__(
        self,
        session: HeldSession,
        tools: Callable[[], Mapping[str, Tool]],
        judge: Judge,
        approvals: Approvals,
        loops: LoopWatch,
        around: Surroundings,
        shorten: Callable[[str], Awaitable[str]],
        redact: Callable[[str], str],
    ) -> None:
        self._session = session
        self._tools = tools
        self._judge = judge
        self._approvals = approvals
        self._loops = loops
        self._around = around
        self._shorten = shorten
        self._redact = redact

    async def events(
        self, reply: Message, stoppable: Stoppable
    ) -> AsyncGenerator[AnyToolEvent, None]:
        """Every call of a reply, in its order; once it is stopped, the rest is cancelled."""
        for call in reply.tool_calls:
            if found := self._loops.called(call.name, call.args, call.call_id):
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

    async def _one(
        self, reply: Message, call: ToolCallPart, stoppable: Stoppable
    ) -> AsyncGenerator[AnyToolEvent, None]:
        begun = time.monotonic()
        told = _Told(ToolOutcome(CANCELLED, is_error=True, summary="cancelled"))
        if not stoppable.stopped:
            try:
                async with aclosing(self._attempt(reply, call, stoppable)) as steps:
                    async for step in steps:
                        if isinstance(step, _Told):
                            told = step
                        else:
                            yield step
            except OllmError as error:
                told = _Told(_failure(error))
            except Exception as error:
                log.exception("a tool failed", extra={"session": self._session.session_id})
                told = _Told(_failure(OllmError(f"{type(error).__name__}: {error}")))
        result = await self._record(call, told)
        outcome = told.outcome
        self._loops.answered(
            call.call_id, result.content, is_error=outcome.is_error, changed_state=outcome.changed
        )
        yield ToolFinished(reply.id, result, outcome.summary, time.monotonic() - begun)

    async def _attempt(
        self, reply: Message, call: ToolCallPart, stoppable: Stoppable
    ) -> AsyncGenerator[AnyToolEvent | _Told, None]:
        """What happens until there is an outcome. ToolError if it is refused, or cannot be done."""
        planned = await self._plan(call)
        action, approval = planned.action, None
        verdict = self._judge(call.name, action)
        if verdict.ruling == "deny":
            raise ToolError(f"not allowed: {verdict.reason}", "do it another way, or ask the user")
        if verdict.ruling == "ask":
            if not self._approvals.can_ask:
                raise ToolError(f"not allowed: {NOBODY_TO_ASK} ({verdict.reason})")
            answer = self._approvals.ask(call.call_id)
            yield ApprovalRequested(reply.id, call, action, verdict)
            decision = await stoppable.wait(answer)
            if decision is None:
                return
            yield ApprovalAnswered(call.call_id, decision)
            approval = Approval(
                call_id=call.call_id, decision=decision.answer, scope=decision.scope
            )
            self._approvals.remember(call.name, action, verdict, decision)
            if decision.answer in ("no", "never"):
                yield _Told(_refusal(decision), approval)
                return
        yield ToolStarted(reply.id, call, action)
        async with aclosing(self._run(planned, call, stoppable)) as steps:
            async for step in steps:
                yield _Told(step, approval) if isinstance(step, ToolOutcome) else step

    async def _plan(self, call: ToolCallPart) -> PlannedCall:
        tools = self._tools()
        tool = tools.get(call.name)
        if tool is None:
            raise ToolError(f"there is no tool {call.name!r}", f"there are: {', '.join(tools)}")
        if call.raw_arguments is not None:
            raise ToolError(f"the arguments of {call.name} are no JSON object", "call it again")
        return await tool.plan(call.args)

    async def _run(
        self, planned: PlannedCall, call: ToolCallPart, stoppable: Stoppable
    ) -> AsyncGenerator[ToolOutputArrived | ToolOutcome, None]:
        """The output as it comes, and at last the outcome; nothing of that once it is stopped."""
        action = planned.action
        await self._around.before(call, action)
        printed: list[str] = []
        news = asyncio.Event()

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
                    text = "".join(printed)
                    printed.clear()
                    yield ToolOutputArrived(call.call_id, self._redact(text))
        finally:
            if not running.done():
                running.cancel()
                await asyncio.wait({running})
            changed = await self._around.after(call, action)
        outcome = running.result()
        if outcome.changed is None and changed is not None:
            outcome = ToolOutcome(
                outcome.text,
                is_error=outcome.is_error,
                changed=changed,
                summary=outcome.summary,
                attachments=outcome.attachments,
            )
        yield outcome

    async def _record(self, call: ToolCallPart, told: _Told) -> ToolResultPart:
        """One message and one tool call; where the model gets less, the whole is in the latter."""
        outcome = told.outcome
        whole = self._redact(clean(outcome.text))
        content = await self._shorten(whole)
        result = ToolResultPart(
            call_id=call.call_id, name=call.name, content=content, is_error=outcome.is_error
        )
        moment = clock.now()
        approvals = (told.approval,) if told.approval else ()
        message = Message(
            id=new_id(),
            role="tool",
            parts=(result, *approvals, *outcome.attachments),
            timestamp=moment,
            parent_id=self._session.state.header.head,
        )
        display = whole if whole != content else None
        executed = ToolCall(
            call.call_id, call.name, call.args, ToolResult(content, display), moment
        )
        await self._session.record(
            MessageAdded(at=moment, message=message), ToolCallAdded(at=moment, tool_call=executed)
        )
        return result


def _failure(error: OllmError) -> ToolOutcome:
    text = f"{error.message} ({error.hint})" if error.hint else error.message
    return ToolOutcome(text, is_error=True, summary="failed")


def _refusal(decision: Decision) -> ToolOutcome:
    words = clean(decision.words).strip()
    text = f"the user refused this: {words}" if words else "the user refused this"
    return ToolOutcome(text, is_error=True, changed=False, summary="refused")
