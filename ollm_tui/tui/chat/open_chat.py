"""A conversation that is open in the chat: its turn, its queue, and what features keep for it."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from textual.screen import Screen, ScreenResultCallbackType
from textual.widget import AwaitMount, Widget

from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.events import AnyTurnEvent, PromptTooLong, TurnStarted
from ollm_tui.tui.chat.drafts import DraftStore
from ollm_tui.tui.chat.message_queue import MessageQueue
from ollm_tui.tui.chat.port import ChatPort, Opening
from ollm_tui.tui.chat.state_lines import StateLines
from ollm_tui.tui.chat.trust_question import MODE, TOO_LONG, TrustQuestion
from ollm_tui.tui.chat.turn_display import TurnDisplay
from ollm_tui.tui.chat.words import ANSWER_IS_THERE
from ollm_tui.tui.frame import Frame
from ollm_tui.tui.prompt.prompt import Prompt
from ollm_tui.tui.stream.transcript.transcript import Transcript

if TYPE_CHECKING:
    from ollm_tui.core.compression_events import AnyCompressionEvent
    from ollm_tui.core.tool_events import AnyToolEvent
    from ollm_tui.engine.conversation.conversation import Conversation

T = TypeVar("T")

LONG_TURN_SECONDS = 10
"""After a longer wait the user is called when the answer is there."""


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

    async def open_session(self, session_id: str) -> None:
        """Opens a stored session in the place of the one shown."""
        ...

    def show_conversation(self, conversation: Conversation, problems: tuple[str, ...]) -> None:
        """Shows a conversation that was opened."""
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
        self._is_holding = False
        """Whether queued messages are held back: the answer was stopped, and nothing sent since."""
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
            raise UsageError("another window has this session open", "what you send forks it")
        if self.opened is None:
            raise UsageError("no session is open", "Ctrl+N begins one, F7 chooses who answers")
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
    def lines(self) -> StateLines:
        """The lines of state."""
        return self._host.lines

    @property
    def transcript(self) -> Transcript:
        """The stream."""
        return self.screen.query_one(Transcript)

    @property
    def prompt(self) -> Prompt:
        """The prompt."""
        return self.screen.query_one(Prompt)

    @property
    def turn_display(self) -> TurnDisplay:
        """What shows the turns of this conversation. UsageError while none is open."""
        if self._display is None:
            self._display = TurnDisplay(
                self.transcript,
                self.conversation.state,
                self.lines,
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
        self.lines.tell(*texts)

    def complain(self, error: OllmError) -> None:
        """Shows what did not work, and what to do about it."""
        self.lines.complain(error)

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
        self._is_holding = holds
        self.screen.query_one(MessageQueue).hold(holds)

    def send(self, sent: Prompt.Sent) -> None:
        """Sends a message now, or when the model is free; replaces the one that is edited."""
        if self.editing and not self.is_busy:
            message, self.editing = self.editing, None
            self.run(self.conversation.edit(message, sent.text, sent.attachments))
            return
        self.hold_queue(False)
        self.screen.query_one(MessageQueue).add(sent)
        self.transcript.go_to_end()
        self.send_next()

    def run(self, turn: AsyncGenerator[AnyTurnEvent, None]) -> None:
        """Has a turn run. UsageError while another one does."""
        if self.is_busy:
            raise UsageError("the model is still answering", "Esc stops it")
        self.is_busy = True
        # Whatever is sent settles what was asked about the message before it.
        for bar in self.screen.query(TrustQuestion):
            bar.drop(TOO_LONG)
            bar.drop(MODE)
        self.transcript.go_to_end()
        self.screen.run_worker(self._run_turn(turn), group="turn")

    async def _run_turn(self, turn: AsyncGenerator[AnyTurnEvent, None]) -> None:
        """Consumes the events of one turn."""
        begun, too_long = time.monotonic(), None
        try:
            async with aclosing(turn):
                async for event in turn:
                    self.turn_display.take(event)
                    too_long = event if isinstance(event, PromptTooLong) else too_long
                    if isinstance(event, TurnStarted):
                        # With its first message a session gets a draft of its own.
                        self._host.drafts.move_to(self.draft_key, self.prompt.draft)
        except OllmError as error:
            self.turn_display.note_error(error, f"error-{time.monotonic_ns()}")
        finally:
            self.is_busy = False
        if too_long:
            # Imported late: most conversations never need it.
            from ollm_tui.tui.chat.too_long import take_back

            if not await take_back(self, too_long):
                error = OllmError(too_long.message, too_long.hint)
                self.turn_display.note_error(error, f"error-{time.monotonic_ns()}")
        if await self.conversation.became_long():
            from ollm_tui.tui.chat.long_session import ask_to_go_on

            await ask_to_go_on(self)
        if self.app.workspace.settings.ui.suggest_modes:
            from ollm_tui.tui.models.suggested_mode import suggest

            await suggest(self)
        if time.monotonic() - begun > LONG_TURN_SECONDS:
            self.app.call_user(ANSWER_IS_THERE)
        self._has_compressed = False
        self._end(is_turn_over=True)

    def go_on(self) -> None:
        """Shows the facts after something has ended, and sends the next queued message."""
        self._end(is_turn_over=False)

    def _end(self, *, is_turn_over: bool) -> None:
        self.lines.doing = ""
        self.lines.show_facts()
        self.reload_sidebar()
        self.send_next(is_turn_over=is_turn_over)

    def send_next(self, *, is_turn_over: bool = False) -> None:
        """Sends the next queued message. A full context is compressed before that, or right after
        a turn, but never when a session is only opened to be read."""
        is_free = not (self.is_busy or self._is_holding)
        conversation = self.opened if is_free else None
        waiting = self.screen.query_one(MessageQueue)
        if conversation and (waiting.count or is_turn_over):
            if not conversation.is_prepared:
                self.is_busy = True
                self.screen.run_worker(self._count_first(conversation, is_turn_over), group="turn")
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

    async def open_session(self, session_id: str) -> ChatPort:
        """Opens a stored session; one that another window has open is followed live."""
        await self._host.open_session(session_id)
        return self._host.chat

    def front(self) -> ChatPort:
        """Returns the chat that is shown now."""
        return self._host.chat
