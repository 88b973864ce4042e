"""One request to the model and its reply, as events; cancel and failure keep what arrived."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from typing import assert_never

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import BadAnswer, OllmError
from ollm_tui.core.events import (
    AnyTurnEvent,
    Prepared,
    PromptCut,
    ReasoningArrived,
    ReplyStarted,
    TextArrived,
    ToolCallRequested,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
)
from ollm_tui.core.intake import clean
from ollm_tui.core.message import Message, Status, Usage, new_id
from ollm_tui.core.provider import (
    ChatRequest,
    Completed,
    Preparing,
    Provider,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolCallArrived,
)
from ollm_tui.engine.reply import Reply
from ollm_tui.services.recording import Recorder

log = logging.getLogger(__name__)


class Turn:
    """Runs one request. `events` is consumed once; `cancel` may be called meanwhile."""

    def __init__(
        self,
        recorder: Recorder,
        provider: Provider,
        request: ChatRequest,
        parent_id: str,
        least_tokens: int = 0,
    ) -> None:
        self._session_id = recorder.state.header.session_id
        self._least_tokens = least_tokens
        self._provider = provider
        self._request = request
        self._cancelled = False
        self._next: asyncio.Future[StreamEvent | None] | None = None
        self._reply = Reply(
            recorder,
            Message(
                id=new_id(),
                role="assistant",
                parts=(),
                timestamp=clock.now(),
                parent_id=parent_id,
                model=request.model,
                provider=provider.name,
            ),
        )

    def cancel(self) -> None:
        """Stop: the connection is closed and `events` ends with TurnCancelled."""
        self._cancelled = True
        if self._next:
            self._next.cancel()

    async def events(self) -> AsyncGenerator[AnyTurnEvent, None]:
        """What happens, ending with exactly one of finished, cancelled and failed."""
        yield ReplyStarted(self._reply.message.id, self._request.model, self._provider.name)
        stream = self._provider.stream(self._request)
        try:
            while (event := await self._next_event(stream)) is not None:
                if isinstance(event, Completed):
                    finished = await self._finish(event)
                    if cut := self._cut(event.usage):
                        yield cut
                    yield finished
                    return
                if (told := self._take(event)) is not None:
                    yield told
            if not self._cancelled:
                raise BadAnswer("the answer broke off before its end", "send it again")
            yield TurnCancelled(await self._reply.finish("cancelled"))
        except (asyncio.CancelledError, GeneratorExit):
            # The front end went away: record what there is, nobody is left to be told.
            await self._reply.finish("cancelled")
            raise
        except OllmError as error:
            log.warning("the turn failed", exc_info=error, extra={"session": self._session_id})
            yield await self._fail(error)
        except Exception as error:
            log.exception("the turn failed", extra={"session": self._session_id})
            hint = "this should not happen; logs/ollm.log has the details"
            yield await self._fail(OllmError(f"{type(error).__name__}: {error}", hint))
        finally:
            await stream.aclose()

    async def _next_event(self, stream: AsyncGenerator[StreamEvent, None]) -> StreamEvent | None:
        """The next event, or None when the stream is over or the user stopped it."""
        if self._cancelled:
            return None
        self._next = asyncio.ensure_future(anext(stream, None))
        try:
            return await self._next
        except asyncio.CancelledError:
            if self._cancelled:
                return None
            raise

    def _take(
        self, event: Preparing | TextDelta | ReasoningDelta | ToolCallArrived
    ) -> AnyTurnEvent | None:
        """Keep what arrived; what is left of it for the screen."""
        reply, message_id = self._reply, self._reply.message.id
        match event:
            case Preparing():
                return Prepared(event.what, event.fraction)
            case TextDelta():
                shown = reply.add_text(event.text)
                return TextArrived(message_id, shown) if shown else None
            case ReasoningDelta():
                shown = reply.add_reasoning(event.text)
                return ReasoningArrived(message_id, shown) if shown else None
            case ToolCallArrived():
                call = replace(event.call, name=clean(event.call.name))
                reply.add_call(call)
                return ToolCallRequested(message_id, call)
            case _:
                assert_never(event)

    async def _finish(self, end: Completed) -> TurnFinished:
        status: Status = "length" if end.finish == "length" else "complete"
        return TurnFinished(await self._reply.finish(status, usage=end.usage, model=end.model))

    def _cut(self, usage: Usage | None) -> PromptCut | None:
        """The alarm, if less was read than was sent; a server that counts nothing says 0."""
        if not usage or not 0 < usage.input_tokens < self._least_tokens:
            return None
        cut = PromptCut(usage.input_tokens, self._least_tokens)
        log.warning(cut.message, extra={"session": self._session_id})
        return cut

    async def _fail(self, error: OllmError) -> TurnFailed:
        message = await self._reply.finish("failed", error=error.message)
        return TurnFailed(error.message, error.hint, type(error).__name__, message)
