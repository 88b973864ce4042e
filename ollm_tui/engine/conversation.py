"""A conversation being held: the one owner of what was said."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import NamedTuple

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import StoreError, UsageError
from ollm_tui.core.events import (
    AnyTurnEvent,
    SaveFailed,
    SaveResumed,
    StoreEvent,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from ollm_tui.core.intake import clean
from ollm_tui.core.message import Attachment, Message, Text, new_id
from ollm_tui.core.provider import ChatRequest, Provider
from ollm_tui.core.record import Created, MessageAdded, MessageFinished, SessionChanged
from ollm_tui.core.session_state import SessionState
from ollm_tui.core.titles import title_of
from ollm_tui.engine.context import assemble
from ollm_tui.engine.prompt_check import least_tokens
from ollm_tui.engine.turn import Turn
from ollm_tui.services.recording import Recorder
from ollm_tui.services.topic import Topic


class ModelChoice(NamedTuple):
    """Who answers, and how requests to it look; equal for all requests of a session."""

    provider: Provider
    model: str
    window: int | None = None
    max_output: int | None = None
    temperature: float | None = None
    thinking: bool | None = None


class Conversation:
    """Holds one session: sends, and branches by editing and regenerating.

    Every method that talks to the model is an async generator of events; closing it or
    calling `cancel` stops the model and keeps what arrived.
    """

    def __init__(
        self, recorder: Recorder, choice: ModelChoice, saving: Topic[StoreEvent], *, begun: bool
    ) -> None:
        self._recorder = recorder
        self._choice = choice
        self._begun = begun
        self._turn: Turn | None = None
        self._notices: list[SaveFailed | SaveResumed] = []
        self._unsubscribe = saving.subscribe(self._note_saving)

    @property
    def state(self) -> SessionState:
        """Everything said so far, to be read only."""
        return self._recorder.state

    @property
    def session_id(self) -> str:
        """The session this conversation is recorded in."""
        return self.state.header.session_id

    @property
    def unsaved(self) -> int:
        """How many records could not be written yet."""
        return self._recorder.unsaved

    @property
    def choice(self) -> ModelChoice:
        """Who answers."""
        return self._choice

    def send(
        self, text: str, attachments: Sequence[Attachment] = ()
    ) -> AsyncGenerator[AnyTurnEvent, None]:
        """Say something at the end of the current branch and get the answer.

        Attachments may come along, or alone; whatever they contain is data.
        """
        return self._ask(text, attachments, self.state.header.head)

    def edit(
        self, message_id: str, text: str, attachments: Sequence[Attachment] = ()
    ) -> AsyncGenerator[AnyTurnEvent, None]:
        """Say something else in the place of an earlier message; that one stays, as a sibling."""
        message = self._message(message_id)
        if message.role != "user":
            raise UsageError("only your own messages can be edited", "regenerate the reply instead")
        return self._ask(text, attachments, self.state.parent(message_id))

    async def regenerate(self, message_id: str | None = None) -> AsyncGenerator[AnyTurnEvent, None]:
        """Have the last reply, or a given one, written again beside the one there is."""
        step = message_id or self.state.header.head
        while step is not None and self._message(step).role != "user":
            step = self.state.parent(step)
        if step is None:
            raise UsageError("there is no reply to write again", "send a message first")
        async with aclosing(self._answer(self.state[step])) as events:
            async for event in events:
                yield event

    async def switch_to(self, message_id: str) -> None:
        """Make another branch the current one: the given message becomes its end."""
        self._message(message_id)
        await self.change(head=message_id)

    async def change(self, **fields: object) -> None:
        """Give fields of the session new values, named as on disk: title, pinned, tags."""
        await self._recorder.record(SessionChanged(at=clock.now(), fields=fields))

    def cancel(self) -> None:
        """Stop the model, if it is writing."""
        if self._turn:
            self._turn.cancel()

    async def save(self) -> None:
        """Write everything into the session file now."""
        await self._recorder.save()

    async def close(self) -> None:
        """Save and let go of the session."""
        self._unsubscribe()
        if self._begun:
            await self._recorder.close()

    async def mark_interrupted(self) -> None:
        """Give replies that a crash cut off their end."""
        cut_off = [message for message in self.state.messages() if message.status == "streaming"]
        for message in cut_off:
            await self._recorder.record(
                MessageFinished(
                    at=self.state.header.last_activity,
                    message_id=message.id,
                    status="interrupted",
                )
            )

    async def _ask(
        self, text: str, attachments: Sequence[Attachment], parent_id: str | None
    ) -> AsyncGenerator[AnyTurnEvent, None]:
        words = clean(text)
        data = tuple(_as_data(attachment) for attachment in attachments)
        if not (words.strip() or data):
            raise UsageError("there is nothing to send", "type a message first")
        moment = clock.now()
        said = (Text(words),) if words.strip() else ()
        message = Message(new_id(), "user", (*said, *data), moment, parent_id=parent_id)
        added = MessageAdded(at=moment, message=message)
        if self._begun:
            await self._recorder.record(added)
        else:
            await self._begin(words if said else data[0].content, moment, added)
        async with aclosing(self._answer(message)) as events:
            async for event in events:
                yield event

    async def _begin(self, words: str, moment: str, first: MessageAdded) -> None:
        """The session exists from its first message on."""
        self._begun = True
        header = replace(
            self.state.header, title=title_of(words), start_time=moment, last_activity=moment
        )
        await self._recorder.record(Created(at=moment, session=header), first)

    async def _answer(self, question: Message) -> AsyncGenerator[AnyTurnEvent, None]:
        if self._turn:
            raise UsageError("the model is still answering", "wait for it, or stop it first")
        choice = self._choice
        branch = self.state.branch(question.id)
        request = ChatRequest(
            model=choice.model,
            messages=assemble(self.state.header.system_prompt, branch),
            window=choice.window,
            max_output=choice.max_output,
            temperature=choice.temperature,
            thinking=choice.thinking,
        )
        least = least_tokens(request, choice.provider.name, branch)
        self._turn = Turn(self._recorder, choice.provider, request, question.id, least)
        try:
            for notice in self._saving_notices():
                yield notice
            yield TurnStarted(self.session_id, question)
            async with aclosing(self._turn.events()) as events:
                async for event in events:
                    for notice in self._saving_notices():
                        yield notice
                    if isinstance(event, TurnFinished | TurnCancelled | TurnFailed):
                        self._turn = None
                    yield event
        finally:
            self._turn = None

    def _message(self, message_id: str) -> Message:
        if message_id not in self.state:
            raise StoreError(f"there is no message {message_id}", "ollm sessions view ID")
        return self.state[message_id]

    def _note_saving(self, event: StoreEvent) -> None:
        if isinstance(event, SaveFailed | SaveResumed):
            self._notices.append(event)

    def _saving_notices(self) -> list[SaveFailed | SaveResumed]:
        notices, self._notices = self._notices, []
        return notices

    async def use(self, choice: ModelChoice) -> None:
        """Have another model answer from the next message on; the session remembers it."""
        self._choice = choice
        fields = {"model": choice.model, "provider": choice.provider.name, "window": choice.window}
        if self._begun:
            await self.change(**fields)
        else:
            self.state.header = replace(self.state.header, **fields)


def _as_data(attachment: Attachment) -> Attachment:
    """What came along, safe to show and never to be obeyed."""
    return replace(
        attachment,
        name=" ".join(clean(attachment.name).split()),
        content=clean(attachment.content),
        trusted=False,
    )
