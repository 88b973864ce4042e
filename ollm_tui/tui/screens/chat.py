"""The chat screen: the stream, the prompt below it, and one line of state."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import aclosing
from typing import TYPE_CHECKING, assert_never

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen
from textual.timer import Timer

from ollm_tui.core.errors import OllmError
from ollm_tui.core.events import (
    AnyTurnEvent,
    Prepared,
    PromptCut,
    ReasoningArrived,
    ReplyStarted,
    SaveFailed,
    SaveResumed,
    TextArrived,
    ToolCallRequested,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from ollm_tui.core.message import Message
from ollm_tui.engine.conversation import Conversation
from ollm_tui.tui.transcript.entry import Entry
from ollm_tui.tui.transcript.transcript import Transcript
from ollm_tui.tui.widgets.prompt import Prompt
from ollm_tui.tui.widgets.status import StatusLine

if TYPE_CHECKING:
    from ollm_tui.tui.app import OllmApp

FRAME_SECONDS = 1 / 30
"""Words that arrive within a frame are drawn together."""
AGAIN_SECONDS = 2.0
WIDE = 90
"""Columns from which the line below names everything in full."""
PLACEHOLDER = "Type a message. Enter sends, Ctrl+J begins a new line."
IDLE = "Ctrl+Q quit   PgUp PgDn read"
BUSY = "Esc stop"
_ENDINGS = {
    "cancelled": "stopped",
    "interrupted": "interrupted",
    "streaming": "interrupted",
    "length": "cut at the output limit",
}


class ChatScreen(Screen[None]):
    """Talks with one conversation; the engine does the rest."""

    CSS_PATH = "chat.tcss"
    BINDINGS = [
        Binding("escape", "stop", "Stop", id="chat.stop", tooltip="Stop the answer"),
        Binding(
            "ctrl+c",
            "interrupt",
            "Copy or stop",
            id="chat.interrupt",
            tooltip="Copy what is selected, else stop, else put the draft aside, else quit",
            priority=True,
        ),
        Binding("pageup", "page(-1)", "Up", id="chat.page_up", tooltip="A page up", priority=True),
        Binding(
            "pagedown", "page(1)", "Down", id="chat.page_down", tooltip="A page down", priority=True
        ),
        Binding(
            "ctrl+end",
            "end",
            "End",
            id="chat.end",
            tooltip="To the end of the conversation",
            priority=True,
        ),
    ]

    app: OllmApp

    def __init__(self) -> None:
        super().__init__()
        self._conversation: Conversation | None = None
        self._waiting: list[str] = []
        self._arrived: list[str] = []
        self._reply = ""
        self._begun = 0.0
        self._frame: Timer | None = None
        self._unsaved = False
        self._busy = False
        self._interrupted = -AGAIN_SECONDS

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Transcript(self.app.transcript_styles, id="transcript")
        yield Prompt(PLACEHOLDER)
        yield StatusLine(id="status")

    def on_mount(self) -> None:
        """The prompt is ready at once; who answers is found out meanwhile."""
        self.query_one(Prompt).focus()
        self._status.show_doing("looking for a model …")
        self.open_conversation()

    # What the user does

    @on(Prompt.Sent)
    def start_turn(self, event: Prompt.Sent) -> None:
        """Send, or keep until the model is free."""
        self._waiting.append(event.text)
        self._transcript.go_to_end()
        self._next()

    @on(Prompt.LeaveWanted)
    def leave(self) -> None:
        """Ctrl+D on an empty prompt."""
        self.app.exit(0)

    def action_stop(self) -> None:
        """Stop the answer; what arrived stays."""
        if self._conversation and self._busy:
            self._conversation.cancel()

    def action_interrupt(self) -> None:
        """The least that helps: copy, stop, put the draft aside; twice in a row, leave."""
        prompt = self.query_one(Prompt)
        if selected := prompt.selected_text or self.get_selected_text():
            self.app.copy_to_clipboard(selected)
            self._status.show_doing("copied through the terminal")
        elif self._busy:
            self.action_stop()
        elif prompt.text:
            prompt.put_aside()
            self._status.show_doing("draft put aside, ↑ brings it back")
        elif time.monotonic() - self._interrupted < AGAIN_SECONDS:
            self.app.exit(0)
        else:
            self._interrupted = time.monotonic()
            self._status.show_doing("Ctrl+C again quits")

    def action_page(self, direction: int) -> None:
        """Read a page up or down without leaving the prompt."""
        transcript = self._transcript
        lines = max(transcript.size.height - 1, 1) * direction
        transcript.scroll_to(y=transcript.scroll_offset.y + lines, animate=False)

    def action_end(self) -> None:
        """Show the latest and stay there."""
        self._transcript.go_to_end()

    # What the engine does

    @work(exclusive=True, group="open")
    async def open_conversation(self) -> None:
        """Begin or resume, as the command line asked for."""
        try:
            self._conversation, problems = await self.app.open_conversation()
        except OllmError as error:
            self._note(error, "open")
            self._status.show_doing("no model   Ctrl+Q quit")
            return
        state = self._conversation.state
        self._transcript.show(_entries(state.branch()))
        for number, problem in enumerate(problems):
            self._transcript.add(Entry(f"problem-{number}", "error", problem))
        self.query_one(Prompt).remember(
            [message.text for message in state.branch() if message.role == "user"]
        )
        self._show_facts()
        self._status.show_doing(IDLE)
        self._next()

    def _next(self) -> None:
        if self._conversation and self._waiting and not self._busy:
            self._busy = True
            self.run_turn(self._waiting.pop(0))
        elif self._waiting:
            self._status.show_doing(f"{BUSY}   {len(self._waiting)} waiting")

    @work(group="turn")
    async def run_turn(self, text: str) -> None:
        """Consume the events of one turn."""
        assert self._conversation
        try:
            async with aclosing(self._conversation.send(text)) as turn:
                async for event in turn:
                    self._take(event)
        except OllmError as error:
            self._note(error, f"error-{time.monotonic_ns()}")
        finally:
            self._busy = False
        self._show_facts()
        self._status.show_doing(IDLE)
        self._next()

    def _take(self, event: AnyTurnEvent) -> None:
        match event:
            case TurnStarted():
                self._transcript.add(_entry(event.user_message))
                self._begun = time.monotonic()
            case ReplyStarted():
                self._reply = event.message_id
                entry = Entry(event.message_id, "assistant")
                entry.growing = True
                self._transcript.add(entry)
                self._status.show_doing(f"{BUSY}   waiting for the first word")
            case Prepared():
                share = "" if event.fraction is None else f" {event.fraction:.0%}"
                self._status.show_doing(f"{BUSY}   {event.what}{share}")
            case ReasoningArrived():
                self._status.show_doing(f"{BUSY}   thinking")
            case TextArrived():
                self._draw_soon(event.text)
            case ToolCallRequested():
                self._status.show_doing(f"{BUSY}   asks for {event.call.name}")
            case PromptCut():
                text = f"{event.message}\n{event.hint}".strip()
                self._transcript.add(Entry(f"cut-{self._reply}", "error", text))
            case SaveFailed():
                if not self._unsaved:
                    self._note(OllmError(event.message, event.hint), f"unsaved-{self._reply}")
                self._unsaved = True
                self._show_facts()
            case SaveResumed():
                self._unsaved = False
                self._show_facts()
            case TurnFinished() | TurnCancelled():
                self._end(event.message)
            case TurnFailed():
                self._end(event.message)
                text = f"{event.error}\n{event.hint}".strip()
                self._transcript.add(Entry(f"failed-{self._reply}", "error", text))
            case _:
                assert_never(event)

    def _draw_soon(self, text: str) -> None:
        if not self._arrived:
            self._status.show_doing(f"{BUSY}   answering")
        self._arrived.append(text)
        if self._frame is None:
            self._frame = self.set_timer(FRAME_SECONDS, self._draw)

    def _draw(self) -> None:
        self._frame = None
        if self._arrived:
            text = "".join(self._arrived)
            self._arrived.clear()
            self._transcript.grow(self._reply, text)

    def _end(self, message: Message | None) -> None:
        if self._frame:
            self._frame.stop()
        self._draw()
        self._transcript.finish(self._reply, _footer(message) if message else "")

    def _note(self, error: OllmError, key: str) -> None:
        text = f"{error.message}\n{error.hint}".strip()
        self._transcript.add(Entry(key, "error", text))

    def _show_facts(self) -> None:
        if not self._conversation:
            return
        choice = self._conversation.choice
        used = self._conversation.state.header.metadata.token_count
        wide = self.size.width >= WIDE
        who = f"{choice.model} · {choice.provider.name}" if wide else choice.model
        window = f"{used:,} tokens"
        if choice.window:
            share = f"{used / choice.window:.0%} of {choice.window:,}"
            window = f"{used:,} of {choice.window:,}" if wide else share
        saved = "saved" if len(self._conversation.state) else ""
        if self._unsaved:
            who, saved = "", "NOT SAVED"
        self._status.show_facts("   ".join(fact for fact in (who, window, saved) if fact))

    def on_resize(self) -> None:
        """What the line below says depends on the room there is."""
        self._show_facts()

    @property
    def _transcript(self) -> Transcript:
        return self.query_one(Transcript)

    @property
    def _status(self) -> StatusLine:
        return self.query_one(StatusLine)


def _entries(messages: Iterable[Message]) -> list[Entry]:
    return [_entry(message) for message in messages]


def _entry(message: Message) -> Entry:
    speaker = "user" if message.role == "user" else "assistant"
    footer = _footer(message) if speaker == "assistant" else ""
    return Entry(message.id, speaker, message.text, footer)


def _footer(message: Message) -> str:
    facts = [_ENDINGS.get(message.status, ""), message.error or ""]
    usage = message.usage
    if usage:
        facts.append(f"{usage.output_tokens:,} tokens")
        if usage.output_seconds:
            facts.append(f"{usage.output_tokens / usage.output_seconds:.0f} tok/s")
    return " · ".join(fact for fact in facts if fact)
