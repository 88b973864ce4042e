"""A conversation that is open in the chat: its turn, its queue, and what features keep for it."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast, runtime_checkable

from textual.screen import Screen, ScreenResultCallbackType
from textual.widget import AwaitMount, Widget

from ollm_tui.core.compression_events import CompressionFailed, CompressionSkipped
from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.events import AnyTurnEvent, PromptTooLong, Queued, TurnFailed, TurnStarted
from ollm_tui.core.intake import visible
from ollm_tui.tui.chat.drafts import DraftStore
from ollm_tui.tui.chat.message_queue import MessageQueue, WaitingMessages
from ollm_tui.tui.chat.port import ChatLines, ChatPort, Opening
from ollm_tui.tui.chat.state_lines import StateLines
from ollm_tui.tui.chat.trust_question import LENGTH, MODE, TOO_LONG, Question, TrustQuestion
from ollm_tui.tui.chat.words import (
    ANSWER_IS_THERE,
    HOW_TO_START,
    NEW_CONVERSATION,
    NO_SESSION_OPEN,
    OPEN_IN_ANOTHER_WINDOW,
    PLACEHOLDER,
    SENDING_FORKS,
)
from ollm_tui.tui.conversations.conversation_progress import Progress
from ollm_tui.tui.conversations.events_so_far import EventsSoFar
from ollm_tui.tui.conversations.standing import Standing, State
from ollm_tui.tui.conversations.unseen_lines import UnseenLines
from ollm_tui.tui.conversations.until_shown import UntilShown
from ollm_tui.tui.frame import Frame
from ollm_tui.tui.kit.words import STILL_ANSWERING, STOP_FIRST
from ollm_tui.tui.prompt.prompt import Prompt
from ollm_tui.tui.stream.transcript.transcript import Transcript

if TYPE_CHECKING:
    from ollm_tui.core.compression_events import AnyCompressionEvent
    from ollm_tui.core.tool_events import AnyToolEvent
    from ollm_tui.engine.conversation.conversation import Conversation
    from ollm_tui.tui.chat.turn_display import TurnDisplay

T = TypeVar("T")

LONG_TURN_SECONDS = 10
"""After a longer wait the user is called when the answer is there."""


OF_ONE_CONVERSATION = frozenset([TOO_LONG, MODE, LENGTH])
"""The subjects of questions that belong to one conversation; the others are about the folder."""


@runtime_checkable
class Leaves(Protocol):
    """What a feature keeps for a conversation that is drawn: made anew when it is shown again."""

    def leave(self) -> None:
        """Draws nothing any more."""
        ...


class ChatHost(Protocol):
    """What an open conversation needs of the screen that shows it."""

    chat: OpenChat
    """The chat that is shown now."""
    lines: StateLines

    @property
    def app(self) -> Frame:
        """The program around it."""
        ...

    @property
    def screen(self) -> Screen[Any]:
        """The screen itself."""
        ...

    @property
    def drafts(self) -> DraftStore:
        """What is being written, on disk."""
        ...

    async def action_command(self, command_id: str, argument: str = "") -> None:
        """Runs a command."""
        ...

    async def switch(self, opening: Opening) -> None:
        """Opens another conversation in the place of the one shown."""
        ...

    async def resume(self, session_id: str) -> None:
        """Shows a session that is open, or opens it in the place of the one shown."""
        ...

    async def open_session(self, session_id: str) -> None:
        """The same; one that another window has open is followed live."""
        ...

    def standings(self) -> Sequence[Standing]:
        """Tells how all open conversations stand, in the order they were opened."""
        ...

    def shown_before(self) -> str | None:
        """Returns the session that was shown before; None if there was none."""
        ...

    async def release(self, chat: OpenChat) -> None:
        """Closes a conversation that was left, unless something runs or waits in it."""
        ...

    def note_standing(self, chat: OpenChat) -> None:
        """Hears that an open conversation stands differently now."""
        ...

    def show_conversation(self, conversation: Conversation, problems: tuple[str, ...]) -> None:
        """Shows a conversation that was opened."""
        ...

    def show_again(self, chat: OpenChat) -> None:
        """Shows an open conversation in the place of the one shown."""
        ...

    def find_open(self, session_id: str) -> OpenChat | None:
        """Returns the open conversation of a session; None if it is not open here."""
        ...

    def forget(self, chat: OpenChat) -> None:
        """Drops a conversation that is about to be closed."""
        ...

    def bring_to_front(
        self, conversation: Conversation | None, *, is_following: bool = False
    ) -> OpenChat:
        """Makes a conversation, or none, the one that keys and lines are about."""
        ...

    def reload_sidebar(self) -> None:
        """Reads the list of sessions beside the stream again."""
        ...


class OpenChat:
    """The chat on one conversation. Features know it as `ChatPort`."""

    def __init__(
        self,
        host: ChatHost,
        conversation: Conversation | None = None,
        *,
        is_following: bool = False,
    ) -> None:
        self._host = host
        self.opened = conversation
        self.is_following = is_following
        """Whether the stream shows a session that another window writes."""
        self.editing: str | None = None
        """The message that the text of the prompt will replace."""
        self.is_busy = False
        self.takes_next: Callable[[Prompt.Sent], None] | None = None
        """Gets the next message in the place of the model."""
        self.queue = WaitingMessages()
        """What is sent when the model is free. It is held back after an answer was stopped, until
        something is sent."""
        self.invitation = PLACEHOLDER
        """What stands in the empty prompt."""
        self._progress = Progress()
        self._so_far = EventsSoFar()
        self._until_shown = UntilShown(lambda: self.is_shown, self.attempt)
        self._questions: list[Question] = []
        """Questions about this conversation while another one is shown."""
        self._has_compressed = False
        """Whether a due compression was started since the last turn. Without this, one that leaves
        the context full would be started again and again."""
        self._parts: dict[type[object], object] = {}
        self._display: TurnDisplay | None = None

    # What it is made of

    @property
    def conversation(self) -> Conversation:
        """The conversation. UsageError while none is open."""
        if self.is_following:
            raise UsageError(OPEN_IN_ANOTHER_WINDOW, SENDING_FORKS)
        if self.opened is None:
            raise UsageError(NO_SESSION_OPEN, HOW_TO_START)
        return self.opened

    @property
    def app(self) -> Frame:
        """The program around it: settings, workspace, terminal."""
        return self._host.app

    @property
    def screen(self) -> Screen[Any]:
        """The screen, for what only Textual can do."""
        return self._host.screen

    @property
    def lines(self) -> ChatLines:
        """The lines of state; what is said there while another conversation is shown, nobody
        sees."""
        return self._host.lines if self.is_shown else UnseenLines(self._host.lines.hints)

    @property
    def transcript(self) -> Transcript:
        """The stream."""
        return self.screen.query_one("#transcript", Transcript)

    @property
    def prompt(self) -> Prompt:
        """The prompt."""
        return self.screen.query_one(Prompt)

    @property
    def turn_display(self) -> TurnDisplay:
        """What shows the turns of this conversation. UsageError while none is open."""
        if self._display is None:
            # Late: nothing of it is needed for the first paint.
            from ollm_tui.tui.chat.turn_display import TurnDisplay

            self._display = TurnDisplay(
                self.transcript,
                self.conversation.state,
                self._host.lines,
                self._show_compression,
                self._show_tools,
            )
        return self._display

    def part(self, kind: type[T], make: Callable[[], T]) -> T:
        """Returns the one object of a kind that a feature keeps for this conversation."""
        if kind not in self._parts:
            self._parts[kind] = make()
        return cast(T, self._parts[kind])

    def find_part(self, kind: type[T]) -> T | None:
        """Returns such an object if it was made already."""
        return cast("T | None", self._parts.get(kind))

    # Saying and asking

    def tell(self, *texts: str) -> None:
        """Shows one line for a few seconds: the first of the texts that there is room for."""
        self._host.lines.tell(*texts)

    def complain(self, error: OllmError) -> None:
        """Shows what did not work, and what to do about it; with the title of the session if that
        is not the one that is shown."""
        if not self.is_shown:
            error = OllmError(f"{self.title}: {error.message}", error.hint)
        self._host.lines.complain(error)

    def ask(self, screen: Screen[T], answer: ScreenResultCallbackType[T] | None = None) -> None:
        """Shows a screen or a dialog; `answer` gets what it is closed with."""
        self.app.push_screen(screen, answer)

    async def attempt(self, action: Callable[[], object]) -> None:
        """Does something that may be awaited; an OllmError is shown as one line."""
        try:
            result = action()
            if isawaitable(result):
                await result
        except OllmError as error:
            self.complain(error)

    async def command(self, command_id: str, argument: str = "") -> None:
        """Runs another command."""
        await self._host.action_command(command_id, argument)

    # Talking

    def hold_queue(self, holds: bool) -> None:
        """Holds queued messages back, or no longer; the queue shows which."""
        self.queue.hold(holds)

    def send(self, sent: Prompt.Sent) -> None:
        """Sends a message now, or when the model is free; replaces the one that is edited."""
        if self.editing and not self.is_busy:
            message, self.editing = self.editing, None
            self.run(self.conversation.edit(message, sent.text, sent.attachments))
            return
        if self.takes_next:
            self.takes_next(sent)
            return
        self.hold_queue(False)
        self.queue.add(sent)
        self.transcript.go_to_end()
        self.send_next()

    def run(self, turn: AsyncGenerator[AnyTurnEvent, None]) -> None:
        """Has a turn run. UsageError while another one does."""
        if self.is_busy:
            raise UsageError(STILL_ANSWERING, STOP_FIRST)
        self.is_busy = True
        # A title that is being made would have the model busy.
        self.app.workers.cancel_group(self.screen, "title")  # pyright: ignore[reportUnknownMemberType] Textual leaves it open
        if self.is_shown:
            # Whatever is sent settles what was asked about the message before it.
            for bar in self.screen.query(TrustQuestion):
                bar.drop(TOO_LONG)
                bar.drop(MODE)
            self.transcript.go_to_end()
        self.screen.run_worker(self._run_turn(turn), group=self.work_group)

    def take(self, event: AnyTurnEvent) -> None:
        """Takes what happened in this conversation: shown now, or when it is looked at again."""
        self._so_far.note(event)
        before = self.state
        self._progress.note(event)
        if self.is_shown:
            self.turn_display.take(event)
        elif isinstance(event, CompressionFailed | CompressionSkipped):
            self.when_shown(partial(self._show_compression, event))  # no record tells of these
        if self.state != before or isinstance(event, Queued | TurnStarted):
            self._host.note_standing(self)

    async def _run_turn(self, turn: AsyncGenerator[AnyTurnEvent, None]) -> None:
        """Consumes the events of one turn."""
        begun, too_long, has_failed = time.monotonic(), None, False
        try:
            async with aclosing(turn):
                async for event in turn:
                    self.take(event)
                    too_long = event if isinstance(event, PromptTooLong) else too_long
                    if isinstance(event, TurnFailed) and not (self.is_shown or too_long):
                        self._note_error(OllmError(event.error, event.hint))
                    if isinstance(event, TurnStarted):
                        self._note_question()
        except OllmError as error:
            has_failed = True
            self._note_error(error)
        finally:
            self.is_busy = False
            self._progress.end_turn(has_failed=has_failed)
            self._so_far.clear()
        if too_long:
            # Nothing else is sent before the user looks: with this message nothing would fit.
            self.hold_queue(self.queue.count > 0 and not self.is_shown)
            await self._ask_about(partial(self._take_back, too_long))
        if await self.conversation.became_long():
            await self._ask_about(self._ask_to_go_on)
        if self.app.workspace.settings.ui.suggest_modes:
            await self._ask_about(self._suggest_mode)
        if self.is_shown and time.monotonic() - begun > LONG_TURN_SECONDS:
            self.app.call_user(ANSWER_IS_THERE)
        self._has_compressed = False
        self._end(is_turn_over=True)
        if self.app.workspace.settings.sessions.auto_title and self.is_shown and not self.is_busy:
            from ollm_tui.tui.browser.title_making import title_when_idle

            title_when_idle(self)

    def _note_question(self) -> None:
        """With its first message a session is listed, and gets a draft of its own."""
        if self.is_shown:
            self._host.drafts.move_to(self.draft_key, self.prompt.draft)
        if len(self.conversation.state) == 1:
            self.reload_sidebar()

    def _note_error(self, error: OllmError) -> None:
        key = f"error-{time.monotonic_ns()}"
        self.when_shown(lambda: self.turn_display.note_error(error, key))

    async def _ask_about(self, ask: Callable[[], Awaitable[None]]) -> None:
        """Asks the user about the turn that has just ended; where they look at something else, that
        waits."""
        if self.is_shown:
            await ask()
        else:
            self.when_shown(ask)

    # Imported late: most conversations never need these.

    async def _take_back(self, too_long: PromptTooLong) -> None:
        from ollm_tui.tui.chat.too_long import take_back

        if not await take_back(self, too_long):
            self._note_error(OllmError(too_long.message, too_long.hint))

    async def _ask_to_go_on(self) -> None:
        from ollm_tui.tui.chat.long_session import ask_to_go_on

        await ask_to_go_on(self)

    async def _suggest_mode(self) -> None:
        from ollm_tui.tui.models.suggested_mode import suggest

        await suggest(self)

    # Being shown, or not

    @property
    def is_shown(self) -> bool:
        """Whether this is the conversation on the screen."""
        return self._host.chat is self

    @property
    def title(self) -> str:
        """The title of the session, as it is shown."""
        return visible(self.opened.state.header.title if self.opened else "") or NEW_CONVERSATION

    @property
    def state(self) -> State:
        """How it stands, as others see it."""
        return self._progress.state(is_busy=self.is_busy, runs_command=self._runs_command)

    @property
    def _runs_command(self) -> bool:
        shell, opened = self.app.shell, self.opened
        return bool(shell and opened and shell.waits_in(opened.session_id))

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing runs, waits or is left to be read: it may be closed."""
        left = self.queue.count or self._progress.is_unread
        return self._until_shown.is_empty and not (self.is_busy or self._runs_command or left)

    @property
    def work_group(self) -> str:
        """The group of the workers that run turns and compressions of this conversation."""
        return f"turn-{self.opened.session_id}" if self.opened else "turn"

    def when_shown(self, action: Callable[[], object]) -> None:
        """Does something that may be awaited now, or when this conversation is looked at again."""
        self._until_shown.add(action)
        if self.is_shown:
            self._do_what_waited()

    def _do_what_waited(self) -> None:
        if not self._until_shown.is_empty:
            self.screen.run_worker(self._until_shown.do(), group=self.work_group)

    def leave(self) -> None:
        """Draws nothing from now on: another conversation is shown. What runs goes on."""
        self._progress.leave()
        if self._display:
            self._display.leave()
        for part in tuple(self._parts.values()):
            if isinstance(part, Leaves):
                part.leave()
                del self._parts[type(part)]
        for bar in self.screen.query(TrustQuestion):
            self._questions = bar.take_out(OF_ONE_CONVERSATION)
        self._host.lines.doing = ""

    def show(self) -> None:
        """Draws all of it, with what happened while another conversation was shown."""
        self._progress.is_unread = False
        self.screen.query_one(MessageQueue).follow(self.queue)
        self.turn_display.catch_up(self._so_far)
        for bar in self.screen.query(TrustQuestion):
            for question in self._questions:
                bar.ask(question)
        self._questions = []
        self._do_what_waited()

    def go_on(self) -> None:
        """Shows the facts after something has ended, and sends the next queued message."""
        self._end(is_turn_over=False)

    def _end(self, *, is_turn_over: bool) -> None:
        self._so_far.clear()
        if self.is_shown:
            self._host.lines.doing = ""
            self._host.lines.show_facts()
        self.send_next(is_turn_over=is_turn_over)
        self._note_end()
        self.reload_sidebar()

    def note_command(self) -> None:
        """Hears that a command of the user has begun or ended in this conversation."""
        self._note_end()

    def _note_end(self) -> None:
        """Notes that something has come to an end, unless something else runs."""
        if not (self.is_shown or self.is_busy or self._runs_command):
            self._progress.is_unread = True
        self._host.note_standing(self)

    def send_next(self, *, is_turn_over: bool = False) -> None:
        """Sends the next queued message. A full context is compressed before that, or right after
        a turn, but never when a session is only opened to be read."""
        waiting = self.queue
        is_free = not (self.is_busy or waiting.is_held)
        conversation = self.opened if is_free else None
        if conversation and (waiting.count or is_turn_over):
            if not conversation.is_prepared:
                self.is_busy = True
                self.screen.run_worker(
                    self._count_first(conversation, is_turn_over), group=self.work_group
                )
            elif not self._has_compressed and conversation.compression.is_due:
                self._has_compressed = True
                # Imported late, as commands are: the first paint needs none of it.
                from ollm_tui.tui.compression.compression_run import start_due

                start_due(self)
            elif sent := waiting.take():
                self.run(conversation.send(sent.text, sent.attachments))
        self.lines.show_state(keeps_notice=True)

    async def _count_first(self, conversation: Conversation, is_turn_over: bool) -> None:
        """Counts a long session in small steps before its first message is sent."""
        try:
            await conversation.prepare()
        finally:
            self.is_busy = False
        self.send_next(is_turn_over=is_turn_over)

    def invite(self, words: str = PLACEHOLDER) -> None:
        """Shows words in the empty prompt whenever this conversation is shown; without words, the
        usual ones."""
        self.invitation = words
        if self.is_shown:
            self.prompt.placeholder = words

    def put_aside(self) -> None:
        """Empties the prompt; its text is remembered as if it had been sent."""
        self.remember(self.prompt.put_aside())

    def remember(self, draft: str) -> None:
        """Adds a prompt to those that can be called back; it is deleted with its session."""
        self.app.memory.remember(draft, self.opened.session_id if self.opened else "")

    @property
    def draft_key(self) -> str | None:
        """The key of the draft: the session, or None before its first message. Until then the draft
        belongs to the project."""
        opened = self.opened
        return opened.session_id if opened and len(opened.state) else None

    # Showing

    def mount_beside(self, widget: Widget, *, first: bool = False) -> AwaitMount:
        """Mounts a widget beside the stream: at its right, or as the `first` at its left."""
        return self.screen.query_one("#middle").mount(widget, before=0 if first else None)

    def mount_above_gauge(self, widget: Widget) -> AwaitMount:
        """Mounts a widget between the stream and the gauge, where questions stand."""
        return self.screen.mount(widget, before="#gauge")

    def show_branch(self) -> None:
        """Shows the current branch from its first message."""
        self.turn_display.show_branch()

    def reload_sidebar(self) -> None:
        """Reads the list of sessions beside the stream again, where it is shown."""
        self._host.reload_sidebar()

    # Imported late, as commands are: the first paint needs none of it.

    def _show_compression(self, event: AnyCompressionEvent) -> None:
        from ollm_tui.tui.compression.compression_run import display_of

        display_of(self).take(event)

    def _show_tools(self, event: AnyToolEvent | None) -> None:
        from ollm_tui.tui.tools.tool_display import display_of

        display_of(self).take(event)

    # Other conversations

    async def switch(self, opening: Opening) -> ChatPort:
        """Opens another conversation in the place of this one; if that fails, this one stays."""
        await self._host.switch(opening)
        return self._host.chat

    async def resume(self, session_id: str) -> ChatPort:
        """Shows a session that is open here, or opens it. SessionBusy if another window has it."""
        await self._host.resume(session_id)
        return self._host.chat

    async def open_session(self, session_id: str) -> ChatPort:
        """Opens a stored session; one that another window has open is followed live."""
        await self._host.open_session(session_id)
        return self._host.chat

    def front(self) -> ChatPort:
        """Returns the chat that is shown now."""
        return self._host.chat

    def standings(self) -> Sequence[Standing]:
        """Tells how all open conversations stand, in the order they were opened."""
        return self._host.standings()

    def shown_before(self) -> str | None:
        """Returns the session that was shown before; None if there was none."""
        return self._host.shown_before()

    async def release(self) -> None:
        """Closes the conversation after it was left, unless something runs or waits in it."""
        await self._host.release(self)
