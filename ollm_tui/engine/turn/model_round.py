"""One round: a request to the model and its reply as events. Stopping and failing keep what
arrived."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from math import ceil
from typing import Protocol, assert_never

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import BadAnswer, OllmError, OverLimit, ProviderError, RateLimited
from ollm_tui.core.events import (
    AnyTurnEvent,
    Prepared,
    ReasoningArrived,
    ReplyStarted,
    TextArrived,
    ToolCallRequested,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
)
from ollm_tui.core.intake import clean
from ollm_tui.core.provider import (
    Completed,
    Preparing,
    ReasoningDelta,
    TextDelta,
    ToolCallArrived,
    vendor_of,
)
from ollm_tui.core.session.message import Message, Opaque, Status, ToolCallPart, going_on, new_id
from ollm_tui.core.tool_events import ReplyFinished
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.engine.conversation.stoppable import Stoppable
from ollm_tui.engine.turn.engine_line import InLine, Place
from ollm_tui.engine.turn.incoming import Incoming
from ollm_tui.engine.turn.prompt_check import PromptCheck
from ollm_tui.engine.turn.reply import Reply
from ollm_tui.engine.turn.stray_calls import stray_calls
from ollm_tui.services.sessions.recording import Recorder

QUIET_SECONDS = 0.5
"""How long the check of a prompt may take before the user is told what is waited for."""
GETTING_READY = "preparing"
"""Shown while a prompt is checked: a server that counts it may have to start first."""

LONGEST_WAIT_SECONDS = 3600.0
"""If a server asks for a longer wait, the turn fails and says when to come back."""
MOST_WAITS = 5
"""How often a server may ask to be waited for in one round."""

log = logging.getLogger(__name__)


class RoundTools(Protocol):
    """The tools of a conversation, as far as a round has to know them."""

    @property
    def offered(self) -> tuple[str, ...]:
        """The names of the tools that the model is offered."""
        ...

    def named(self, name: str) -> str:
        """Return the name of the offered tool that the model means."""
        ...

    async def model_refused(self) -> object:
        """Offer no more tools: the model cannot use any."""
        ...


class ModelRound:
    """Runs one round. `events` is consumed once; stopping ends it with TurnCancelled."""

    def __init__(
        self,
        recorder: Recorder,
        choice: ModelChoice,
        parent_id: str,
        check: PromptCheck,
        stoppable: Stoppable,
        tools: RoundTools,
        in_line: Callable[[], InLine],
        continued: Message | None = None,
    ) -> None:
        """`continued` is a stopped answer that ends the prompt, and that the reply goes on with."""
        self._in_line = in_line
        self._place: Place | None = None
        self._session_id = recorder.state.header.session_id
        self._choice = choice
        self._provider = choice.provider
        self._vendor = vendor_of(choice.provider)
        self._check = check
        self._stoppable = stoppable
        self._tools = tools
        self._waits = 0
        message = Message(
            id=new_id(),
            role="assistant",
            parts=(),
            timestamp=clock.now(),
            parent_id=parent_id,
            model=choice.model,
            provider=choice.provider.name,
        )
        if continued:
            message = going_on(message, continued)
        self._said = [message.text]
        self._reply = Reply(recorder, message)

    async def events(self) -> AsyncGenerator[AnyTurnEvent, None]:
        """The events of the round, ending with exactly one of ReplyFinished, TurnFinished,
        TurnCancelled and TurnFailed."""
        message = self._reply.message
        yield ReplyStarted(message.id, message.model or "", self._provider.name)
        try:
            while not self._stoppable.stopped:
                try:
                    async with aclosing(self._ask()) as events:
                        async for event in events:
                            yield event
                    if not self._stoppable.stopped:
                        return
                    break
                except ProviderError as error:
                    again = self._before_asking_again(error)
                async with aclosing(again) as events:
                    async for event in events:
                        yield event
            yield TurnCancelled(await self._reply.finish("cancelled"))
        except (asyncio.CancelledError, GeneratorExit):
            # The front end went away: record what there is, nobody is left to be told.
            await self._reply.finish("cancelled")
            raise
        except Exception as error:
            for event in await self._failure(error):
                yield event

    def step_aside(self) -> None:
        """Let others be answered: what was asked waits for the user. Its server writes on as far
        as it can, and what it wrote is read when the round goes on."""
        if self._place:
            self._place.leave()

    async def _before_asking_again(
        self, error: ProviderError
    ) -> AsyncGenerator[AnyTurnEvent, None]:
        """What is done after an error before the reply is asked for again: make room for a prompt
        that is too long, wait as a busy server asks for, leave out the tools that the model
        refuses. The error itself if nothing helps, or if a reply has begun: asking again would
        write it twice."""
        match error:
            case OverLimit():
                room = None if self._reply.begun else await self._check.room_for(error)
                if room is None:
                    raise error
                async with aclosing(room):
                    while (event := await self._stoppable.wait(anext(room, None))) is not None:
                        yield event
            case RateLimited():
                async with aclosing(self._count_down(error)) as seconds:
                    async for second in seconds:
                        yield second
            case _:
                if self._reply.begun or not self._tools.offered or not _is_about_tools(error):
                    raise error
                await self._tools.model_refused()

    async def _failure(self, error: Exception) -> list[AnyTurnEvent]:
        """The last events of a round that an error ended."""
        where = {"session": self._session_id}
        match error:
            case OverLimit():
                too_long = await self._check.refused(error)
                log.warning(error.message, extra=where)
                return [too_long, await self._fail(OverLimit(error.message, too_long.hint))]
            case OllmError():
                log.warning("the turn failed", exc_info=error, extra=where)
                return [await self._fail(error)]
            case _:
                log.error("the turn failed", exc_info=error, extra=where)
                hint = "this is a bug; details in logs/ollm.log"
                return [await self._fail(OllmError(f"{type(error).__name__}: {error}", hint))]

    async def _count_down(self, error: RateLimited) -> AsyncGenerator[Prepared, None]:
        """Wait as long as a busy server asks for, with an event each second; the error itself if
        it does not say, or if that is too long, or if a reply has begun."""
        wait, self._waits = error.retry_after, self._waits + 1
        if wait is None or self._reply.begun or self._waits > MOST_WAITS:
            raise error
        if wait > LONGEST_WAIT_SECONDS:
            raise RateLimited(error.message, f"try again in {_time(wait)}", wait)
        loop = asyncio.get_running_loop()
        end = loop.time() + wait
        while (left := end - loop.time()) > 0 and not self._stoppable.stopped:
            said = f"{self._provider.name} is busy · retrying in {_time(left)}"
            yield Prepared(said, 1 - left / wait)
            await self._stoppable.wait(asyncio.sleep(min(left, 1.0)))

    async def _ask(self) -> AsyncGenerator[AnyTurnEvent, None]:
        """Check the prompt, wait in line and send one request. OverLimit if its prompt is too
        long, BadAnswer if the stream has no end; no last event if it was stopped."""
        checking = asyncio.ensure_future(self._check.before())
        try:
            if not await self._stoppable.ends_within(QUIET_SECONDS, checking):
                yield Prepared(GETTING_READY)
            request = await self._stoppable.wait(checking)
        finally:
            checking.cancel()
        if request is None:
            return
        with self._in_line() as self._place:
            async with aclosing(self._place.changes()) as changes:
                while (queued := await self._stoppable.wait(anext(changes, None))) is not None:
                    yield queued
            if self._stoppable.stopped:
                return
            incoming = Incoming(self._provider.stream(request))
            try:
                while events := await self._stoppable.wait(incoming.next()):
                    for event in events:
                        if isinstance(event, Completed):
                            for last in await self._finish(event):
                                yield last
                            return
                        if (shown := self._take(event)) is not None:
                            yield shown
            finally:
                await incoming.close()
        if not self._stoppable.stopped:
            raise BadAnswer("the answer was cut off", "send it again")

    def _take(
        self, event: Preparing | TextDelta | ReasoningDelta | ToolCallArrived
    ) -> AnyTurnEvent | None:
        """Take what arrived into the reply; returns what a front end is told, if anything."""
        reply, message_id = self._reply, self._reply.message.id
        match event:
            case Preparing():
                return Prepared(event.what, event.fraction)
            case TextDelta():
                shown = reply.add_text(event.text)
                self._said.append(shown)
                return TextArrived(message_id, shown) if shown else None
            case ReasoningDelta():
                shown = reply.add_reasoning(event.text)
                return ReasoningArrived(message_id, shown) if shown else None
            case ToolCallArrived():
                return self._call(event.call)
            case _:
                assert_never(event)

    def _call(self, asked: ToolCallPart) -> ToolCallRequested:
        """Add a call to the reply, under an id of our own: servers number calls anew in each
        reply, and the text that a tool reads must not be able to guess the id."""
        name = self._tools.named(clean(asked.name))
        call = replace(asked, name=name, call_id=f"call_{new_id()}")
        self._reply.add_call(call)
        return ToolCallRequested(self._reply.message.id, call)

    def _is_offered(self, name: str) -> bool:
        return self._tools.named(name) in self._tools.offered

    async def _finish(self, end: Completed) -> list[AnyTurnEvent]:
        """Record the end of the reply; returns the last events, with PromptCut if the model read
        less than was sent."""
        status: Status = "length" if end.finish == "length" else "complete"
        calls = [] if self._reply.calls else stray_calls("".join(self._said), self._is_offered)
        asked = [self._call(call) for call in calls]
        opaque = None
        if end.opaque:
            asked_model = self._reply.message.model or ""
            opaque = Opaque(vendor=self._vendor, model=asked_model, items=end.opaque)
        message = await self._reply.finish(
            status, usage=self._choice.priced(end.usage), model=end.model, opaque=opaque
        )
        cut = await self._check.after(end.usage)
        # One that calls tools does not end the turn.
        goes_on = message.tool_calls and self._tools.offered
        last = ReplyFinished(message) if goes_on else TurnFinished(message)
        if cut is None:
            return [*asked, last]
        log.warning(cut.message, extra={"session": self._session_id})
        return [*asked, cut, last]

    async def _fail(self, error: OllmError) -> TurnFailed:
        message = await self._reply.finish("failed", error=error.message)
        return TurnFailed(error.message, error.hint, type(error).__name__, message)


def _time(seconds: float) -> str:
    """A wait in words: seconds for a minute, then minutes, then hours."""
    whole = ceil(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < LONGEST_WAIT_SECONDS:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole / LONGEST_WAIT_SECONDS:.1f} h"


def _is_about_tools(error: ProviderError) -> bool:
    """Whether an error says that the model cannot use tools; servers word it differently."""
    words = error.message.lower()
    return "tool" in words and ("support" in words or "template" in words)
