"""A turn on the screen: the engine's events become entries of the stream and words of state.

Words that arrive within one frame are drawn together, so drawing costs the same at any speed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import assert_never

from msgspec.structs import replace
from textual.timer import Timer

from ollm_tui.core.compression_events import AnyCompressionEvent, CompressionEvent
from ollm_tui.core.counts import percent
from ollm_tui.core.errors import OllmError
from ollm_tui.core.events import (
    AnyTurnEvent,
    Prepared,
    PromptCut,
    PromptTooLong,
    Queued,
    ReasoningArrived,
    ReplyStarted,
    SaveFailed,
    SaveResumed,
    SnapshotFailed,
    TextArrived,
    ToolCallRequested,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from ollm_tui.core.session.message import Message, ToolCallPart
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.tool_events import AnyToolEvent, ReplyFinished, ToolEvent
from ollm_tui.engine.turn.stray_calls import without_call
from ollm_tui.tui.chat.first_word import Waiting
from ollm_tui.tui.chat.state_lines import StateLines
from ollm_tui.tui.chat.words import FIRST_WORD
from ollm_tui.tui.conversations.events_so_far import EventsSoFar
from ollm_tui.tui.stream.entries.compression_entries import with_compressions
from ollm_tui.tui.stream.entries.job_entries import with_commands
from ollm_tui.tui.stream.entries.message_entries import (
    REASONING,
    begun_entry,
    branch_entries,
    details_of,
    entry_of,
    footer_of,
    model_note,
    reasoning_title,
    stamp_of,
)
from ollm_tui.tui.stream.entries.tool_entries import ToolBlock, ToolFold, with_loops
from ollm_tui.tui.stream.transcript.entry import Entry, Fold
from ollm_tui.tui.stream.transcript.transcript import Transcript

TICK_SECONDS = 1.0
FRAME_SECONDS = 1 / 20
"""Fast enough to look continuous; a third fewer paints than 30 a second."""

LIVE_SECONDS = 1 / 5
"""How often the gauge follows an answer: more often nobody reads its numbers."""


class TurnDisplay:
    """Shows the turns of one conversation, and in `lines` what is going on."""

    def __init__(
        self,
        transcript: Transcript,
        state: SessionState,
        lines: StateLines,
        show_compression: Callable[[AnyCompressionEvent], None],
        show_tools: Callable[[AnyToolEvent | None], None],
    ) -> None:
        """`show_tools` also gets None, at the end of a turn in which there were tools."""
        self._transcript = transcript
        self._show_compression = show_compression
        self._show_tools = show_tools
        self._has_tools = False
        self._state = state
        self._lines = lines
        self._question = ""
        self._reply = ""
        self._continued: Message | None = None
        """The stopped answer that the next reply goes on with."""
        self._is_answering = False
        self._text: list[str] = []
        self._thought: list[str] = []
        self._thinking_since: float | None = None
        self._frame: asyncio.TimerHandle | None = None
        self._measured_at = 0.0
        """When the gauge was last told of the answer."""
        self._waiting = Waiting()
        self._clock: Timer | None = None
        """Ticks while the first word is waited for."""
        self._now: Callable[[], float] = time.monotonic
        """Tells the time; when events are shown late, the time they came at."""
        self._is_too_long = False
        """Whether the turn ended because its prompt does not fit."""
        self._missing_snapshots: list[Entry] = []
        """Notes since the last message that a snapshot could not be taken. No session has them, so
        they are added whenever the branch is shown."""

    def leave(self) -> None:
        """Draw nothing until `catch_up`: another conversation is shown."""
        self._stop_waiting()
        if self._frame:
            self._frame.cancel()
            self._frame = None
        self._text.clear()
        self._thought.clear()
        self._has_tools = self._is_answering = False
        self._thinking_since = None

    def catch_up(self, so_far: EventsSoFar) -> None:
        """Show the branch, and what runs in it, as if all of it had been watched."""
        question = so_far.question
        if question is None:
            self.show_branch()
        elif question.parent_id:
            self._transcript.show(self._branch(question.parent_id))
        else:
            self._transcript.show(())
        for at, event in so_far.all():
            self._now = lambda at=at: at
            self.take(event)
        self._now = time.monotonic
        self._show_waiting()

    def take(self, event: AnyTurnEvent) -> None:
        """Show one event."""
        match event:
            case TurnStarted():
                self._missing_snapshots.clear()
                self._is_too_long = False
                self._waiting = Waiting(lambda: self._now())
                self._lines.alarm("")
                self._question = event.user_message.id
                self._continued = event.continues
                if event.continues is None:
                    self._show_question(event.user_message)
                elif event.continues.id not in self._transcript.stack:
                    self._transcript.show(self._branch(event.continues.id))
                self._lines.show_facts()
            case ReplyStarted():
                self._begin_reply(event.message_id, event.model)
            case Prepared():
                share = "" if event.fraction is None else f" {percent(event.fraction)}"
                self._lines.show_doing(f"{event.what}{share}")
                self._waiting.note(event.what, event.fraction)
                self._show_waiting()
            case Queued():
                self._lines.show_doing(event.words if event.place else FIRST_WORD)
                self._waiting.note(event.words if event.place else FIRST_WORD, None)
                self._show_waiting()
            case ReasoningArrived():
                self._think(event.text)
            case TextArrived():
                self._say(event.text)
            case ToolCallRequested():
                self._draw()
                self._take_out_of_words(event.call)
                self._transcript.put_fold(self._reply, ToolFold(ToolBlock(event.call)))
                self._lines.show_doing(f"asks for {event.call.name}")
            case ToolEvent():
                self._take_tools(event)
            case PromptCut():
                self.note_error(OllmError(event.message, event.hint), f"cut-{self._reply}")
                self._lines.alarm(event.message)
            case CompressionEvent():
                self._show_compression(event)
            case PromptTooLong():
                self._is_too_long = True  # the block above the prompt says so, once
            case SaveFailed():
                self._note_unsaved(event)
            case SaveResumed():
                self._lines.unsaved = ""
                self._lines.show_saving()
            case TurnFinished() | TurnCancelled():
                self._end(event.message)
            case TurnFailed():
                self._end(event.message and replace(event.message, error=None))
                if not self._is_too_long:
                    self.note_error(OllmError(event.error, event.hint), f"failed-{self._reply}")
            case _:
                assert_never(event)

    def _take_out_of_words(self, call: ToolCallPart) -> None:
        """Remove a call from the words of an answer it was written into: it is shown as a call."""
        entry = self._transcript.entry(self._reply)
        words = without_call(entry.text, call)
        if words != entry.text:
            shown = Entry(entry.key, entry.speaker, words, folds=entry.folds)
            shown.growing = entry.growing
            self._transcript.replace(shown)

    def _take_tools(self, event: AnyToolEvent) -> None:
        self._has_tools = True
        if isinstance(event, ReplyFinished):
            self._end_reply(event.message)
        else:
            self._draw()
        self._show_tools(event)

    def note_error(self, error: OllmError, key: str) -> None:
        """Show in the stream what went wrong and what to do, at the place where it happened."""
        text = error.lines
        self._transcript.add(Entry(key, "error", text))

    def note_missing_snapshot(self, failed: SnapshotFailed) -> None:
        """Show that a snapshot could not be taken. The note stays when another branch is
        shown: going back takes a snapshot first."""
        key = f"unkept-{time.monotonic_ns()}"
        entry = Entry(key, "error", OllmError(failed.message, failed.hint).lines)
        self._missing_snapshots.append(entry)
        self._transcript.add(entry)

    def show_branch(self) -> None:
        """Show the current branch from its first message."""
        self._transcript.show([*self._branch(None), *self._missing_snapshots])

    def _branch(self, leaf: str | None) -> list[Entry]:
        """Return the entries of a branch: what was said and run, compressions and loops."""
        entries = branch_entries(self._state, leaf)
        metadata = self._state.header.metadata
        said = [key for entry in entries for key in (entry.key, *entry.covers)]
        compressed = with_compressions(entries, metadata, said, self._lines.hints)
        return with_commands(with_loops(compressed, self._state), self._state, self._shown)

    def _shown(self, key: str) -> Entry | None:
        return self._transcript.entry(key) if key in self._transcript.stack else None

    def _note_unsaved(self, event: SaveFailed) -> None:
        """Tell once in the stream that saving fails, and below it for as long as it does."""
        if not self._lines.unsaved:
            self.note_error(OllmError(event.message, event.hint), f"unsaved-{time.monotonic_ns()}")
        self._lines.unsaved = event.message
        self._lines.show_saving()

    def _show_question(self, message: Message) -> None:
        """Show a user message at the end if it follows what is shown, else with its branch."""
        shown = self._transcript.keys
        if message.id not in shown and (message.parent_id in shown[-1:] or not shown):
            self._transcript.add(entry_of(message, self._state))
        elif message.id in shown or not self._is_end_of(shown, message):
            self._transcript.show(self._branch(message.id))
        else:
            self._transcript.add(entry_of(message, self._state))

    def _is_end_of(self, keys: list[str], message: Message) -> bool:
        """Whether a message follows what is shown. Results of tools have no entries to compare:
        they stand within replies."""
        shown = [self._state[key] for key in keys if key in self._state]
        before = self._state.branch(message.id)[:-1]
        return _said(before) == _said(shown)

    def _begin_reply(self, message_id: str, model: str) -> None:
        self._reply = message_id
        stopped, self._continued = self._continued, None
        if stopped:  # its own version leaves the screen, and this one begins with its words
            self._transcript.show(self._branch(stopped.parent_id))
        if note := model_note(self._state, self._question, message_id, model):
            self._transcript.add(note)
        self._is_answering = False
        self._thinking_since = None
        entry = begun_entry(message_id, stopped)
        entry.growing = True
        self._transcript.add(entry)
        self._lines.show_doing(FIRST_WORD)
        self._begin_waiting()

    def _begin_waiting(self) -> None:
        """Show what is waited for where the answer will be, anew each second."""
        self._stop_waiting()
        self._waiting.begin(FIRST_WORD)
        self._clock = self._transcript.set_interval(TICK_SECONDS, self._show_waiting)
        self._show_waiting()

    def _stop_waiting(self) -> None:
        if self._clock:
            self._clock.stop()
            self._clock = None

    def _show_waiting(self) -> None:
        if self._clock and self._reply in self._transcript.stack:
            words = self._waiting.words(self._lines.prompt_tokens)
            self._transcript.wait_for(self._reply, words)

    def _think(self, text: str) -> None:
        self._stop_waiting()
        if self._thinking_since is None:
            self._thinking_since = self._now()
            self._lines.show_doing("thinking")
        self._thought.append(text)
        self._draw_soon()

    def _say(self, text: str) -> None:
        self._stop_waiting()
        if self._thinking_since is not None:
            self._end_thinking()
        if not self._is_answering:
            self._is_answering = True
            self._lines.show_doing("answering")
        self._text.append(text)
        self._draw_soon()

    def _end_thinking(self) -> None:
        assert self._thinking_since is not None
        self._draw()
        seconds = self._now() - self._thinking_since
        self._thinking_since = None
        self._transcript.retitle_fold(self._reply, REASONING, reasoning_title("", seconds))

    def _draw_soon(self) -> None:
        if self._frame is None:
            # No timer of Textual: each of them is a task, and there are thirty a second.
            self._frame = asyncio.get_running_loop().call_later(FRAME_SECONDS, self._draw)

    def _draw(self) -> None:
        if self._frame:
            self._frame.cancel()
            self._frame = None
        if not self._transcript.is_attached:
            return  # the program has ended meanwhile
        if self._thought:
            text = "".join(self._thought)
            self._thought.clear()
            fold = Fold(REASONING, "reasoning", "thinking …", text)
            self._transcript.grow_fold(self._reply, fold)
        if self._text:
            text = "".join(self._text)
            self._text.clear()
            self._transcript.grow(self._reply, text)
        if self._now() - self._measured_at >= LIVE_SECONDS or not self._is_answering:
            self._measured_at = self._now()
            self._lines.show_live()

    def _end(self, message: Message | None) -> None:
        if self._has_tools:
            self._has_tools = False
            self._show_tools(None)
        self._end_reply(message)

    def _end_reply(self, message: Message | None) -> None:
        self._stop_waiting()
        if self._thinking_since is not None:
            self._end_thinking()
        self._draw()
        if message is not None and message.id != self._reply:
            self.show_branch()  # nothing came to go on with: the stopped answer is the last one
        elif message is not None:
            footer = footer_of(message, self._state)
            self._transcript.finish(self._reply, footer, details_of(message), stamp_of(message))
        elif self._transcript.entry(self._reply).growing:
            self._transcript.finish(self._reply)


def _said(messages: Iterable[Message]) -> list[Message]:
    return [message for message in messages if message.role != "tool"]
