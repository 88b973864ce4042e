"""The chat screen: the stream, the prompt below it, and lines of state. Commands do the rest."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import cached_property
from importlib import import_module
from inspect import isawaitable
from typing import TYPE_CHECKING, cast

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import Screen
from textual.theme import Theme

from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.events import AnyTurnEvent, PromptTooLong, TurnStarted
from ollm_tui.core.intake import visible
from ollm_tui.tui.chat.drafts import DraftStore
from ollm_tui.tui.chat.message_queue import Waiting
from ollm_tui.tui.chat.session_opening import Opening, SessionOpening
from ollm_tui.tui.chat.state_lines import StateLines
from ollm_tui.tui.chat.status import StatusLine, TitleLine
from ollm_tui.tui.chat.trust_question import TOO_LONG, TrustQuestion
from ollm_tui.tui.chat.turn_display import TurnDisplay
from ollm_tui.tui.chat.welcome import Welcome
from ollm_tui.tui.commands import BY_SLASH, WHILE_A_COMMAND_RUNS, bindings
from ollm_tui.tui.gauge.gauge import Gauge
from ollm_tui.tui.prompt.command_values import completions, file_source
from ollm_tui.tui.prompt.completion_list import CompletionList
from ollm_tui.tui.prompt.prompt import Prompt
from ollm_tui.tui.stream.transcript.entry import Entry
from ollm_tui.tui.stream.transcript.transcript import Transcript

if TYPE_CHECKING:
    from ollm_tui.core.compression_events import AnyCompressionEvent
    from ollm_tui.core.tool_events import AnyToolEvent
    from ollm_tui.engine.conversation.conversation import Conversation
    from ollm_tui.tui.app import OllmApp
    from ollm_tui.tui.browser.session_actions import SessionActions
    from ollm_tui.tui.browser.sidebar import ChatSidebar
    from ollm_tui.tui.compression.compression_display import CompressionDisplay
    from ollm_tui.tui.kit.question_block import QuestionBlock
    from ollm_tui.tui.tools.approval import Approval
    from ollm_tui.tui.tools.tool_display import ToolDisplay


class Stream(Transcript):
    """While it has the focus, letters are commands."""

    BINDINGS = bindings("stream")


LONG_TURN_SECONDS = 10
"""After a longer wait the terminal's bell says that the answer is there."""
OPENED_AFTER_SECONDS = 0.05
"""The first key is shown before everything behind the screen is loaded."""
NARROW = 80
PLACEHOLDER = "Type a message, / for commands, @ for files, ! for a shell"
SHORT_PLACEHOLDER = "Type a message, / commands, @ files, ! shell"

MODULES = {
    "app": "chat.commands",
    "chat": "chat.commands",
    "compression": "compression.commands",
    "context": "context.commands",
    "goal": "goals.commands",
    "jobs": "jobs.commands",
    "message": "chat.commands",
    "mode": "models.mode_commands",
    "model": "models.commands",
    "prompt": "prompt.commands",
    "read": "chat.commands",
    "screen": "help.commands",
    "search": "search.commands",
    "session": "browser.commands",
    "snapshot": "browser.commands",
    "tools": "tools.commands",
}


class ChatScreen(Screen[None]):
    """Talks with one conversation; the engine does the work, `commands/` what keys ask for."""

    BINDINGS = [*WHILE_A_COMMAND_RUNS, *bindings("anywhere")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]

    app: OllmApp

    def __init__(self) -> None:
        super().__init__()
        self.editing: str | None = None
        """The message the prompt's text will take the place of."""
        self.is_busy = False
        self.is_holding = False
        """Whether what waits is held back: the answer was stopped, and nothing sent since."""
        self.last_press: tuple[str, float] = ("", 0.0)
        """A key whose second press means more than its first, and when it was pressed."""
        self.last_copied: tuple[str, int] = ("", 0)
        """The message a code block was copied from, and which one."""
        self.session_actions: SessionActions | None = None
        self.compression_display: CompressionDisplay | None = None
        self.tool_display: ToolDisplay | None = None
        self._has_compressed = False
        """Whether that was tried since the last message: once is enough."""
        self.lines: StateLines
        self.opening = SessionOpening(self)
        self.turn_display: TurnDisplay

    # The parts

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield TitleLine(id="title")
        with Horizontal(id="middle"):
            yield Stream(self.app.transcript_styles, id="transcript")
        yield Welcome()
        yield Waiting()
        yield Gauge(unicode=self.app.abilities.unicode)
        yield CompletionList()
        yield Prompt(PLACEHOLDER, completions(self), file_source(self), short=SHORT_PLACEHOLDER)
        yield StatusLine(id="status")

    @property
    def transcript(self) -> Transcript:
        """The stream."""
        return self.query_one(Transcript)

    @property
    def prompt(self) -> Prompt:
        """Where messages are written."""
        return self.query_one(Prompt)

    @property
    def conversation(self) -> Conversation:
        """The open conversation. UsageError while there is none."""
        if self.opening.following:
            raise UsageError("another window has this session open", "what you send forks it")
        if self.app.conversation is None:
            raise UsageError("no session is open", "Ctrl+N begins one, F7 chooses who answers")
        return self.app.conversation

    @cached_property
    def drafts(self) -> DraftStore:
        """What is being written, on disk."""
        return DraftStore(self.app.memory)

    def on_mount(self) -> None:
        """The prompt is ready at once; who answers is found out meanwhile."""
        self.lines = StateLines(self)
        self.transcript.show_details = self.app.loaded.settings.ui.timestamps
        self.app.theme_changed_signal.subscribe(self, self._restyle)
        self.prompt.focus()
        self.lines.show_doing("looking for a model …")
        self.set_timer(OPENED_AFTER_SECONDS, self.open_first)

    # Commands

    async def action_command(self, command_id: str, argument: str = "") -> None:
        """Do what a command says."""
        group, _, name = command_id.partition(".")
        # Loaded when first used: the first paint needs none of them, nor their dialogs.
        action = getattr(import_module(f"ollm_tui.tui.{MODULES[group]}"), name)
        await self.attempt(lambda: action(self, argument))

    async def attempt(self, action: Callable[[], object]) -> None:
        """Do something; what goes wrong is told in one line."""
        try:
            result = action()
            if isawaitable(result):
                await result
        except OllmError as error:
            self.lines.complain(error)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A list of sessions pages by itself."""
        if parameters in (("read.page_up",), ("read.page_down",)):
            return not self.query("#sidebar:focus-within")
        return True

    @on(Prompt.CommandSent)
    async def _run_slash_command(self, event: Prompt.CommandSent) -> None:
        """A command was typed."""
        self.app.memory.remember(event.draft)
        await self.action_command(BY_SLASH[event.name].id, event.argument)

    @on(Prompt.Refused)
    def _refuse(self, event: Prompt.Refused) -> None:
        """What was typed is no command."""
        self.lines.tell(f"{event.message}: {event.hint}")

    # Talking

    @on(Prompt.Sent)
    def _start_turn(self, event: Prompt.Sent) -> None:
        """Send, or keep until the model is free."""
        self.app.memory.remember(event.draft)
        if event.text.startswith("!") and not self.editing:
            import_module("ollm_tui.tui.jobs.shell_line").send(self, event)
            return
        if self.editing and not self.is_busy:
            message, self.editing = self.editing, None
            self.start(self.conversation.edit(message, event.text, event.attachments))
            return
        self.is_holding = False
        self.query_one(Waiting).add(event)
        self.transcript.go_to_end()
        self._send_next()
        self.opening.take_over()

    @on(Prompt.TakeBackRequested)
    def _take_back(self) -> None:
        """The last message that still waits goes back into the prompt."""
        if sent := self.query_one(Waiting).take_back():
            self.prompt.restore(sent.draft)

    async def leave(self) -> None:
        """End the program; what is being written, and what still waits, is there next time."""
        waiting = [sent.draft for sent in self.query_one(Waiting).clear()]
        for draft in waiting:
            self.app.memory.remember(draft)
        if waiting and not self.prompt.text:
            self.prompt.restore(waiting[0])
        self.drafts.note(self.prompt.draft)
        await self.drafts.flush()
        self.app.exit(0)

    def put_aside(self) -> None:
        """Empty the prompt; what was there is remembered as if it had been sent."""
        self.app.memory.remember(self.prompt.put_aside())

    @on(Prompt.LeaveRequested)
    async def _leave(self) -> None:
        """Ctrl+D on an empty prompt."""
        await self.app.action_quit()

    @on(Prompt.Edited)
    def _keep_draft(self) -> None:
        """What is being written survives a crash, and its length is told before it is sent."""
        self.lines.show_draft()
        if not self.prompt.text and self.app.conversation is None:
            return  # the prompt is new; the draft of the last time has yet to be read
        self.drafts.note(self.prompt.draft)
        if self.prompt.text:  # it is emptied by what has just been told about
            self.lines.show_state()

    @on(Prompt.Suggested)
    def _show_completions(self, event: Prompt.Suggested) -> None:
        self.query_one(CompletionList).show(event.options, event.chosen)

    @on(CompletionList.Picked)
    def _complete(self, event: CompletionList.Picked) -> None:
        self.prompt.pick(event.index)

    @on(Gauge.Clicked)
    async def _show_breakdown(self) -> None:
        await self.action_command("context.breakdown")

    def _on_find_bar_closed(self) -> None:
        """Back to where one writes."""
        self.prompt.focus()

    def _on_compression_panel_cancel_requested(self) -> None:
        self.conversation.cancel()

    async def _on_compression_panel_whole_requested(self) -> None:
        await self.action_command("compression.watch")

    async def _on_compression_panel_edit_requested(self) -> None:
        await self.action_command("compression.compact", "--preview")

    def _on_compression_panel_left(self) -> None:
        self.prompt.focus()

    async def _on_question_block_words_given(self, event: QuestionBlock.WordsGiven) -> None:
        await self.action_command("tools.answer", event.answer)

    def _on_approval_typed(self, event: Approval.Typed) -> None:
        self.prompt.focus()
        self.prompt.insert(event.text)

    @on(Waiting.Changed)
    def _let_take_back(self, event: Waiting.Changed) -> None:
        self.prompt.can_take_back = event.count > 0

    def start(self, turn: AsyncGenerator[AnyTurnEvent, None]) -> None:
        """Have a turn run. UsageError while another one does."""
        if self.is_busy:
            raise UsageError("the model is still answering", "Esc stops it")
        self.is_busy = True
        for bar in self.query(TrustQuestion):
            bar.drop(TOO_LONG)
        self.transcript.go_to_end()
        self._run_turn(turn)

    @work(group="turn")
    async def _run_turn(self, turn: AsyncGenerator[AnyTurnEvent, None]) -> None:
        """Consume the events of one turn."""
        begun, too_long = time.monotonic(), None
        try:
            async with aclosing(turn):
                async for event in turn:
                    self.turn_display.take(event)
                    too_long = event if isinstance(event, PromptTooLong) else too_long
                    if isinstance(event, TurnStarted):
                        self.drafts.move_to(self._draft_key(), self.prompt.draft)
        except OllmError as error:
            self.turn_display.note_error(error, f"error-{time.monotonic_ns()}")
        finally:
            self.is_busy = False
        if too_long:
            await import_module("ollm_tui.tui.chat.too_long").take_back(self, too_long)
        if not self.app.is_looked_at and time.monotonic() - begun > LONG_TURN_SECONDS:
            self.app.bell()
        self._has_compressed = False
        self.go_on(is_turn_over=True)

    def go_on(self, *, is_turn_over: bool = False) -> None:
        """Something is over: show the facts, and do what comes next."""
        self.lines.doing = ""
        self.lines.show_facts()
        self.reload_sidebar()
        self._send_next(is_turn_over=is_turn_over)

    def _show_compression(self, event: AnyCompressionEvent) -> None:
        # Loaded when first used, as commands are.
        import_module("ollm_tui.tui.compression.compression_run").display_of(self).take(event)

    def _show_tools(self, event: AnyToolEvent | None) -> None:
        # Loaded when first used, as commands are.
        import_module("ollm_tui.tui.tools.tool_display").display_of(self).take(event)

    def _send_next(self, *, is_turn_over: bool = False) -> None:
        """Send what waits. A full context is compressed before that, or right after a turn, but
        never when a session is only opened to be read."""
        is_free = not (self.is_busy or self.is_holding)
        conversation = self.app.conversation if is_free else None
        waiting = self.query_one(Waiting)
        if conversation and (waiting.count or is_turn_over):
            if not self._has_compressed and conversation.compression.is_due:
                self._has_compressed = True
                import_module("ollm_tui.tui.compression.compression_run").start_due(self)
            elif sent := waiting.take():
                self.start(conversation.send(sent.text, sent.attachments))
        self.lines.show_state(keeps_notice=True)

    # Conversations

    def open_first(self) -> None:
        """Begin or resume, as the command line asked for."""
        self.run_worker(self.opening.first(), group="open", exclusive=True)

    async def switch(self, opening: Opening) -> None:
        """Open another conversation in the place of this one; if that fails, this one stays."""
        await self.opening.switch(opening)

    async def open_session(self, session_id: str) -> None:
        """Open a stored session in the place of this one."""
        await self.opening.session(session_id)

    def show_conversation(self, conversation: Conversation, problems: tuple[str, ...]) -> None:
        """Show a conversation that was opened."""
        self.opening.end_following()
        self.app.conversation = conversation
        self.editing = None
        self.is_holding = False
        self.lines.alarm("")
        self.compression_display = None
        self.tool_display = None
        conversation.tools.can_ask = True
        self._has_compressed = False
        if self.app.loaded.settings.compression.enabled:
            conversation.on_overflow = "compress"
        self.turn_display = TurnDisplay(
            self.transcript,
            conversation.state,
            self.lines,
            self._show_compression,
            self._show_tools,
        )
        self.show_branch()
        for number, problem in enumerate(problems):
            self.transcript.add(Entry(f"problem-{number}", "error", visible(problem)))
        self.prompt.remember(self.app.memory.history())
        draft = self.drafts.switch_to(self._draft_key())
        if self.prompt.text:
            self.drafts.note(self.prompt.draft)
        else:
            self.prompt.restore(draft)
        self.lines.doing = ""
        self.lines.show_opened()
        self.reload_sidebar()
        self._send_next()
        import_module("ollm_tui.tui.chat.trust").ask(self)

    def show_branch(self) -> None:
        """Show the current branch from its first message."""
        self.turn_display.show_branch()

    def reload_sidebar(self) -> None:
        """The list of sessions is another one now."""
        for pane in self.query("#sidebar"):
            if pane.display:
                cast("ChatSidebar", pane).reload()

    def _draft_key(self) -> str | None:
        """Before its first message a session has no draft of its own, but the project has."""
        conversation = self.app.conversation
        return conversation.session_id if conversation and len(conversation.state) else None

    def _restyle(self, _theme: Theme) -> None:
        self.transcript.restyle(self.app.transcript_styles)

    # Around it

    @on(events.DescendantFocus)
    def _show_keys_of_focus(self) -> None:
        self.lines.show_state()

    def on_resize(self, event: events.Resize) -> None:
        """A narrow terminal shows the sidebar in the place of the stream."""
        self.set_class(event.size.width < NARROW, "narrow")
