"""The chat screen: the stream, the prompt below it, and lines of state. Features do the rest."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.theme import Theme

from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import visible
from ollm_tui.tui.chat.drafts import DraftStore
from ollm_tui.tui.chat.message_queue import MessageQueue
from ollm_tui.tui.chat.open_chat import OpenChat
from ollm_tui.tui.chat.port import NOTICE_SECONDS, Opening
from ollm_tui.tui.chat.session_opening import SessionOpening
from ollm_tui.tui.chat.state_lines import StateLines
from ollm_tui.tui.chat.status import NARROW, WIDE, WITH_SIDEBAR, StatusLine, TitleLine
from ollm_tui.tui.chat.welcome import Welcome
from ollm_tui.tui.chat.words import (
    DRAFT_ASIDE,
    LOOKING_FOR_A_MODEL,
    PLACEHOLDER,
    SHORT_PLACEHOLDER,
)
from ollm_tui.tui.command_actions import action_of
from ollm_tui.tui.commands import BY_SLASH, TABS, WHILE_A_COMMAND_RUNS, bindings
from ollm_tui.tui.conversations.open_chats import OpenChats
from ollm_tui.tui.conversations.standing import AT_WORK, Standing
from ollm_tui.tui.conversations.tab_row import TabRow
from ollm_tui.tui.conversations.words import notice, quit_words
from ollm_tui.tui.frame import Frame
from ollm_tui.tui.gauge.gauge import Gauge
from ollm_tui.tui.goals.goal_line import GoalLine
from ollm_tui.tui.kit.drawing import LeanScreen
from ollm_tui.tui.kit.side_by_side import SideChanged, is_crowded_by
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

TALL = 30
"""Rows from which the stream has an empty one above it."""
OPENED_AFTER_SECONDS = 0.05
"""How long after the first paint the first conversation is opened: the prompt has to be usable
before all that is behind it is loaded."""


class Stream(Transcript):
    """The stream of the chat with its keys."""

    BINDINGS = bindings("stream")


class ChatScreen(LeanScreen):
    """Shows one conversation at a time; `chat` is the one that is shown now."""

    BINDINGS = [*WHILE_A_COMMAND_RUNS, *TABS, *bindings("anywhere")]
    AUTO_FOCUS = "Prompt"

    app: Frame

    def __init__(self) -> None:
        super().__init__()
        self.chats = OpenChats()
        self.chat = OpenChat(self)
        self.lines: StateLines
        self.opening = SessionOpening(self)
        self._drafts: DraftStore | None = None
        self.is_ready = False
        """Whether all of its parts are there."""
        self._warned = -NOTICE_SECONDS
        """When the user was last warned that quitting stops answers."""

    # The parts

    def compose(self) -> ComposeResult:
        """Lays out the parts from top to bottom."""
        self._fit(self.app.size, update=False)  # before the parts get their styles: else twice
        yield TitleLine(id="title")
        yield TabRow(unicode=self.app.abilities.unicode)
        with Horizontal(id="middle"), Vertical(id="column"):
            yield Stream(self.app.transcript_styles, id="transcript")
            yield Welcome(unicode=self.app.abilities.unicode)
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
            uses_vim=self.app.loaded.settings.ui.editing == "vim",
        )
        yield StatusLine(id="status")

    @property
    def transcript(self) -> Transcript:
        """The stream."""
        return self.query_one("#transcript", Transcript)

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
        self.app.theme_changed_signal.subscribe(self, self._restyle)
        self.lines.show_doing(LOOKING_FOR_A_MODEL)
        self.is_ready = True
        if self.app.ends_at_once:
            self.call_later(self.leave)
        else:
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
        if parameters == ("prompt.history",) and self.prompt.vim_mode == "normal":
            return not self.prompt.has_focus  # there Ctrl+R is redo
        if parameters in (("read.page_up",), ("read.page_down",)):
            return not self.query("#sidebar:focus-within")
        return True

    @on(Prompt.CommandSent)
    async def _run_slash_command(self, event: Prompt.CommandSent) -> None:
        self.chat.remember(event.draft)
        if self.opening.is_first_open:
            # At once: the command may go to another session, and is no draft of this one.
            self.drafts.note(self.prompt.draft)
        known = BY_SLASH.get(event.name)
        if known:
            await self.action_command(known.id, event.argument)
        else:  # of an extension or a server
            await self.action_command("extension.run", f"{event.name} {event.argument}")

    @on(Prompt.Refused)
    def _refuse(self, event: Prompt.Refused) -> None:
        self.chat.tell(OllmError(event.message, event.hint).line)

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
        if sent := self.chat.queue.take_back():
            self.prompt.restore(sent.draft)

    @on(Prompt.SendWaitingRequested)
    async def _send_waiting(self) -> None:
        await self.action_command("chat.send_waiting")

    async def leave(self) -> None:
        """Ends the program; what is being written, and what still waits, is there next time."""
        for chat in self.chats.others(self.chat):
            for sent in chat.queue.clear():
                chat.remember(sent.draft)
        waiting = [sent.draft for sent in self.chat.queue.clear()]
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
        else:
            self.lines.show_welcome()

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

    async def resume(self, session_id: str) -> None:
        """Shows a session that is open, or opens it in the place of this one."""
        await self.opening.resume(session_id)

    async def open_session(self, session_id: str) -> None:
        """The same; one that another window has open is followed live."""
        await self.opening.session(session_id)

    def find_open(self, session_id: str) -> OpenChat | None:
        """Returns the open conversation of a session; None if it is not open here."""
        return self.chats.find(session_id)

    def forget(self, chat: OpenChat) -> None:
        """Drops a conversation that is about to be closed."""
        self.chats.remove(chat)
        self._note_open()

    def standings(self) -> Sequence[Standing]:
        """Tells how all open conversations stand, in the order they were opened."""
        return self.chats.standings(self.chat)

    def note_standing(self, chat: OpenChat) -> None:
        """Shows that an open conversation stands differently now; one that is not shown and has
        come to an end, or waits, also says so in a line."""
        self._show_open()
        for pane in self.query("#sidebar"):
            cast("ChatSidebar", pane).show_standings()
        if not self.chats.has_news(chat) or chat.is_shown:
            return
        if words := notice(chat.title, chat.state):
            key = self.lines.hints.tab(self.chats.number(chat))
            self.lines.tell(f"{words} · {key}", words)
            self.app.call_user(words)

    def shown_before(self) -> str | None:
        """Returns the session that was shown before; None if there was none."""
        return self.chats.before(self.chat)

    async def release(self, chat: OpenChat) -> None:
        """Closes a conversation that was left, unless something runs or waits in it."""
        await self.opening.release(chat)

    @on(TabRow.Clicked)
    async def _go_to_tab(self, event: TabRow.Clicked) -> None:
        await self.action_command("session.go", event.session_id)

    def asks_before_leaving(self) -> bool:
        """Warns once that quitting ends answers or jobs; returns whether it warned just now."""
        running = [each for each in self.standings() if each.state in AT_WORK]
        words = quit_words(running, self.app.shell.would_end if self.app.shell else "")
        now = time.monotonic()
        if not words or now - self._warned < NOTICE_SECONDS:
            return False
        self._warned = now
        if self.app.screen is self:
            self.lines.tell(*words)
        else:  # nothing is closed for a question
            self.app.notify(words[0], timeout=NOTICE_SECONDS, markup=False)
        return True

    def bring_to_front(
        self, conversation: Conversation | None, *, is_following: bool = False
    ) -> OpenChat:
        """Makes a conversation, or none, the one that keys and lines are about."""
        return self._bring(OpenChat(self, conversation, is_following=is_following))

    def _bring(self, chat: OpenChat) -> OpenChat:
        """Has one conversation leave the screen, and another one take its place."""
        left, waiting = self.chat, ()
        left.leave()
        if left.opened is None:
            # What was sent before a conversation was open goes to the one that is opened.
            waiting = left.queue.clear()
        self.chats.bring(left, chat)
        self.chat = chat
        self.prompt.placeholder = chat.invitation
        for sent in waiting:
            chat.queue.add(sent)
        self.query_one(MessageQueue).follow(chat.queue)
        self.app.conversation = chat.opened
        self._note_open()
        return chat

    def _show_open(self) -> None:
        self.query_one(TabRow).show(self.standings())
        self.lines.show_names()

    def _note_open(self) -> None:
        self.app.conversations = self.chats.conversations
        self.query_one(TabRow).show(self.standings())
        if self.chat.opened:
            self.app.workspace.lines.put_first(self.chat.opened.session_id)

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
        self._show_draft(chat)
        self.lines.doing = ""
        self.lines.show_opened()
        self.reload_sidebar()
        self._offer_recent(conversation)
        # What was sent before a conversation was open still waits.
        chat.send_next()
        # Imported late: the first paint needs none of it.
        from ollm_tui.tui.chat.trust import ask

        ask(chat)
        if conversation.choice.missed:
            from ollm_tui.tui.models.late_server import watch

            watch(chat, conversation.choice.missed)

    def _show_draft(self, chat: OpenChat) -> None:
        """Puts the stored draft into the prompt. What was typed while the conversation was being
        opened comes before it; Up brings the stored one back."""
        draft = self.drafts.switch_to(chat.draft_key)
        typed = self.prompt.draft if self.prompt.text else ""
        if typed and typed != draft:
            self.app.memory.remember(draft)
        self.prompt.remember(self.app.memory.history())
        if typed:
            self.drafts.note(typed)
        else:
            self.prompt.restore_unseen(draft)

    def show_again(self, chat: OpenChat) -> None:
        """Shows an open conversation in the place of the one shown."""
        self.opening.end_following()
        self._bring(chat)
        self.lines.alarm("")
        self.lines.doing = ""
        self._show_draft(chat)
        chat.show()
        if self.app.shell:
            self.app.shell.show_again()
        self.lines.show_opened()
        self.lines.show_state()
        self.reload_sidebar()
        self._offer_recent(chat.opened)
        self.prompt.focus()

    def _offer_recent(self, conversation: Conversation | None) -> None:
        """Offers the sessions used last where nothing was said yet."""
        if conversation and not len(conversation.state):
            self.run_worker(self.opening.offer_recent, group="recent", exclusive=True)

    def reload_sidebar(self) -> None:
        """Reads the list of sessions again, where it is shown; a title may be another one."""
        self.query_one(TabRow).show(self.standings())
        for pane in self.query("#sidebar"):
            if pane.display:
                cast("ChatSidebar", pane).reload()

    def _restyle(self, _theme: Theme) -> None:
        self.transcript.restyle(self.app.transcript_styles)

    # Around it

    @on(events.DescendantFocus)
    def _show_keys_of_focus(self) -> None:
        self._fit_sidebar()
        self.lines.show_state()

    def on_resize(self, event: events.Resize) -> None:
        """Lays out the screen for the new size."""
        self._fit(event.size)
        self._fit_sidebar()
        if self.has_class("roomy") and self.opening.is_first_open and not self.query("#sidebar"):
            self.run_worker(self.opening.open_sidebar, group="sidebar", exclusive=True)

    def _fit(self, size: Size, *, update: bool = True) -> None:
        self.set_class(size.width < NARROW, "narrow", update=update)
        self.set_class(size.width >= WITH_SIDEBAR, "roomy", update=update)
        self.set_class(size.width >= WIDE, "wide", update=update)
        self.set_class(size.height >= TALL, "tall", update=update)

    @on(SideChanged)
    def _fit_beside(self) -> None:
        self.call_after_refresh(self._fit_sidebar)

    def _fit_sidebar(self) -> None:
        """Shows an open sidebar where there is room beside the stream; on a narrow terminal it
        takes the place of the stream, and only while it has the focus. One that nobody opened is
        shown only where it opens by itself. It gives way to what stands at the other side."""
        for pane in self.query("#sidebar.-shown"):
            is_unasked = pane.has_class("-unasked")
            has_room = self.has_class("roomy") if is_unasked else not self.has_class("narrow")
            is_crowded = is_crowded_by(pane, self.query_one("#middle"), self.app.size.width)
            pane.display = (has_room and not is_crowded) or pane.has_focus_within
            self.set_class(pane.display, "with-sidebar")
