"""One open conversation: sends messages, changes the context, owns the record of what was said."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.compression_events import CompressionEvent
from ollm_tui.core.errors import StoreError, UsageError
from ollm_tui.core.events import (
    AnyTurnEvent,
    PromptTooLong,
    ReasoningArrived,
    StoreEvent,
    TextArrived,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from ollm_tui.core.intake import clean
from ollm_tui.core.session.context_marks import AnyContextChange, Marks, MarksRestored, way_back
from ollm_tui.core.session.continuation import is_long
from ollm_tui.core.session.graft import as_sent
from ollm_tui.core.session.message import (
    Attachment,
    Message,
    Retrieval,
    Text,
    can_go_on,
    new_id,
)
from ollm_tui.core.session.record import MetadataChanged
from ollm_tui.core.session.session import Metadata, ModeChange
from ollm_tui.engine.comparison.conversation_comparison import ConversationComparison
from ollm_tui.engine.compression.conversation_compression import ConversationCompression
from ollm_tui.engine.context.context_view import ContextView
from ollm_tui.engine.context.prompt_message import as_json, readable
from ollm_tui.engine.context.session_context import SessionContext
from ollm_tui.engine.conversation.conversation_goals import ConversationGoals
from ollm_tui.engine.conversation.conversation_hooks import ConversationHooks
from ollm_tui.engine.conversation.conversation_notes import ConversationNotes
from ollm_tui.engine.conversation.conversation_wishes import ConversationWishes
from ollm_tui.engine.conversation.held_session import HeldSession
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.engine.conversation.modes import Mode
from ollm_tui.engine.conversation.stoppable import Stoppable
from ollm_tui.engine.snapshots.conversation_snapshots import ConversationSnapshots, with_count
from ollm_tui.engine.tools.conversation_tools import ConversationTools
from ollm_tui.engine.turn.engine_line import EngineLines
from ollm_tui.engine.turn.prompt_check import OverflowPolicy, PromptCheck
from ollm_tui.engine.turn.turn import Turn
from ollm_tui.services.sessions.recording import Recorder
from ollm_tui.services.snapshots.restore_points import Snapshots
from ollm_tui.services.tokens.counter import TokenCounters
from ollm_tui.services.tokens.prompt_count import Count
from ollm_tui.services.topic import Topic
from ollm_tui.settings.schema import Settings

if TYPE_CHECKING:
    from ollm_tui.services.hooks import Hooks

GO_ON = "Go on exactly where you stopped. Repeat nothing."
"""What the model is asked where an answer is to be continued."""

log = logging.getLogger(__name__)


class Conversation(HeldSession):
    """One open session: sends, branches by editing and regenerating, changes the context.

    Every method that talks to the model is an async generator of events; closing it or
    calling `cancel` stops the model and keeps what arrived.
    """

    def __init__(
        self,
        recorder: Recorder,
        choice: ModelChoice,
        saving: Topic[StoreEvent],
        *,
        begun: bool,
        counters: TokenCounters | None = None,
        settings: Settings | None = None,
        snapshots: Snapshots | None = None,
        hooks: Hooks | None = None,
    ) -> None:
        super().__init__(recorder, saving, begun=begun)
        settings = settings or Settings()
        self._max_items = settings.retention.max_items
        self._context = SessionContext(
            self.state, choice, counters or TokenCounters(None), settings
        )
        self._turn: Turn | None = None
        self._stoppable = Stoppable()
        """Stops the turn that runs or is about to: while its message is recorded, there is no turn
        yet, and the user may want to stop it already."""
        self.snapshots = ConversationSnapshots(
            self, self._context, snapshots, settings.snapshots, self.check_free
        )
        # Hooks and tools change the metadata in the middle of a turn, where `change_metadata` of
        # this class refuses: they get the one of the session.
        in_turn = self._notes_in_turn = ConversationNotes(self, super().change_metadata)
        self.hooks = ConversationHooks(self, in_turn, hooks)
        """Runs the user's hooks, and takes what extensions add to prompts."""
        self.compression = ConversationCompression(
            self,
            self._context,
            settings,
            self.check_free,
            self.snapshots.before,
            self.hooks.run,
            self.snapshots.drop,
        )
        self.tools = ConversationTools(
            self,
            self._context,
            settings,
            super().change_metadata,
            self.snapshots.before,
            self.hooks.run,
            self._touch,
        )
        # Only now: the tools need the snapshots, which remember the files that tools change.
        self.snapshots.files = self.tools.file_versions
        self.on_overflow: OverflowPolicy = "fail"
        """Whether a prompt that is too long fails, or has the context compressed first."""
        self.recall: Callable[[str], Awaitable[tuple[Retrieval, ...]]] | None = None
        """Finds the passages of earlier sessions that are sent along with a message; None: none."""
        self.when_touched: Callable[[ConversationNotes, Sequence[str]], Awaitable[None]] | None
        """Adds what the context needs once files were touched, by their paths; None: nothing."""
        self.when_touched = None
        self.goals = ConversationGoals(self)
        self.notes = ConversationNotes(self)
        self.wishes = ConversationWishes(self)

    @cached_property
    def comparison(self) -> ConversationComparison:
        """Has several models answer one message."""
        return ConversationComparison(
            self._recorder,
            self._context.for_model,
            self._asked,
            self.check_free,
            self.hooks.before_turn,
            self._remember_count,
            super().change_metadata,
            self.switch_to,
        )

    @property
    def choice(self) -> ModelChoice:
        """The provider and the model that answer, and how requests to them look."""
        return self._context.choice

    def use_lines(self, lines: EngineLines) -> None:
        """Wait in the same lines before servers as other conversations do."""
        self._context.lines = lines

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes one can choose from."""
        return tuple(self._context.modes.values())

    @property
    def mode(self) -> Mode:
        """The mode the session is in."""
        return self._context.mode

    @property
    def live_tokens(self) -> Count:
        """The tokens of the prompt and of the reply so far; costs the same at any length."""
        return (self._context.live.count or self._context.count()).total

    def context(self) -> ContextView:
        """A view of what the model sees: how much of the window it takes, and with what."""
        return self._context.view()

    @property
    def is_prepared(self) -> bool:
        """Whether `context` takes no time; a long session needs `prepare` once."""
        return self._context.is_prepared

    async def prepare(self) -> None:
        """Assemble and count the context in small steps; afterwards `context` takes no time."""
        await self._context.prepare()

    async def context_items(self) -> ContextView:
        """The same view with its items made already, in small steps and in a thread: a long
        history must not hold up the keys."""
        await self._context.prepare()
        view = self._context.view()
        await asyncio.to_thread(lambda: view.items)
        return view

    async def preview(self, change: AnyContextChange) -> ContextView:
        """The context as a change would make it. UsageError for an unknown message."""
        metadata, _ = self._context.changed(change)
        view = await asyncio.to_thread(self._context.view_as, metadata)
        await asyncio.to_thread(lambda: view.items)
        return view

    async def preview_model(self, choice: ModelChoice) -> ContextView:
        """The context as it would be for another model. In a thread: everything is counted anew
        with another vocabulary."""
        return await asyncio.to_thread(self._context.view_as, choice=choice)

    async def change_context(self, change: AnyContextChange) -> MarksRestored:
        """Pin, leave out or fold messages, in one record. Returns the change that undoes it.
        UsageError for an unknown message, or while the model answers."""
        self.check_free()
        metadata, changes = self._context.changed(change)
        undo = way_back(changes, Marks.of(self.state.header.metadata))
        if changes:
            await super().change_metadata(metadata)
        return undo

    async def change_metadata(self, metadata: Metadata) -> None:
        """Record other marks, goals, modes or notes of the session. UsageError while the
        model answers: what it measures belongs to the prompt it was sent, not to another one."""
        self.check_free()
        await super().change_metadata(metadata)

    async def settle_context(self) -> None:
        """Count exactly what was only estimated; the first time this may take a second."""
        await self.tools.ready()
        await self._context.settle()

    async def recount(self) -> None:
        """Count the context as well as that can be done with nothing to load."""
        await self._context.recount()

    async def _remember_count(self) -> None:
        """Count the context after a turn, and record the number: lists of sessions that are not
        open show it."""
        await self._context.recount()
        metadata = self.state.header.metadata
        counted = with_count(metadata, self._context.count())
        if self._begun and counted != metadata:
            fields = {
                "tokenCount": counted.token_count,
                "tokenParts": counted.token_parts,
                "tokensEstimated": counted.tokens_estimated,
            }
            await self.record(MetadataChanged(at=self.state.header.last_activity, fields=fields))

    def prompt_text(self) -> str:
        """The exact prompt as it would be sent now, as text for people."""
        return readable(self._context.request())

    def prompt_json(self) -> str:
        """The whole request as it would be sent now, as JSON."""
        return as_json(self._context.request())

    async def change_mode(
        self,
        name: str,
        trigger: Literal["manual", "auto", "command"] = "manual",
        confidence: float | None = None,
    ) -> None:
        """Use another mode from the next message on. UsageError if there is no such mode."""
        if name not in self._context.modes:
            known = ", ".join(self._context.modes)
            raise UsageError(f"no mode {clean(name)!r}", f"available: {known}")
        metadata = self.state.header.metadata
        if name != self.mode.name:
            self.check_free()
            await self.snapshots.before("mode")
            change = ModeChange(self.mode.name, name, clock.now(), trigger, confidence)
            history = (*metadata.mode_history, change)
            await self.change_metadata(replace(metadata, mode_history=history))

    async def use(self, choice: ModelChoice) -> None:
        """Have another model answer from the next message on; the session remembers it."""
        await self.snapshots.before("model")
        self._context.use(choice)
        await self.change(model=choice.model, provider=choice.provider.name, window=choice.window)

    def send(
        self, text: str, attachments: Sequence[Attachment] = ()
    ) -> AsyncGenerator[AnyTurnEvent, None]:
        """Send a message at the end of the current branch; the events are those of its turn.

        It may have attachments, or consist of them; their content is data. UsageError while the
        model answers; nothing is recorded then.
        """
        asked = partial(self._asked, text, attachments, self.state.header.head)
        return self._answer(asked, self._stoppable_turn())

    def edit(
        self, message_id: str, text: str, attachments: Sequence[Attachment] = ()
    ) -> AsyncGenerator[AnyTurnEvent, None]:
        """Send another text in the place of an earlier message, which stays as a sibling.
        UsageError if that message is not the user's own, or while the model answers."""
        message = self._message(message_id)
        if message.role != "user":
            raise UsageError("only your own messages can be edited", "r regenerates an answer")
        asked = partial(self._asked, text, attachments, self.state.parent(message_id))
        return self._answer(asked, self._stoppable_turn())

    def regenerate(self, message_id: str | None = None) -> AsyncGenerator[AnyTurnEvent, None]:
        """Have the last reply, or a given one, written again; the old one stays as a sibling.
        UsageError if there is none."""
        return self._answer(partial(self._asked_before, message_id), self._stoppable_turn())

    async def _asked_before(self, message_id: str | None, _stoppable: Stoppable) -> Message:
        """The question that a reply answers, by default the last one."""
        step = message_id or self.state.header.head
        while step is not None and self._message(step).role != "user":
            step = self.state.parent(step)
        if step is None:
            raise UsageError("no answer to regenerate", "send a message first")
        return self.state[step]

    def go_on(self) -> AsyncGenerator[AnyTurnEvent, None]:
        """Have the model go on with an answer that was stopped or cut off: in a version of it that
        begins with the same words where the server can do that, else it is asked in a message.
        UsageError if the last answer was finished."""
        head = self.state.header.head
        last = self.state[head] if head else None
        if last is None or last.role != "assistant" or last.status in ("complete", "streaming"):
            raise UsageError("the last answer is complete", "send a message, or /regenerate")
        in_place = self.choice.continues and can_go_on(last)
        if not (in_place and self._context.ends_with(last.text)):
            return self.send(GO_ON)
        asked = partial(self._asked_before, last.id)
        return self._answer(asked, self._stoppable_turn(), last)

    async def switch_to(self, message_id: str) -> None:
        """Make another branch the current one, ending with a message. StoreError if unknown."""
        self.check_free()
        self._message(message_id)
        await self.change(head=message_id)

    async def became_long(self) -> bool:
        """Return whether the session has `retention.maxItems` messages, or so many more since the
        last time: then the user is asked to go on in a new one. Remembers that it said so."""
        if not is_long(self.state, self._max_items):
            return False
        await self.change(itemsAsked=len(self.state))
        return True

    def cancel(self) -> None:
        """Stop the model if it answers or is about to be asked, otherwise a compression and the
        hooks after a turn."""
        self._stoppable.stop()
        self.comparison.stop()
        if not self._turn:
            self.compression.stop()
            self.hooks.stop()

    def _stoppable_turn(self) -> Stoppable:
        """What stops the next turn; one that runs keeps its own."""
        if not self._turn:
            self._stoppable = Stoppable()
        return self._stoppable

    async def _asked(
        self,
        text: str,
        attachments: Sequence[Attachment],
        parent_id: str | None,
        stoppable: Stoppable,
    ) -> Message:
        """Record a message of the user and return it."""
        words = clean(text)
        data = tuple(_as_data(attachment) for attachment in attachments)
        if not (words.strip() or data):
            raise UsageError("nothing to send", "type a message first")
        moment = clock.now()
        said = (Text(words),) if words.strip() else ()
        recalls = self.recall(words) if self.recall and said else None
        recalled = (await stoppable.wait(recalls) if recalls else None) or ()
        self.check_free()  # recalling takes time, in which another turn may have begun
        parts = (*said, *map(as_sent, data), *recalled)
        message = Message(new_id(), "user", parts, moment, parent_id=parent_id)
        # Before the model is asked: a turn that fails keeps the user's words.
        await self._add(message, words if said else data[0].content)
        await self._touch([each.path for each in data if each.path])
        return message

    async def _answer(
        self,
        ask: Callable[[Stoppable], Awaitable[Message]],
        stoppable: Stoppable,
        continued: Message | None = None,
    ) -> AsyncGenerator[AnyTurnEvent, None]:
        """The events of a turn; `ask` gives the question, and may record it first. `continued` is
        a stopped answer to it that goes on."""
        self.check_free()
        question = await ask(stoppable)
        self.check_free()
        turn = self._turn = Turn(
            self._recorder,
            self.choice,
            question,
            continued,
            partial(self._check_of, question, continued),
            stoppable,
            self.tools,
            self._context.in_line,
        )
        reply: Message | None = None
        refused: Message | None = None
        try:
            self._context.begin_turn(continued or question)
            self.tools.begin_turn(question.text)
            await self._context.prepare()
            await self.tools.ready()
            for notice in self._saving_notices():
                yield notice
            started = TurnStarted(self.session_id, question, continued)
            self.heard.publish(started)
            yield started
            async with aclosing(turn.events()) as events:
                async for event in events:
                    for notice in self._saving_notices():
                        yield notice
                    if isinstance(event, TextArrived | ReasoningArrived):
                        self._context.live.add(event.text)
                    elif isinstance(event, PromptTooLong):
                        refused = question
                    elif isinstance(event, TurnFinished | TurnCancelled | TurnFailed):
                        reply = event.message
                        # Before the event is passed on: whoever gets it may send at once.
                        self._end_turn()
                        await self._remember_count()
                    if not isinstance(event, CompressionEvent):  # these are published where made
                        self.heard.publish(event)
                    yield event
            await self.snapshots.check_thresholds(refused)
            await self.hooks.after_turn(reply)
        finally:
            self._end_turn()

    async def _touch(self, paths: Sequence[str]) -> None:
        """Let the context follow where tools and attachments lead, in the middle of a turn."""
        if self.when_touched and paths:
            await self.when_touched(self._notes_in_turn, paths)

    def _check_of(self, question: Message, continued: Message | None, last: Message) -> PromptCheck:
        """The check of the prompt that ends with `last`; hooks run before the first of a turn."""
        self._context.begin_turn(last, continues=last is continued)
        make_room = self.compression.make_room if self.on_overflow == "compress" else None
        is_first = last is (continued or question)
        prepare = partial(self.hooks.before_turn, question) if is_first else None
        return PromptCheck(self._context, last, make_room, self._narrow, prepare)

    async def _narrow(self, window: int) -> None:
        """Use a smaller window from now on: the server has less room than was known."""
        log.warning("the server takes no more than %d tokens", window)
        self._context.use(self.choice._replace(window=window, largest_window=window))
        await self.change(window=window)

    def check_free(self) -> None:
        """UsageError while the model answers or the context is compressed."""
        if self._turn or self.comparison.running:
            raise UsageError("still answering", "wait, or stop it first")
        if self.compression.is_running:
            raise UsageError("compression is running", "wait, or stop it first")

    def _end_turn(self) -> None:
        self._turn = None
        self._context.end_turn()

    def _message(self, message_id: str) -> Message:
        if message_id not in self.state:
            raise StoreError(f"no message {message_id}", "ollm sessions view ID")
        return self.state[message_id]


def _as_data(attachment: Attachment) -> Attachment:
    """An attachment without terminal controls, marked as data that gives no instructions."""
    return replace(
        attachment,
        name=" ".join(clean(attachment.name).split()),
        content=clean(attachment.content),
        trusted=False,
    )
