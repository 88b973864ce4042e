"""A comparison: one question asked of several models at once, each answer recorded as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial
from typing import NamedTuple

from ollm_tui.core.events import (
    AnyTurnEvent,
    ReasoningArrived,
    ReplyStarted,
    TextArrived,
    TurnCancelled,
)
from ollm_tui.core.session.message import Message
from ollm_tui.engine.context.session_context import SessionContext
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.engine.conversation.stoppable import Stoppable
from ollm_tui.engine.turn.engine_line import Asker, EngineLines
from ollm_tui.engine.turn.model_round import ModelRound
from ollm_tui.engine.turn.prompt_check import PromptCheck
from ollm_tui.services.sessions.recording import Recorder


class ColumnEvent(NamedTuple):
    """What happened to one of the answers."""

    column: int
    event: AnyTurnEvent


class NoTools:
    """Stands for the tools of a comparison: several models must not change files side by side."""

    offered: tuple[str, ...] = ()

    def named(self, name: str) -> str:
        """Return the name as it is: it means no tool."""
        return name

    async def model_refused(self) -> None:
        """Do nothing: none was offered."""


class Contender:
    """One of the models: what it is sent, what of its answer arrived, and what stops it."""

    def __init__(self, context: SessionContext) -> None:
        self.context = context
        self.stoppable = Stoppable()
        self.message_id: str | None = None
        """The answer, once the model was asked."""
        self._prompt_tokens: int | None = None

    @property
    def choice(self) -> ModelChoice:
        """The model, as it is asked."""
        return self.context.choice

    @property
    def tokens(self) -> int:
        """The tokens of the answer so far, as far as they can be counted without its server."""
        count = self.context.live.count
        if count is None or self._prompt_tokens is None:
            return 0
        return max(count.tokens - self._prompt_tokens, 0)

    def take(self, event: AnyTurnEvent) -> None:
        """Note what an event says of the answer."""
        if isinstance(event, ReplyStarted):
            self.message_id = event.message_id
        elif isinstance(event, TextArrived | ReasoningArrived):
            if self._prompt_tokens is None and (sent := self.context.live.count):
                self._prompt_tokens = sent.tokens
            self.context.live.add(event.text)


class Comparison:
    """Asks several models. `events` is consumed once; what one of them does, or how it fails, does
    not reach the others."""

    def __init__(
        self, recorder: Recorder, question: Message, contexts: Sequence[SessionContext]
    ) -> None:
        self._recorder = recorder
        self._question = question
        self.contenders = tuple(map(Contender, contexts))
        self._news: asyncio.Queue[ColumnEvent | None] = asyncio.Queue()

    async def events(self) -> AsyncGenerator[ColumnEvent, None]:
        """The events of all answers as they come; each column ends with one of TurnFinished,
        TurnCancelled and TurnFailed."""
        asked = [
            asyncio.create_task(self._run(column, each))
            for column, each in enumerate(self.contenders)
        ]
        try:
            running = len(asked)
            while running:
                if news := await self._news.get():
                    yield news
                else:
                    running -= 1
        finally:
            self.stop()
            # What arrived is recorded before anybody goes on from it.
            await asyncio.gather(*asked)

    def stop(self, column: int | None = None) -> None:
        """Stop one of the models, or all; what arrived stays."""
        for number, each in enumerate(self.contenders):
            if column is None or column == number:
                each.stoppable.stop()

    async def _run(self, column: int, contender: Contender) -> None:
        """Have one model answer, as soon as its server has a place for it."""
        state = self._recorder.state
        asker = Asker(state.header.session_id, lambda: state.header.title, contender.choice.model)
        lines, stoppable = contender.context.lines, contender.stoppable
        try:
            # Here and not in the round: of a model that was never asked nothing is recorded.
            with lines.place(contender.choice.provider.name, asker) as place:
                changes = place.changes()
                while (queued := await stoppable.wait(anext(changes, None))) is not None:
                    self._tell(column, queued)
                if stoppable.stopped:
                    self._tell(column, TurnCancelled(None))
                else:
                    await self._answer(column, contender)
        finally:
            self._news.put_nowait(None)

    async def _answer(self, column: int, contender: Contender) -> None:
        context = contender.context
        context.begin_turn(self._question)
        await context.prepare()

        async def narrow(window: int) -> None:
            context.use(context.choice._replace(window=window, largest_window=window))

        check = PromptCheck(context, self._question, None, narrow)
        asking = ModelRound(
            self._recorder,
            contender.choice,
            self._question.id,
            check,
            contender.stoppable,
            NoTools(),
            partial(EngineLines().place, "", Asker("", str)),
        )
        async with aclosing(asking.events()) as events:
            async for event in events:
                contender.take(event)
                self._tell(column, event)

    def _tell(self, column: int, event: AnyTurnEvent) -> None:
        self._news.put_nowait(ColumnEvent(column, event))
