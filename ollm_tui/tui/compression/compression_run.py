"""Runs the compressions of a chat in a worker, and shows them in the panel and in the stream."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import NamedTuple, assert_never

from ollm_tui.core.compression_events import (
    AnyCompressionEvent,
    CheckpointAged,
    CheckpointCreated,
    CompressionCancelled,
    CompressionDrafted,
    CompressionFailed,
    CompressionSkipped,
    CompressionStarted,
    ContextCompressed,
    DataElided,
    LedgerMade,
    MessageFolded,
    SnapshotTaken,
    StageReached,
    SummaryArrived,
    SummaryReading,
    SummaryRejected,
    UserMessagesFill,
)
from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.session.compression import Compression, Strategy
from ollm_tui.core.session.session import Metadata, compressed
from ollm_tui.engine.compression.conversation_compression import (
    NO_CHOICES,
    Choices,
    ConversationCompression,
)
from ollm_tui.tui.chat.port import ChatPort
from ollm_tui.tui.compression.panel import CompressionPanel
from ollm_tui.tui.compression.preview import (
    Applied,
    BeforeAndAfter,
    CompressionPreview,
    Decision,
    StartOver,
)
from ollm_tui.tui.compression.screen import CompressionScreen
from ollm_tui.tui.compression.words import (
    COMPRESSING,
    NOT_EDITABLE,
    Ending,
    ending_line,
    fill_line,
    tokens_words,
)
from ollm_tui.tui.keymap import Hints
from ollm_tui.tui.kit.words import STILL_ANSWERING, STOP_FIRST
from ollm_tui.tui.stream.entries.compression_entries import UNCHANGED, compression_entries
from ollm_tui.tui.stream.transcript.entry import Entry, Speaker
from ollm_tui.tui.stream.transcript.transcript import Transcript

_ENDED, _FILLED = "compression-ended", "compression-filled"
"""Keys of entries that only the last compression has; else they would come again and again."""


class CompressionDisplay:
    """Shows the compressions of one conversation; `metadata` returns those that are recorded."""

    def __init__(
        self,
        transcript: Transcript,
        panel: CompressionPanel,
        metadata: Callable[[], Metadata],
        hints: Hints = UNCHANGED,
    ) -> None:
        self._transcript = transcript
        self._panel = panel
        self._metadata = metadata
        self._hints = hints
        self._screen: CompressionScreen | CompressionPreview | None = None

    def take(self, event: AnyCompressionEvent) -> None:
        """Show one event."""
        self._panel.take(event)
        if self._screen and self._screen.is_attached:
            self._screen.follow()
        match event:
            case CompressionStarted():
                self._transcript.drop(_ENDED)
                self._transcript.drop(_FILLED)
            case UserMessagesFill():
                self._say(_FILLED, "note", fill_line(event))
            case ContextCompressed():
                self.show_new(event.compression)
            case CompressionSkipped() | CompressionCancelled():
                self._end("note", event)
            case CompressionFailed():
                self._end("error", event)
            case (
                StageReached()
                | SnapshotTaken()
                | DataElided()
                | MessageFolded()
                | SummaryArrived()
                | SummaryRejected()
                | LedgerMade()
                | SummaryReading()
                | CheckpointCreated()
                | CheckpointAged()
                | CompressionDrafted()
            ):
                pass  # seen in the panel while they matter
            case _:
                assert_never(event)

    def leave(self) -> None:
        """Show nothing any more: another conversation is shown from now on."""
        self._panel.leave()

    def whole_screen(
        self,
        cancel: Callable[[], object],
        edit: Callable[[], object],
        *,
        unicode: bool = True,
    ) -> CompressionScreen:
        """Return a screen that follows the compression that runs, or shows the last one."""
        self._screen = CompressionScreen(self._panel.progress, cancel, edit, unicode=unicode)
        return self._screen

    def preview(
        self, *, unicode: bool = True, before_and_after: BeforeAndAfter | None = None
    ) -> CompressionPreview:
        """Return a screen that previews the compression that runs, before it is applied."""
        self._screen = CompressionPreview(
            progress=self._panel.progress, unicode=unicode, before_and_after=before_and_after
        )
        return self._screen

    def show_records(self) -> None:
        """Update the records in the stream after a compression was undone or made again."""
        self._show(self._metadata())

    def show_new(self, compression: Compression) -> None:
        """Add the record of a compression at the end of the stream."""
        metadata = self._metadata()
        # The event may come before the compression is on record.
        if compression.number not in {each.number for each in metadata.compression_history}:
            metadata = compressed(metadata, compression)
        self._show(metadata, added=compression)

    def _show(self, metadata: Metadata, added: Compression | None = None) -> None:
        records = compression_entries(metadata, self._hints)
        for compression, entry in zip(metadata.compression_history, records, strict=True):
            is_shown = entry.key in self._transcript.stack
            if is_shown and self._transcript.plain_text(entry.key) != entry.text:
                self._transcript.replace(entry)
            elif not is_shown and added and compression.number == added.number:
                self._transcript.add(entry)

    def _end(self, speaker: Speaker, ending: Ending) -> None:
        self._say(_ENDED, speaker, ending_line(ending))

    def _say(self, key: str, speaker: Speaker, text: str) -> None:
        """Add an entry at the end of the stream, in place of the one that had this key before."""
        self._transcript.drop(key)
        self._transcript.add(Entry(key, speaker, text))


Events = AsyncGenerator[AnyCompressionEvent, None]


@dataclass
class PendingDecision:
    """The user's decision about a draft, if the compression is to wait for one."""

    made: asyncio.Future[Decision] | None = None


class Asked(NamedTuple):
    """What to compress and how; it stays the same when the summary is written again."""

    strategy: Strategy | None = None
    above: str | None = None
    fold_own: bool = False
    target: int | None = None
    choices: Choices = NO_CHOICES

    def run(self, compression: ConversationCompression, instructions: str = "") -> Events:
        """Return the events of a compression that is applied."""
        return compression.run(
            strategy=self.strategy,
            above=self.above,
            instructions=instructions,
            fold_own=self.fold_own,
            target=self.target,
            choices=self.choices,
        )

    def preview(self, compression: ConversationCompression, instructions: str = "") -> Events:
        """Return the events of a compression that ends with a draft."""
        return compression.preview(
            strategy=self.strategy,
            above=self.above,
            instructions=instructions,
            fold_own=self.fold_own,
            target=self.target,
            choices=self.choices,
        )


def display_of(chat: ChatPort) -> CompressionDisplay:
    """Return the display of the open conversation; the panel is mounted with the first one."""
    panels = chat.screen.query(CompressionPanel)
    if panels:
        panel = panels.first()
    else:
        panel = CompressionPanel(unicode=chat.app.abilities.unicode)
        chat.mount_beside(panel)

    def make() -> CompressionDisplay:
        state, hints = chat.conversation.state, chat.lines.hints
        return CompressionDisplay(chat.transcript, panel, lambda: state.header.metadata, hints)

    return chat.part(CompressionDisplay, make)


def start(chat: ChatPort, asked: Asked, instructions: str = "") -> None:
    """Start a compression. UsageError while the model answers."""
    _start(chat, asked.run(chat.conversation.compression, instructions), asked)


def start_due(chat: ChatPort) -> None:
    """Start a compression because the context is estimated to have reached the threshold."""
    _start(chat, _unless_needless(chat.conversation.compression.run("auto")), Asked())


def _start(chat: ChatPort, events: Events, asked: Asked) -> None:
    if chat.is_busy:
        raise UsageError(STILL_ANSWERING, STOP_FIRST)
    chat.is_busy = True
    chat.lines.show_doing(COMPRESSING)
    chat.screen.run_worker(_run(chat, events, asked), group=chat.work_group)


def preview(chat: ChatPort, asked: Asked, instructions: str = "") -> None:
    """Show what a compression would do, and let the user decide. UsageError while the model
    answers."""
    if chat.is_busy:
        raise UsageError(STILL_ANSWERING, STOP_FIRST)
    compression = chat.conversation.compression
    events = asked.preview(compression, instructions)
    screen = CompressionPreview(
        instructions,
        unicode=chat.app.abilities.unicode,
        before_and_after=compression.before_and_after,
        choices=asked.choices,
    )

    async def follow() -> None:
        async with aclosing(events):
            async for event in events:
                screen.take(event)
        chat.is_busy = False

    async def decide(wanted: Decision) -> None:
        compression.stop()
        await worker.wait()
        match wanted:
            case Applied():
                await chat.attempt(lambda: _apply(chat, wanted))
            case StartOver():
                again = asked._replace(choices=wanted.choices)
                preview(chat, again, wanted.instructions)
            case None:
                chat.go_on()

    chat.is_busy = True
    chat.ask(screen, decide)
    worker = chat.screen.run_worker(follow(), group=chat.work_group)


async def _apply(chat: ChatPort, wanted: Applied) -> None:
    done = await chat.conversation.compression.apply(wanted.draft, wanted.summary)
    chat.when_shown(lambda: display_of(chat).show_new(done))
    chat.tell(f"Compressed: {tokens_words(done)}")
    chat.go_on()


async def _unless_needless(events: Events) -> Events:
    """Leave out that there was nothing to do: the user did not ask for this compression."""
    async with aclosing(events):
        async for event in events:
            if not (isinstance(event, CompressionSkipped) and event.reason == "nothing-to-do"):
                yield event


def edit_first(chat: ChatPort) -> None:
    """Have the compression that runs stop before it is applied, and show its preview.

    UsageError if it is too late for that.
    """
    compression = chat.conversation.compression
    if not compression.hold():
        undo = chat.lines.hints.line(("compression.undo", "undoes it later"))
        raise UsageError(NOT_EDITABLE, undo)
    _let_decide(chat)


def _let_decide(chat: ChatPort) -> None:
    """Show the preview of the compression that runs; `decision` gets what the user decides."""
    compression, view = chat.conversation.compression, display_of(chat)
    pending = chat.part(PendingDecision, PendingDecision)
    decision = pending.made = asyncio.get_running_loop().create_future()

    def decide(wanted: Decision) -> None:
        compression.stop()
        decision.set_result(wanted)

    unicode, both = chat.app.abilities.unicode, compression.before_and_after
    chat.ask(view.preview(unicode=unicode, before_and_after=both), decide)


async def _run(chat: ChatPort, events: Events, asked: Asked) -> None:
    pending = chat.part(PendingDecision, PendingDecision)
    try:
        await _follow(chat, events)
        while pending.made:
            await _decided(chat, await pending.made, asked)
    except OllmError as error:
        text = error.lines
        entry = Entry(f"error-{time.monotonic_ns()}", "error", text)
        chat.when_shown(lambda: chat.transcript.add(entry))
    finally:
        pending.made = None
        chat.is_busy = False
    chat.go_on()


async def _follow(chat: ChatPort, events: Events) -> None:
    async with aclosing(events):
        async for event in events:
            chat.take(event)


async def _decided(chat: ChatPort, wanted: Decision, asked: Asked) -> None:
    """Apply the draft, have its summary written anew, or leave the context as it is."""
    compression = chat.conversation.compression
    chat.part(PendingDecision, PendingDecision).made = None
    match wanted:
        case Applied():
            done = await compression.apply(wanted.draft, wanted.summary)
            chat.when_shown(lambda: display_of(chat).show_new(done))
        case StartOver():
            _let_decide(chat)
            again = asked._replace(choices=wanted.choices)
            await _follow(chat, again.preview(compression, wanted.instructions))
        case None:
            chat.take(CompressionCancelled())
