"""One turn: the model is asked, what it asks for is done, and it is asked again until it is done.

Everything is recorded as it happens; stopping it keeps what there is.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from ollm_tui.core.events import (
    AnyTurnEvent,
    ReplyStarted,
    TextArrived,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
)
from ollm_tui.core.loop import LoopFound
from ollm_tui.core.session.message import Message
from ollm_tui.core.tool_events import ReplyFinished
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.engine.conversation.stoppable import Stoppable
from ollm_tui.engine.loops.loop_watch import StoppedByLoop
from ollm_tui.engine.tools.conversation_tools import ConversationTools
from ollm_tui.engine.turn.model_round import ModelRound
from ollm_tui.engine.turn.prompt_check import PromptCheck
from ollm_tui.services.sessions.recording import Recorder

CheckOf = Callable[[Message], PromptCheck]
"""How the prompt that ends with a message is checked."""


class Turn:
    """Runs one turn. `events` is consumed once; `cancel` may be called meanwhile."""

    def __init__(
        self,
        recorder: Recorder,
        choice: ModelChoice,
        question: Message,
        check_of: CheckOf,
        stoppable: Stoppable,
        tools: ConversationTools,
    ) -> None:
        self._recorder = recorder
        self._choice = choice
        self._question = question
        self._check_of = check_of
        self._stoppable = stoppable
        self._tools = tools

    def cancel(self) -> None:
        """Stop: whatever is waited for is given up, and `events` ends with TurnCancelled."""
        self._stoppable.stop()

    async def events(self) -> AsyncGenerator[AnyTurnEvent, None]:
        """What happens, ending with exactly one of finished, cancelled and failed."""
        loops = self._tools.loops
        last = self._question
        begun = ""
        try:
            while True:
                async with aclosing(self._paused(loops.round())) as pausing:
                    async for event in pausing:
                        yield event
                if told := await loops.tell():
                    yield told
                    last = told.message
                reply: Message | None = None
                async with aclosing(self._watched(self._ask(last))) as events:
                    async for event in events:
                        if isinstance(event, ReplyStarted):
                            begun = event.message_id
                        elif isinstance(event, ReplyFinished):
                            reply = event.message
                        yield event
                if reply is None and loops.has_words:
                    yield ReplyFinished(self._recorder.state[begun])
                    continue
                if reply is None:
                    return
                async with aclosing(self._do(reply)) as actions:
                    async for event in actions:
                        yield event
                if self._stoppable.stopped:
                    yield TurnCancelled(reply)
                    return
                last = self._recorder.state[self._recorder.state.header.head or last.id]
        except StoppedByLoop as error:
            stopped = self._recorder.state.branch(begun)[-1] if begun else None
            yield TurnFailed(error.message, error.hint, type(error).__name__, stopped)

    async def _ask(self, last: Message) -> AsyncGenerator[AnyTurnEvent, None]:
        """One reply; one that asks for tools ends with ReplyFinished instead of the turn's end."""
        check = self._check_of(last)
        asked = ModelRound(
            self._recorder, self._choice, last.id, check, self._stoppable, self._tools
        )
        async with aclosing(asked.events()) as events:
            async for event in events:
                if (
                    isinstance(event, TurnFinished)
                    and event.message.tool_calls
                    and self._tools.offered
                ):
                    yield ReplyFinished(event.message)
                else:
                    yield event

    async def _watched(
        self, events: AsyncGenerator[AnyTurnEvent, None]
    ) -> AsyncGenerator[AnyTurnEvent, None]:
        """The same events, with a pause where the model repeats itself. A reply that is not whole
        ends there if the user has something to say: the model hears nothing while it writes."""
        loops = self._tools.loops
        async with aclosing(events):
            async for event in events:
                yield event
                if isinstance(event, TextArrived):
                    found = loops.delta(event.text)
                elif isinstance(event, ReplyFinished):
                    found = loops.output(event.message.text)
                else:
                    continue
                async with aclosing(self._paused(found)) as pausing:
                    async for told in pausing:
                        yield told
                if loops.has_words and isinstance(event, TextArrived):
                    return

    async def _paused(self, found: LoopFound | None) -> AsyncGenerator[AnyTurnEvent, None]:
        """The pause for a loop, if one was found."""
        if found:
            async with aclosing(self._tools.loops.pause(found, self._stoppable)) as pausing:
                async for event in pausing:
                    yield event

    async def _do(self, reply: Message) -> AsyncGenerator[AnyTurnEvent, None]:
        calls = self._tools.calls()
        async with aclosing(calls.events(reply, self._stoppable)) as actions:
            async for event in actions:
                yield event
