"""Compressions of a chat screen: in a worker, seen in the panel, while one goes on typing."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from ollm_tui.core.compression_events import AnyCompressionEvent, CompressionSkipped
from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.tui.compression_view import CompressionView
from ollm_tui.tui.screens.chat import ChatScreen
from ollm_tui.tui.transcript.entry import Entry
from ollm_tui.tui.widgets.compression_panel import CompressionPanel


def view_of(chat: ChatScreen) -> CompressionView:
    """Shows the compressions of the conversation that is open now."""
    panels = chat.query(CompressionPanel)
    if panels:
        panel = panels.first()
    else:
        panel = CompressionPanel(unicode=chat.app.abilities.unicode)
        chat.query_one("#middle").mount(panel)
    view = chat.compression_view
    if view is None:
        keeper = chat.conversation.compression
        view = CompressionView(chat.transcript, panel, lambda: keeper.history)
        chat.compression_view = view
    return view


def start(chat: ChatScreen, events: AsyncGenerator[AnyCompressionEvent, None]) -> None:
    """Have a compression run. UsageError while the model answers."""
    if chat.is_busy:
        raise UsageError("the model is still answering", "Esc stops it")
    chat.is_busy = True
    chat.lines.show_doing("compressing the context; what you send meanwhile waits")
    chat.run_worker(_run(chat, events), group="turn")


def start_due(chat: ChatScreen) -> None:
    """The context has reached the threshold, as far as was estimated."""
    start(chat, _unless_needless(chat.conversation.compression.run("auto")))


async def _unless_needless(
    events: AsyncGenerator[AnyCompressionEvent, None],
) -> AsyncGenerator[AnyCompressionEvent, None]:
    """Nobody asked for it: that there was room after all is nothing to be told."""
    async with aclosing(events):
        async for event in events:
            if not (isinstance(event, CompressionSkipped) and event.reason == "nothing-to-do"):
                yield event


async def _run(chat: ChatScreen, events: AsyncGenerator[AnyCompressionEvent, None]) -> None:
    view = view_of(chat)
    try:
        async with aclosing(events):
            async for event in events:
                view.take(event)
    except OllmError as error:
        text = f"{error.message}\n{error.hint}".strip()
        chat.transcript.add(Entry(f"error-{time.monotonic_ns()}", "error", text))
    finally:
        chat.is_busy = False
    chat.go_on()
