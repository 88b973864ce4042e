"""The headless front end: prints the events of one turn as text or JSON, without a screen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Literal, TextIO, assert_never, get_args

import msgspec

from ollm_tui.core.compression_events import (
    AnyCompressionEvent,
    CompressionEvent,
    CompressionFailed,
    CompressionSkipped,
    ContextCompressed,
    StageReached,
)
from ollm_tui.core.counts import counted, percent
from ollm_tui.core.errors import OllmError
from ollm_tui.core.events import (
    AnyTurnEvent,
    MessageRecorded,
    Prepared,
    PromptCut,
    PromptTooLong,
    Queued,
    ReasoningArrived,
    ReplyStarted,
    SaveFailed,
    SaveResumed,
    SessionCreated,
    SessionSaved,
    SnapshotEvent,
    TextArrived,
    ToolCallRecorded,
    ToolCallRequested,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from ollm_tui.core.intake import visible
from ollm_tui.core.session.encoding import to_tree
from ollm_tui.core.session.message import Message
from ollm_tui.core.tool_events import (
    AnyToolEvent,
    ModelNudged,
    ReplyFinished,
    ToolEvent,
    ToolFinished,
    ToolStarted,
)
from ollm_tui.engine.project.outside_events import event_tree

if TYPE_CHECKING:
    from ollm_tui.engine.context.context_view import ContextView
    from ollm_tui.engine.conversation.conversation import Conversation

OutputFormat = Literal["text", "json", "stream-json"]

_BESIDE = (
    *get_args(SnapshotEvent),
    *(SessionCreated, MessageRecorded, ToolCallRecorded, SessionSaved),
)
BESIDE_TURNS = frozenset(str(each.__struct_config__.tag) for each in _BESIDE)
"""The events that come from elsewhere than the turn."""

EXIT_OK, EXIT_FAILED, EXIT_INTERRUPTED = 0, 1, 130


async def with_room(
    conversation: Conversation, turn: AsyncGenerator[AnyTurnEvent, None]
) -> AsyncGenerator[AnyTurnEvent, None]:
    """Yield the events of a turn and, before it, of a compression that is due.

    Nobody can be asked here, so the compression may fold the user's own messages too.
    """
    if conversation.on_overflow == "compress":
        conversation.compression.folds_own = True
        if conversation.compression.is_due:
            async with aclosing(conversation.compression.run("auto")) as events:
                async for event in events:
                    yield event
    async with aclosing(turn):
        async for event in turn:
            yield event


async def length_notice(conversation: Conversation) -> str:
    """Return a line that says so if the session has become long; else nothing."""
    if not await conversation.became_long():
        return ""
    items = counted(len(conversation.state), "item")
    return f"this session has {items} (retention.maxItems); continuing here"


def context_tree(view: ContextView) -> dict[str, Any]:
    """Return the number that the gauge shows: tokens, the window, and whether it is no estimate."""
    room = view.budget.room
    return {
        "tokens": view.count.tokens,
        "window": room.window if room else None,
        "exact": view.count.source != "estimated",
    }


class Headless:
    """Prints one turn as it happens; everything but the answer goes to the error stream."""

    def __init__(
        self,
        output: OutputFormat,
        out: TextIO,
        err: TextIO,
    ) -> None:
        self._output: OutputFormat = output
        self.context: Callable[[], ContextView] | None = None
        """Gives the view of the context after the turn, for JSON; known once a session is open."""
        self._out = out
        self._err = err
        self._session_id = ""
        self._progress_shown = False
        self._unsaved = False
        self._ends_line = True

    async def show(self, events: AsyncGenerator[AnyTurnEvent, None]) -> int:
        """Print a turn and return the exit code."""
        code = EXIT_FAILED
        try:
            async with aclosing(events):  # if printing fails, the reply is still recorded
                async for event in events:
                    code = self._take(event, code)
        except asyncio.CancelledError:
            self._end_line()
            raise
        return EXIT_FAILED if code == EXIT_OK and self._unsaved else code

    def hear(self, tree: dict[str, Any]) -> None:
        """Print an event of the store or of snapshots, which are no part of a turn, as JSON."""
        if self._output == "stream-json" and tree["event"] in BESIDE_TURNS:
            self._print_json(tree)

    def refuse(self, error: OllmError) -> None:
        """Print an error before the turn as JSON; in text mode the caller reports it."""
        failure = TurnFailed(error.message, error.hint, type(error).__name__, None)
        if self._output == "stream-json":
            self._print_json(event_tree(failure))
        elif self._output == "json":
            self._print_json(self._answer_tree(None, failure))

    def _take(self, event: AnyTurnEvent, code: int) -> int:
        if self._output == "stream-json":
            self._print_json(event_tree(event))
        match event:
            case TurnStarted():
                self._session_id = event.session_id
            case Prepared():
                self._show_progress(event)
            case Queued():
                pass  # here nobody else asks
            case TextArrived():
                self._clear_progress()
                if self._output == "text":
                    self._write(event.text)
            case SaveFailed():
                self._unsaved = True
                self._complain(event.message, event.hint)
            case SaveResumed():
                self._unsaved = False
                self._complain(f"saved again: {event.saved} records")
            case CompressionEvent():
                self.tell_compression(event)
            case PromptCut():
                self._complain(f"warning: {event.message}", event.hint)
            case TurnFinished():
                self._end(event.message)
                return EXIT_OK
            case TurnCancelled():
                self._end(event.message)
                return EXIT_INTERRUPTED
            case TurnFailed():
                self._end(event.message, event)
                return EXIT_FAILED
            case ToolEvent():
                self._tell_tool(event)
            case ReplyStarted() | ReasoningArrived() | PromptTooLong() | ToolCallRequested():
                pass  # PromptTooLong is followed by a failure, which is printed
            case _:
                assert_never(event)
        return code

    def _tell_tool(self, event: AnyToolEvent) -> None:
        """Print what the model did with tools and what failed."""
        match event:
            case ReplyFinished():
                self._clear_progress()
                self._end_line()
            case ToolStarted():
                self._complain(f"{event.call.name}: {event.action.subject}")
            case ToolFinished() if event.result.is_error:
                self._complain(f"{event.result.name}: {event.result.content}")
            case ModelNudged():
                self._complain(f"the model {event.found.evidence}; telling it so")
            case _:
                pass  # nobody can be asked here; a loop is followed by a failure, which is printed

    def tell_compression(self, event: AnyCompressionEvent) -> None:
        """Print how a compression ended; its stages only if the error stream is a terminal."""
        match event:
            case ContextCompressed():
                self._complain(event.compression.words, event.compression.note)
            case CompressionSkipped():
                self._complain(f"not compressed: {event.message}", event.hint)
            case CompressionFailed():
                self._complain(f"not compressed: {event.error}", event.hint)
            case StageReached():
                self._show_progress(Prepared(f"compressing the context: {event.stage}"))
            case _:
                pass  # of no interest without a screen

    def _end(self, message: Message | None, failure: TurnFailed | None = None) -> None:
        self._clear_progress()
        if self._output == "json":
            self._print_json(self._answer_tree(message, failure))
        self._end_line()
        if message and message.status == "length":
            self._complain("the answer was cut at the output limit", "ask the model to continue")
        if failure:
            self._complain(failure.error, failure.hint)

    def _answer_tree(self, message: Message | None, failure: TurnFailed | None) -> dict[str, Any]:
        tree: dict[str, Any] = {"sessionId": self._session_id or None}
        if message:
            tree |= {
                "messageId": message.id,
                "model": message.model,
                "provider": message.provider,
                "status": message.status,
                "text": message.text,
                "reasoning": message.reasoning or None,
                "usage": to_tree(message.usage) if message.usage else None,
            }
        if self.context and self._session_id:
            tree["context"] = context_tree(self.context())
        if failure:
            tree["error"] = {"kind": failure.kind, "message": failure.error, "hint": failure.hint}
        return tree

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
        self._ends_line = text.endswith("\n")

    def _end_line(self) -> None:
        if not self._ends_line:
            self._write("\n")

    def _print_json(self, tree: dict[str, Any]) -> None:
        self._write(msgspec.json.encode(tree).decode() + "\n")

    def _show_progress(self, event: Prepared) -> None:
        if self._err.isatty():
            share = "" if event.fraction is None else f" {percent(event.fraction)}"
            self._err.write(f"\r\x1b[K{event.what}{share}")
            self._err.flush()
            self._progress_shown = True

    def _clear_progress(self) -> None:
        if self._progress_shown:
            self._err.write("\r\x1b[K")
            self._err.flush()
            self._progress_shown = False

    def _complain(self, message: str, hint: str = "") -> None:
        self._clear_progress()
        self._end_line()
        self._err.write(visible(f"ollm: {message}{f' ({hint})' if hint else ''}") + "\n")
        self._err.flush()
