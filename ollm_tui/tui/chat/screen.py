"""The chat screen: the stream, the prompt below it, and lines of state. Features do the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.theme import Theme

from ollm_tui.core.intake import visible
from ollm_tui.tui.chat.drafts import DraftStore
from ollm_tui.tui.chat.message_queue import MessageQueue
from ollm_tui.tui.chat.open_chat import OpenChat
from ollm_tui.tui.chat.port import Opening
from ollm_tui.tui.chat.session_opening import SessionOpening
from ollm_tui.tui.chat.state_lines import StateLines
from ollm_tui.tui.chat.status import NARROW, StatusLine, TitleLine
from ollm_tui.tui.chat.welcome import Welcome
from ollm_tui.tui.chat.words import (
    DRAFT_ASIDE,
    LOOKING_FOR_A_MODEL,
    PLACEHOLDER,
    SHORT_PLACEHOLDER,
)
from ollm_tui.tui.command_actions import action_of
from ollm_tui.tui.commands import BY_SLASH, WHILE_A_COMMAND_RUNS, bindings
from ollm_tui.tui.frame import Frame
from ollm_tui.tui.gauge.gauge import Gauge
from ollm_tui.tui.goals.goal_line import GoalLine
from ollm_tui.tui.kit.drawing import LeanScreen
from ollm_tui.tui.prompt.command_values import completions, file_source, further_completions
from ollm_tui.tui.prompt.completion_list import CompletionList
from ollm_tui.tui.prompt.prompt import Prompt
from ollm_tui.tui.stream.transcript.entry import Entry
from ollm_tui.tui.stream.transcript.transcript import Transcript

if TYPE_CHECKING:
    from ollm_tui.engine.conversation.conversation import Conversation
    from ollm_tui.tui.browser.sidebar import ChatSidebar
    from ollm_tui.tui.kit.question_block import QuestionBlock
    from ollm_tui.tui.tools.approval import Approval

OPENED_AFTER_SECONDS = 0.05
"""How long after the first paint the first conversation is opened: the prompt has to be usable
before all that is behind it is loaded."""


class Stream(Transcript):
    """The stream of the chat with its keys."""

    BINDINGS = bindings("stream")


class ChatScreen(LeanScreen):
    """Shows one conversation at a time; `chat` is the one that is shown now."""

    BINDINGS = [*WHILE_A_COMMAND_RUNS, *bindings("anywhere")]
    AUTO_FOCUS = "Prompt"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]

    app: Frame

    def __init__(self) -> None:
        super().__init__()
        self.chat = OpenChat(self)
        self.lines: StateLines
        self.opening = SessionOpening(self)
        self._drafts: DraftStore | None = None

    # The parts

    def compose(self) -> ComposeResult:
        """Lays out the parts from top to bottom."""
        yield TitleLine(id="title")
        with Horizontal(id="middle"):
            yield Stream(self.app.transcript_styles, id="transcript")
        yield Welcome()
        yield MessageQueue()
        yield GoalLine()
        yield Gauge(unicode=self.app.abilities.unicode)
        yield CompletionList()
        front = self._front
        yield Prompt(
            PLACEHOLDER,
            completions(front),
            file_source(front),
            further=lambda: further_completions(front),
            short=SHORT_PLACEHOLDER,
        )
        yield StatusLine(id="status")

    @property
    def transcript(self) -> Transcript:
        """The stream."""
        return self.query_one(Transcript)

    @property
    def prompt(self) -> Prompt:
        """The prompt."""
        return self.query_one(Prompt)

    @property
    def drafts(self) -> DraftStore:
        """What is being written, on disk."""
        self._drafts = self._drafts or DraftStore(self.app.memory)
        return self._drafts

    def on_mount(self) -> None:
        """Makes the prompt ready at once; who answers is found out meanwhile."""
        self.lines = StateLines(self._front)
        self.transcript.show_details = self.app.loaded.settings.ui.timestamps
        self.app.theme_changed_signal.subscribe(self, self._restyle)
        self.lines.show_doing(LOOKING_FOR_A_MODEL)
        self.call_after_refresh(self.set_timer, OPENED_AFTER_SECONDS, self.open_first)

    def _front(self) -> OpenChat:
        return self.chat

    # Commands

    async def action_command(self, command_id: str, argument: str = "") -> None:
        """Does what a command says."""
        chat, action = self.chat, action_of(command_id)
        await chat.attempt(lambda: action(chat, argument))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leaves keys to the list of sessions, or of completions, while that is used."""
        if parameters in (("session.new",), ("screen.palette",)):
            return not self.prompt.is_offering
        if parameters in (("read.page_up",), ("read.page_down",)):
            return not self.query("#sidebar:focus-within")
        return True

    @on(Prompt.CommandSent)
    async def _run_slash_command(self, event: Prompt.CommandSent) -> None:
        self.chat.remember(event.draft)
        known = BY_SLASH.get(event.name)
        if known:
            await self.action_command(known.id, event.argument)
        else:  # of an extension or a server
            await self.action_command("extension.run", f"{event.name} {event.argument}")

    @on(Prompt.Refused)
    def _refuse(self, event: Prompt.Refused) -> None:
        self.chat.tell(f"{event.message}: {event.hint}")

    # Talking

    @on(Prompt.Sent)
    def _send(self, event: Prompt.Sent) -> None:
        self.chat.remember(event.draft)
        if event.text.startswith("!") and not self.chat.editing:
            # Imported late, as commands are: the first paint needs none of it.
            from ollm_tui.tui.jobs.shell_line import send

            send(self.chat, event)
            return
        is_edit = self.chat.editing and not self.chat.is_busy
        self.chat.send(event)
        if not is_edit:
            self.opening.take_over()

    @on(Prompt.TakeBackRequested)
    def _take_back(self) -> None:
        """Puts the last message that still waits back into the prompt."""
        if sent := self.query_one(MessageQueue).take_back():
            self.prompt.restore(sent.draft)

    @on(Prompt.SendWaitingRequested)
    async def _send_waiting(self) -> None:
        await self.action_command("chat.send_waiting")

    async def leave(self) -> None:
        """Ends the program; what is being written, and what still waits, is there next time."""
        waiting = [sent.draft for sent in self.query_one(MessageQueue).clear()]
        for draft in waiting:
            self.chat.remember(draft)
        if waiting and not self.prompt.text:
            self.prompt.restore(waiting[0])
        if self.prompt.text or self.opening.is_first_open:  # else that of the last time stays
            self.drafts.note(self.prompt.draft)
        await self.drafts.flush()
        self.app.exit(0)

    @on(Prompt.PutAside)
    def _remember_draft(self, event: Prompt.PutAside) -> None:
        self.chat.remember(event.draft)
        self.call_after_refresh(self.chat.tell, DRAFT_ASIDE)

    @on(Prompt.LeaveRequested)
    async def _leave(self) -> None:
        await self.app.action_quit()

    @on(Prompt.Edited)
    def _keep_draft(self, event: Prompt.Edited) -> None:
        """Keeps what is being written through a crash, and tells its length before it is sent."""
        self.draw_at_once(self.prompt)
        self.lines.show_draft()
        if not self.opening.is_first_open:
            return  # the draft of the last time has yet to be read
        self.drafts.note(self.prompt.draft)
        if self.prompt.text:  # it is emptied by what has just been told about
            self.lines.show_state(keeps_notice=event.is_put)

    @on(Prompt.Suggested)
    def _show_completions(self, event: Prompt.Suggested) -> None:
        self.query_one(CompletionList).show(event.options, event.chosen)

    @on(CompletionList.Picked)
    def _complete(self, event: CompletionList.Picked) -> None:
        self.prompt.pick(event.index)

    @on(MessageQueue.Changed)
    def _let_take_back(self, event: MessageQueue.Changed) -> None:
        self.prompt.can_take_back = event.count > 0

    # What widgets ask for that features mount here. The handlers are found by their names: the
    # classes of those widgets are not loaded before they are needed.

    @on(Gauge.Clicked)
    async def _show_breakdown(self) -> None:
        await self.action_command("context.breakdown")

    def _on_find_bar_closed(self) -> None:
        self.prompt.focus()

    def _on_compression_panel_cancel_requested(self) -> None:
        self.chat.conversation.cancel()

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

    # Conversations

    def open_first(self) -> None:
        """Begins or resumes, as the command line asked for."""
        self.run_worker(self.opening.first(), group="open", exclusive=True)

    async def switch(self, opening: Opening) -> None:
        """Opens another conversation in the place of this one; if that fails, this one stays."""
        await self.opening.switch(opening)

    async def open_session(self, session_id: str) -> None:
        """Opens a stored session in the place of this one."""
        await self.opening.session(session_id)

    def bring_to_front(
        self, conversation: Conversation | None, *, is_following: bool = False
    ) -> OpenChat:
        """Makes a conversation, or none, the one that keys and lines are about."""
        self.app.conversation = conversation
        self.chat = OpenChat(self, conversation, is_following=is_following)
        return self.chat

    def show_conversation(self, conversation: Conversation, problems: tuple[str, ...]) -> None:
        """Shows a conversation that was opened."""
        self.opening.end_following()
        chat = self.bring_to_front(conversation)
        self.lines.alarm("")
        conversation.tools.can_ask = True
        if self.app.loaded.settings.compression.enabled:
            conversation.on_overflow = "compress"
        chat.show_branch()
        for number, problem in enumerate(problems):
            self.transcript.add(Entry(f"problem-{number}", "error", visible(problem)))
        if reason := conversation.choice.reason:
            self.transcript.add(Entry("model", "note", visible(reason)))
        draft = self.drafts.switch_to(chat.draft_key)
        # What was typed while the conversation was being opened comes before its stored draft,
        # which Up brings back.
        typed = self.prompt.draft if self.prompt.text else ""
        if typed and typed != draft:
            self.app.memory.remember(draft)
        self.prompt.remember(self.app.memory.history())
        if typed:
            self.drafts.note(typed)
        else:
            self.prompt.restore_unseen(draft)
        self.lines.doing = ""
        self.lines.show_opened()
        self.reload_sidebar()
        # What was sent before a conversation was open still waits.
        chat.send_next()
        # Imported late: the first paint needs none of it.
        from ollm_tui.tui.chat.trust import ask

        ask(chat)
        if conversation.choice.missed:
            from ollm_tui.tui.models.late_server import watch

            watch(chat, conversation.choice.missed)

    def reload_sidebar(self) -> None:
        """Reads the list of sessions again, where it is shown."""
        for pane in self.query("#sidebar"):
            if pane.display:
                cast("ChatSidebar", pane).reload()

    def _restyle(self, _theme: Theme) -> None:
        self.transcript.restyle(self.app.transcript_styles)

    # Around it

    @on(events.DescendantFocus)
    def _show_keys_of_focus(self) -> None:
        self.lines.show_state()

    def on_resize(self, event: events.Resize) -> None:
        """Shows the sidebar in the place of the stream on a narrow terminal."""
        self.set_class(event.size.width < NARROW, "narrow")
