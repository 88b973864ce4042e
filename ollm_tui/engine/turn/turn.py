"""One turn: round after round, the model replies and the tools it calls are run, until a reply
calls none. Everything is recorded as it happens; stopping the turn keeps what there is.
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
)
from ollm_tui.core.loop import LoopFound
from ollm_tui.core.session.message import Message
from ollm_tui.core.tool_events import ReplyFinished
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.engine.conversation.stoppable import Stoppable
from ollm_tui.engine.loops.loop_watch import StoppedByLoop
from ollm_tui.engine.tools.conversation_tools import ConversationTools
from ollm_tui.engine.turn.engine_line import InLine
from ollm_tui.engine.turn.model_round import ModelRound
from ollm_tui.engine.turn.prompt_check import PromptCheck
from ollm_tui.services.sessions.recording import Recorder

CheckOf = Callable[[Message], PromptCheck]
"""Makes the check of the prompt that ends with a message."""


class Turn:
    """Runs one turn. `events` is consumed once; when the stoppable is stopped, what is waited for
    is given up, and they end with TurnCancelled."""

    def __init__(
        self,
        recorder: Recorder,
        choice: ModelChoice,
        question: Message,
        continued: Message | None,
        check_of: CheckOf,
        stoppable: Stoppable,
        tools: ConversationTools,
        in_line: Callable[[], InLine],
    ) -> None:
        self._in_line = in_line
        self._recorder = recorder
        self._choice = choice
        self._question = question
        self._continued = continued
        self._check_of = check_of
        self._stoppable = stoppable
        self._tools = tools

    async def events(self) -> AsyncGenerator[AnyTurnEvent, None]:
        """The events of the turn, ending with exactly one of TurnFinished, TurnCancelled and
        TurnFailed."""
        loops = self._tools.loops
        last = self._continued or self._question
        begun = ""
        try:
            while True:
                if found := loops.round():
                    async with aclosing(loops.pause(found, self._stoppable)) as pausing:
                        async for event in pausing:
                            yield event
                if recorded := await loops.tell():
                    yield recorded
                    last = recorded.message
                reply: Message | None = None
                asking = self._round(last)
                async with aclosing(asking.events()) as events:
                    async for event in events:
                        if isinstance(event, ReplyStarted):
                            begun = event.message_id
                        elif isinstance(event, ReplyFinished):
                            reply = event.message
                        yield event
                        if found := self._loop_in(event):
                            asking.step_aside()
                            async with aclosing(loops.pause(found, self._stoppable)) as pausing:
                                async for pause in pausing:
                                    yield pause
                        # The model cannot be told anything while it writes: its reply ends here.
                        if loops.has_words and isinstance(event, TextArrived):
                            break
                # The user interrupted a reply in circles: the next round begins with their words.
                if reply is None and loops.has_words:
                    yield ReplyFinished(self._recorder.state[begun])
                    continue
                if reply is None:
                    return
                calls = self._tools.calls()
                async with aclosing(calls.events(reply, self._stoppable)) as actions:
                    async for event in actions:
                        yield event
                if self._stoppable.stopped:
                    yield TurnCancelled(reply)
                    return
                # Results of tools, and what was said between them, have moved the head.
                last = self._recorder.state[self._recorder.state.header.head or last.id]
        except StoppedByLoop as error:
            stopped = self._recorder.state.branch(begun)[-1] if begun else None
            yield TurnFailed(error.message, error.hint, type(error).__name__, stopped)

    def _round(self, last: Message) -> ModelRound:
        """The round that answers the prompt ending with a message."""
        check = self._check_of(last)
        return ModelRound(
            self._recorder,
            self._choice,
            last.id,
            check,
            self._stoppable,
            self._tools,
            self._in_line,
            continued=last if last is self._continued else None,
        )

    def _loop_in(self, event: AnyTurnEvent) -> LoopFound | None:
        """What is found to repeat itself, with this event."""
        loops = self._tools.loops
        if isinstance(event, TextArrived):
            return loops.delta(event.text)
        return loops.output(event.message.text) if isinstance(event, ReplyFinished) else None
