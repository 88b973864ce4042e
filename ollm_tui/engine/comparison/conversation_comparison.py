"""The comparisons of one conversation: several models answer its last message or a new one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import UsageError
from ollm_tui.core.session.message import Attachment, Message
from ollm_tui.core.session.session import Metadata
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.session.vote import Vote
from ollm_tui.engine.comparison.comparison import ColumnEvent, Comparison
from ollm_tui.engine.context.session_context import SessionContext
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.engine.conversation.stoppable import Stoppable
from ollm_tui.services.sessions.recording import Recorder

Ask = Callable[[str, Sequence[Attachment], str | None, Stoppable], Awaitable[Message]]
"""Records a new message of the user."""


class ConversationComparison:
    """Compares models in one conversation; nothing else may talk to a model meanwhile."""

    def __init__(
        self,
        recorder: Recorder,
        context_for: Callable[[ModelChoice], SessionContext],
        ask: Ask,
        check_free: Callable[[], None],
        before: Callable[[Message], Awaitable[None]],
        after: Callable[[], Awaitable[None]],
        change_metadata: Callable[[Metadata], Awaitable[None]],
        switch: Callable[[str], Awaitable[None]],
    ) -> None:
        self._recorder = recorder
        self._context_for = context_for
        self._ask = ask
        self._check_free = check_free
        self._before = before
        self._after = after
        self._change_metadata = change_metadata
        self._switch = switch
        self.running: Comparison | None = None
        """The comparison that runs now."""

    @property
    def _state(self) -> SessionState:
        return self._recorder.state

    @property
    def last_turn(self) -> tuple[Message, ...]:
        """The last message of the user and what was said to it; empty before the first one."""
        branch = self._state.branch() if self._state.header.head else []
        asked = [at for at, message in enumerate(branch) if message.role == "user"]
        return tuple(branch[asked[-1] :]) if asked else ()

    async def events(
        self,
        choices: Sequence[ModelChoice],
        text: str | None = None,
        attachments: Sequence[Attachment] = (),
    ) -> AsyncGenerator[ColumnEvent, None]:
        """Have models answer a new message, or without one the last message of the user.

        Every answer is a sibling of the others. Afterwards the conversation ends with the answer
        it had before, else with the first one that is whole. UsageError while a model answers, or
        if there is no message.
        """
        self._check_free()
        question, stands = await self._question(text, attachments)
        self._check_free()
        self.running = Comparison(
            self._recorder, question, [self._context_for(choice) for choice in choices]
        )
        try:
            await self._before(question)
            async with aclosing(self.running.events()) as events:
                async for event in events:
                    yield event
        finally:
            contenders, self.running = self.running.contenders, None
            answers = [each.message_id for each in contenders if each.message_id]
            await self._end_with(stands, answers)

    def stop(self, column: int | None = None) -> None:
        """Stop one of the models, or all."""
        if self.running:
            self.running.stop(column)

    async def vote(self, question: str, better: str, answers: Sequence[str]) -> bool:
        """Record which answer was the better one, instead of an earlier vote about the question;
        voting the same again takes it back. Returns whether the vote stands.

        Answers are named by their last messages, and `better` is one of them.
        """
        metadata = self._state.header.metadata
        before = self.vote_on(question)
        kept = tuple(vote for vote in metadata.votes if vote is not before)
        stands = before is None or before.answer != better
        if stands:
            others = [self._model(each) for each in answers if each != better]
            vote = Vote(clock.now(), question, better, self._model(better), tuple(others))
            kept = (*kept, vote)
        await self._change_metadata(replace(metadata, votes=kept))
        return stands

    def vote_on(self, question: str) -> Vote | None:
        """The vote among the answers to a question."""
        votes = self._state.header.metadata.votes
        return next((vote for vote in votes if vote.question == question), None)

    async def _question(
        self, text: str | None, attachments: Sequence[Attachment]
    ) -> tuple[Message, str | None]:
        """The message to answer, and the end of the answer that it has already."""
        head = self._state.header.head
        if text is not None:
            return await self._ask(text, attachments, head, Stoppable()), None
        turn = self.last_turn
        if not turn:
            raise UsageError("no message to compare answers for", "send one first")
        return turn[0], head if len(turn) > 1 else None

    async def _end_with(self, stands: str | None, answers: Sequence[str]) -> None:
        """Make the answer that was there the end of the conversation again, else the first whole
        one."""
        known = [each for each in answers if each in self._state]
        whole = [each for each in known if self._state[each].status == "complete"]
        if end := stands or next(iter((*whole, *known)), None):
            await self._switch(end)
        await self._after()

    def _model(self, message_id: str) -> str:
        return self._state[message_id].model or self._state.header.model
