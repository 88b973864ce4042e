"""Compressions of a chat screen: in a worker, seen in the panel, while one goes on typing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import NamedTuple

from ollm_tui.core.compression_events import (
    AnyCompressionEvent,
    CompressionCancelled,
    CompressionSkipped,
)
from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.session.compression import Compression, Strategy
from ollm_tui.engine.compression.conversation_compression import ConversationCompression
from ollm_tui.tui.chat.port import ChatPort
from ollm_tui.tui.compression.compression_display import CompressionDisplay
from ollm_tui.tui.compression.panel import CompressionPanel
from ollm_tui.tui.compression.preview import (
    Applied,
    CompressionPreview,
    Decision,
    StartOver,
)
from ollm_tui.tui.stream.transcript.entry import Entry

Events = AsyncGenerator[AnyCompressionEvent, None]


class Asked(NamedTuple):
    """What is compressed, and how: this stays where the summary is written anew."""

    strategy: Strategy | None = None
    above: str | None = None
    fold_own: bool = False

    def run(self, compression: ConversationCompression, instructions: str = "") -> Events:
        """Compress."""
        return compression.run(
            strategy=self.strategy,
            above=self.above,
            instructions=instructions,
            fold_own=self.fold_own,
        )

    def preview(self, compression: ConversationCompression, instructions: str = "") -> Events:
        """All of it but the last step."""
        return compression.preview(
            strategy=self.strategy,
            above=self.above,
            instructions=instructions,
            fold_own=self.fold_own,
        )


def display_of(chat: ChatPort) -> CompressionDisplay:
    """Shows the compressions of the conversation that is open now."""
    panels = chat.screen.query(CompressionPanel)
    if panels:
        panel = panels.first()
    else:
        panel = CompressionPanel(unicode=chat.app.abilities.unicode)
        chat.screen.query_one("#middle").mount(panel)

    def make() -> CompressionDisplay:
        state, hints = chat.conversation.state, chat.lines.hints
        return CompressionDisplay(chat.transcript, panel, lambda: state.header.metadata, hints)

    return chat.part(CompressionDisplay, make)


def start(chat: ChatPort, asked: Asked, instructions: str = "") -> None:
    """Have a compression run. UsageError while the model answers."""
    _start(chat, asked.run(chat.conversation.compression, instructions), asked)


def start_due(chat: ChatPort) -> None:
    """The context has reached the threshold, as far as was estimated."""
    _start(chat, _unless_needless(chat.conversation.compression.run("auto")), Asked())


def _start(chat: ChatPort, events: Events, asked: Asked) -> None:
    if chat.is_busy:
        raise UsageError("the model is still answering", "Esc stops it")
    chat.is_busy = True
    chat.lines.show_doing("compressing the context; what you send meanwhile waits")
    chat.screen.run_worker(_run(chat, events, asked), group="turn")


def preview(chat: ChatPort, asked: Asked, instructions: str = "") -> None:
    """Show what a compression would do, and let the user decide. UsageError while the model
    answers."""
    if chat.is_busy:
        raise UsageError("the model is still answering", "Esc stops it")
    compression = chat.conversation.compression
    events = asked.preview(compression, instructions)
    screen = CompressionPreview(instructions, unicode=chat.app.abilities.unicode)

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
                preview(chat, asked, wanted.instructions)
            case None:
                chat.go_on()

    chat.is_busy = True
    chat.ask(screen, decide)
    worker = chat.screen.run_worker(follow(), group="turn")


async def _apply(chat: ChatPort, wanted: Applied) -> None:
    done = await chat.conversation.compression.apply(wanted.draft, wanted.summary)
    display_of(chat).show_new(done)
    chat.tell(f"compressed: {tokens_words(done)}")
    chat.go_on()


async def _unless_needless(events: Events) -> Events:
    """Nobody asked for it: that there was room after all is nothing to be told."""
    async with aclosing(events):
        async for event in events:
            if not (isinstance(event, CompressionSkipped) and event.reason == "nothing-to-do"):
                yield event


def edit_first(chat: ChatPort) -> None:
    """The compression that runs stops before it is applied, and its summary can be edited.

    UsageError where it is too late.
    """
    compression = chat.conversation.compression
    if not compression.hold():
        undo = chat.lines.hints.line(("compression.undo", "undoes it afterwards"))
        raise UsageError("this one cannot be edited before it is applied", undo)
    _let_decide(chat)


def _let_decide(chat: ChatPort) -> None:
    compression, view = chat.conversation.compression, display_of(chat)
    decision = view.decision = asyncio.get_running_loop().create_future()

    def decide(wanted: Decision) -> None:
        compression.stop()
        decision.set_result(wanted)

    chat.ask(view.preview(unicode=chat.app.abilities.unicode), decide)


async def _run(chat: ChatPort, events: Events, asked: Asked) -> None:
    view = display_of(chat)
    try:
        await _follow(view, events)
        while view.decision:
            await _decided(chat, view, await view.decision, asked)
    except OllmError as error:
        text = f"{error.message}\n{error.hint}".strip()
        chat.transcript.add(Entry(f"error-{time.monotonic_ns()}", "error", text))
    finally:
        view.decision = None
        chat.is_busy = False
    chat.go_on()


async def _follow(view: CompressionDisplay, events: Events) -> None:
    async with aclosing(events):
        async for event in events:
            view.take(event)


async def _decided(
    chat: ChatPort, view: CompressionDisplay, wanted: Decision, asked: Asked
) -> None:
    """Apply the draft, have its summary written anew, or leave the context as it is."""
    compression = chat.conversation.compression
    view.decision = None
    match wanted:
        case Applied():
            view.show_new(await compression.apply(wanted.draft, wanted.summary))
        case StartOver():
            _let_decide(chat)
            await _follow(view, asked.preview(compression, wanted.instructions))
        case None:
            view.take(CompressionCancelled())


def tokens_words(compression: Compression) -> str:
    """The tokens before and after it, or before and after it was undone."""
    before, after = compression.before_tokens, compression.after_tokens
    return f"{after:,} → {before:,} tokens" if compression.undone_at else f"{before:,} → {after:,}"
