"""The lines that tell the state of the chat: title, gauge, what goes on, which keys matter now."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content
from textual.timer import Timer

from ollm_tui.core.costs import bill_of
from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.context_entry import pinned_task
from ollm_tui.core.session.message import Attachment
from ollm_tui.core.session.picture import PICTURE_TOKENS
from ollm_tui.services.tokens.careful_estimate import careful_estimate
from ollm_tui.tui.chat.port import NOTICE_SECONDS, ChatPort
from ollm_tui.tui.chat.status import BESIDE_HINTS, GAP, StatusLine, TitleLine
from ollm_tui.tui.chat.welcome import Welcome
from ollm_tui.tui.chat.words import (
    COUNTING_HINT,
    EDITING,
    LOOKING_HINT,
    NEW_CONVERSATION,
    READING_HINTS,
    RUNNING_HINTS,
    WRITING_HINTS,
    model_words,
)
from ollm_tui.tui.conversations.words import waiting_words
from ollm_tui.tui.gauge.gauge import Gauge
from ollm_tui.tui.gauge.gauge_line import BETWEEN, speed_of, times_words
from ollm_tui.tui.goals.goal_line import GoalLine
from ollm_tui.tui.keymap import Hints
from ollm_tui.tui.kit.clickable import clickable
from ollm_tui.tui.prompt.prompt import Prompt
from ollm_tui.tui.stream.transcript.entry import Entry
from ollm_tui.tui.tools.words import brakes

if TYPE_CHECKING:
    from ollm_tui.core.session.session_state import SessionState
    from ollm_tui.engine.conversation.conversation import Conversation

LONG_SESSION = 1000
"""Messages above which a session is not counted when it is opened: it may only be read, and
counting takes a moment."""
TOOLS_AFTER_SECONDS = 0.5
"""How long the tools of the model wait to be loaded: the first keys come before that."""
SCARCE = (0.5, 2.0)
"""Shares of the limit between which the context is counted exactly: below them there is room
enough, above them none at all."""
LOOKED_AT = 500
"""Characters up to which a text is estimated anew with every key."""
GROWN_BY = 0.1
"""The share by which the length of a longer text may change before it is estimated anew."""


FEW = 4
"""Notes in the stream beside which there is room for the first screen."""


class StateLines:
    """The lines around the stream and the prompt of one chat screen."""

    def __init__(self, front: Callable[[], ChatPort]) -> None:
        """`front` gives the chat that is shown now: the lines outlive a conversation."""
        self._front = front
        self.hints = Hints(front().app.loaded.settings.keymap)
        self.doing = ""
        """What the model is doing, in words; empty while that is nothing."""
        self.unsaved = ""
        """Why records could not be written; empty while all is well."""
        self._notice: Timer | None = None
        self._draft = DraftTokens()
        self._followed: Conversation | None = None
        self._unfollow: Callable[[], None] | None = None
        self._has_changed = False
        """Whether the gauge is about to be drawn anew."""

    @property
    def _chat(self) -> ChatPort:
        return self._front()

    def tell(self, *texts: str) -> None:
        """Show one line, the first of some that there is room for; after a while the key hints are
        shown again."""
        self._show(*texts)
        self._notice = self._chat.screen.set_timer(NOTICE_SECONDS, self.show_state)

    def _show(self, *texts: str | Content) -> None:
        """Show the first of some lines that there is room for, in the place of any notice."""
        if self._notice:
            self._notice.stop()
            self._notice = None
        self._chat.screen.query_one(StatusLine).show_fitting(
            [visible(text) if isinstance(text, str) else text for text in texts]
        )

    def complain(self, error: OllmError) -> None:
        """Show what did not work, and what to do about it."""
        self.tell(error.line)

    def show_doing(self, doing: str) -> None:
        """Show what the model is doing now."""
        self.doing = doing
        self.show_state()

    def show_state(self, *, keeps_notice: bool = False) -> None:
        """Show what goes on, or which keys matter now. With `keeps_notice`, a line that was just
        told stays its time."""
        if keeps_notice and self._notice and not self._chat.is_busy:
            return
        self.show_welcome()
        line, shell = self._line, self._chat.app.shell
        if self._chat.app.beginning.only_looks:
            self._show(LOOKING_HINT)
        elif shell and shell.foreground:
            self._show(line(*RUNNING_HINTS) + GAP + visible(shell.doing))
        elif self._chat.is_busy and not self._own_keys:
            keys = RUNNING_HINTS if shell and shell.movable else RUNNING_HINTS[:1]
            self._show(line(*keys) + GAP + visible(self.doing))
        elif self.doing and not self._own_keys:
            self._show(self.doing)
        elif self._chat.screen.focused is self._chat.transcript:
            self._show(line(*READING_HINTS))
        elif self._chat.editing:
            self._show(Content(f"{EDITING}{GAP}") + line(("chat.stop", "cancel")))
        elif isinstance(self._chat.screen.focused, Prompt | None):  # none: another window has it
            self._show(*(Content(GAP).join(map(self._hint, each)) for each in WRITING_HINTS))
        else:
            self._show(self._own_keys or line(("chat.stop", "prompt")))

    @property
    def _own_keys(self) -> str:
        """The keys of what a feature put beside the stream, while it has the focus."""
        return getattr(self._chat.screen.focused, "key_hints", "")

    def show_welcome(self) -> None:
        """Show the first screen while nothing was said or typed; what was wrong stays above it."""
        chat = self._chat
        entries = chat.transcript.stack.entries
        is_blank = len(entries) <= FEW and all(map(_is_aside, entries))
        welcome = chat.screen.query_one(Welcome)
        welcome.teach(chat.opened, self.hints, is_blank=is_blank and not chat.prompt.text)
        if welcome.display or chat.screen.query("#column.-first"):
            column = chat.screen.query_one("#column")
            column.set_class(welcome.display, "-first")
            chat.transcript.refresh(layout=True)
            # The class takes effect on its own time: where it comes and goes while keys arrive,
            # the layout asked for here may still be one with the other height.
            column.call_after_refresh(chat.transcript.refresh, layout=True)

    def _line(self, *commands: tuple[str, str]) -> Content:
        """Return as many hints as there is room for; always the last one, which leads out."""
        room = self._chat.screen.size.width - BESIDE_HINTS
        hints = [self._hint(each) for each in commands]
        while len(hints) > 2 and len(Content(GAP).join(hints)) > room:
            del hints[-2]
        return Content(GAP).join(hints)

    def _hint(self, command: tuple[str, str]) -> Content:
        """Return a hint that carries out its command when it is clicked."""
        command_id, word = command
        return clickable(f"{self.hints.key(command_id)} {word}", command_id)

    def show_opened(self) -> None:
        """Show the facts of a session just opened; a long one is counted when it is used."""
        conversation = self._chat.opened
        self._follow(conversation)
        if conversation and len(conversation.state) > LONG_SESSION:
            self._show_names(conversation)
            used = conversation.state.header.metadata.token_count
            last = f"{used:,} tokens when last used" if used else "Long session"
            self._chat.screen.query_one(Gauge).show_words(f"{last} · {self._line(COUNTING_HINT)}")
        else:
            self.show_facts()

    def _follow(self, conversation: Conversation | None) -> None:
        """Draw the gauge anew after whatever changes the context of this conversation."""
        if conversation is self._followed:
            return
        if self._unfollow:
            self._unfollow()
        self._followed, self._unfollow = conversation, None
        if conversation:
            self._unfollow = conversation.changed.subscribe(self._note_change)

    def _note_change(self, _: None) -> None:
        """Draw the gauge once for all changes that come together."""
        if not self._has_changed:
            self._has_changed = True
            self._chat.screen.call_later(self._show_change)

    def _show_change(self) -> None:
        self._has_changed = False
        conversation = self._chat.opened
        gauge = self._gauge
        if conversation is None or conversation is not self._followed or gauge is None:
            return
        if self._chat.is_busy:
            gauge.show(conversation.context(), _note(conversation.state))
            self._inspect()
        else:
            self._count(conversation)

    @property
    def _gauge(self) -> Gauge | None:
        """The gauge; None while the program ends, when an answer that is cut off changes the
        context although its widgets are gone."""
        return next(iter(self._chat.screen.query(Gauge)), None)

    def show_facts(self) -> None:
        """Show title, model, gauge, and whether all is saved."""
        conversation = self._chat.opened
        if not conversation:
            return
        self._follow(conversation)
        self._show_names(conversation)
        self._count(conversation)

    def _count(self, conversation: Conversation) -> None:
        # Not a coroutine: a worker that is replaced before it starts would never await it.
        show = partial(self._show_gauge, conversation)
        self._chat.screen.run_worker(show, group="gauge", exclusive=True)

    def show_names(self) -> None:
        """Show title, model, and how freely it may act."""
        if conversation := self._chat.opened:
            self._show_names(conversation)

    def _show_names(self, conversation: Conversation) -> None:
        if self._gauge is None:
            return
        state, choice = conversation.state, conversation.choice
        who = model_words(choice.model, choice.provider.name, choice.remote_host)
        if conversation.mode.prompt:
            mode = visible(conversation.mode.name)
            who = [f"{each}   {mode}" for each in who]
        title = visible(state.header.title) or NEW_CONVERSATION
        if task := pinned_task(conversation.notes.all):
            title = f"[{visible(task)}] {title}"
        opened = self._chat.standings()
        if len(opened) > 1 and not any(row.display for row in self._chat.screen.query("#tabs")):
            at = next((each.number for each in opened if each.is_shown), 0)
            title = f"{at}/{len(opened)} {title}"
        how_freely = partial(brakes, conversation.tools)
        self._chat.screen.query_one(TitleLine).show_names(title, who, how_freely)
        self._chat.screen.query_one(GoalLine).show(conversation.goals.active)
        self.show_saving()

    def _inspect(self) -> None:
        """Draw the inspector anew, where it is open."""
        for pane in self._chat.screen.query("#inspector"):
            pane.refresh()

    async def _show_gauge(self, conversation: Conversation) -> None:
        """Show what the server measured and an estimate of what came since. The exact count needs
        the model's vocabulary, which is large; it is made where the room becomes scarce."""
        await conversation.prepare()
        gauge, note = self._gauge, _note(conversation.state)
        if conversation is not self._chat.opened or gauge is None:
            return
        gauge.show(conversation.context(), note)
        await conversation.recount()
        if conversation is not self._chat.opened:
            return
        view = conversation.context()
        gauge.show(view, note)
        self._inspect()
        room = view.budget.room
        if room and SCARCE[0] < view.count.tokens / room.limit < SCARCE[1]:
            await conversation.settle_context()
            if conversation is self._chat.opened:
                gauge.show(conversation.context(), note)
        if not conversation.tools.is_ready:
            await asyncio.sleep(TOOLS_AFTER_SECONDS)
        is_ready = await conversation.tools.ready()
        if is_ready and conversation is self._chat.opened and self._gauge:
            self._show_names(conversation)
            gauge.show(conversation.context(), note)
        if len(conversation.state):
            await asyncio.to_thread(_load_compression)

    @property
    def prompt_tokens(self) -> int:
        """About how many tokens the model reads before it answers."""
        conversation = self._chat.opened
        return conversation.live_tokens.tokens if conversation else 0

    def show_live(self) -> None:
        """Show that more of the answer is in the context now."""
        if (conversation := self._chat.opened) and (gauge := self._gauge):
            gauge.show_live(conversation.live_tokens)

    def show_draft(self) -> None:
        """Show about how many tokens the prompt would add to the context. An edit counts as none:
        it takes the place of a message."""
        tokens = 0 if self._chat.editing else self._draft.of(*self._chat.prompt.written)
        self._chat.screen.query_one(Gauge).show_draft(tokens)

    def alarm(self, text: str) -> None:
        """Show that something is wrong with the context; an empty text ends that."""
        self._chat.screen.query_one(Gauge).alarm(text)

    def show_saving(self) -> None:
        """Show what the session cost, whether everything is on disk, and how many jobs run."""
        shell, status = self._chat.app.shell, self._chat.screen.query_one(StatusLine)
        running = f"{shell.would_end} running" if shell and shell.would_end else ""
        words = "NOT SAVED" if self.unsaved else _saving(self._chat.opened)
        asking = [each for each in self._chat.standings() if each.state == "waits"]
        elsewhere = sum(not each.is_shown for each in asking)
        waits = waiting_words(elsewhere, self.hints.keys("session.waiting")[0])
        paid = _paid(self._chat.opened.state) if self._chat.opened else ""
        status.show(right=" · ".join(word for word in (waits, paid, words, running) if word))
        status.set_class(bool(self.unsaved), "alarm")
        self._inspect()


def _is_aside(entry: Entry) -> bool:
    """Return whether an entry only notes something; a command that ran says how it ended, too."""
    return entry.speaker in ("note", "error") and not entry.footer


def _saving(conversation: Conversation | None) -> str:
    """Return whether what was said is on disk, as the store has acknowledged it."""
    if conversation is None:
        return ""
    if not conversation.is_kept:
        return "ephemeral"
    if conversation.unsaved:
        return "not saved yet"
    return "saved" if len(conversation.state) else ""


def _load_compression() -> None:
    """Load what a compression needs while nobody waits: when one begins, the user may be typing."""
    from ollm_tui.engine.compression import pipeline
    from ollm_tui.tui.compression import commands

    _ = pipeline, commands


def _note(state: SessionState) -> str:
    """Return speed and cache of the last answer, and how often the context was compressed."""
    head = state.header.head
    usage = state[head].usage if head else None
    speed = speed_of(usage) if usage else ""
    cached = f"{usage.cached_tokens:,} cached" if usage and usage.cached_tokens else ""
    compressed = times_words(state.header.metadata)
    return BETWEEN.join(fact for fact in (speed, cached, compressed) if fact)


def _paid(state: SessionState) -> str:
    """Return what the session cost; empty if its last answer came from this machine."""
    head = state.header.head
    usage = state[head].usage if head else None
    if usage is None or usage.cost is None:
        return ""
    return str(bill_of(message.usage for message in state.messages()))


class DraftTokens:
    """Estimates the tokens of one prompt. A long text is estimated anew only when its length has
    changed much; in between, the number grows with the length."""

    def __init__(self) -> None:
        self._length = 0
        self._tokens = 0.0
        self._pastes: dict[Attachment, float] = {}

    def of(self, text: str, pastes: Sequence[Attachment] = ()) -> int:
        """Return the tokens of a text and of what is pasted into it; 0 for a command, which is not
        sent to the model."""
        if text.startswith(("/", "!")) and not text.startswith("//"):
            return 0
        self._pastes = {paste: self._pasted(paste) for paste in pastes}
        return round(self._typed(text) + sum(self._pastes.values()))

    def _typed(self, text: str) -> float:
        length = len(text)
        is_near = abs(length - self._length) <= self._length * GROWN_BY
        if length > LOOKED_AT and is_near:
            return self._tokens * length / self._length
        self._length, self._tokens = length, careful_estimate(text)
        return self._tokens

    def _pasted(self, paste: Attachment) -> float:
        if paste.media_type.startswith("image/"):
            return PICTURE_TOKENS
        known = self._pastes.get(paste)
        return careful_estimate(paste.content) if known is None else known
