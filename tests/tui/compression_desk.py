"""A stream, a compression panel beside it and a line to type into, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.pilot import Pilot
from textual.widgets import Input

from ollm_tui.core.compression_events import AnyCompressionEvent
from ollm_tui.core.session.compression import CompressedContext, History
from ollm_tui.core.session.session import Metadata
from ollm_tui.tui.compression.compression_run import CompressionDisplay
from ollm_tui.tui.compression.panel import CompressionPanel
from ollm_tui.tui.stream.transcript.entry import Entry
from ollm_tui.tui.stream.transcript.looks import transcript_styles
from ollm_tui.tui.stream.transcript.transcript import Transcript
from ollm_tui.tui.themes import load_theme
from tests.tui.dialog_host import shown


def after(history: History) -> Metadata:
    """A session with these compressions."""
    holding = [each.after for each in history if each.undone_at is None]
    compressed = holding[-1] if holding else CompressedContext()
    return Metadata(compression_history=history, compressed=compressed)


class Seconds:
    """A clock that stands still until it is told."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class CountedPanel(CompressionPanel):
    """Notes how often it is drawn."""

    pictures = 0

    def lines(self) -> list[Content]:
        self.pictures += 1
        return super().lines()


class Desk(App[None]):
    """What the chat screen has around a compression."""

    ENABLE_COMMAND_PALETTE = False
    CSS = "#middle { height: 1fr; } Transcript { width: 1fr; } Input { height: 3; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "stop", "Stop", id="chat.stop")]

    def __init__(self, *, unicode: bool = True) -> None:
        super().__init__()
        theme = load_theme("dark")
        self.register_theme(theme)
        self.theme = theme.name
        self.set_class(not unicode, "-ascii")
        self.clock = Seconds()
        self.transcript = Transcript(transcript_styles(theme, unicode=unicode))
        self.panel = CountedPanel(unicode=unicode, clock=self.clock)
        self.history: History = ()
        """What is recorded; the context is as the last that was not undone left it."""
        self.view = CompressionDisplay(self.transcript, self.panel, lambda: after(self.history))
        self.wanted: list[str] = []

    def compose(self) -> ComposeResult:
        with Horizontal(id="middle"):
            yield self.transcript
            yield self.panel
        yield Input(compact=True)

    def on_mount(self) -> None:
        self.transcript.show([Entry("m39", "user", "Why?"), Entry("m40", "assistant", "So.")])
        self.query_one(Input).focus()

    def action_stop(self) -> None:
        self.wanted.append("stop")

    def on_compression_panel_cancel_requested(self) -> None:
        self.wanted.append("cancel")

    def on_compression_panel_whole_requested(self) -> None:
        self.wanted.append("whole")
        told = self.wanted.append
        self.push_screen(self.view.whole_screen(lambda: told("cancel"), lambda: told("edit")))

    def on_compression_panel_edit_requested(self) -> None:
        self.wanted.append("edit")

    def on_compression_panel_left(self) -> None:
        self.wanted.append("left")
        self.query_one(Input).focus()

    @property
    def stream(self) -> list[str]:
        lines = (self.transcript.render_line(y).text for y in range(self.transcript.size.height))
        return [line.strip() for line in lines if line.strip()]

    @property
    def seen(self) -> list[str]:
        """The lines of the panel, wherever it is."""
        region = self.screen.query_one(CompressionPanel).content_region
        rows = shown(self).splitlines()[region.y : region.bottom]
        return [row[region.x : region.right].rstrip() for row in rows]


@asynccontextmanager
async def desk(
    size: tuple[int, int] = (120, 40), *, unicode: bool = True
) -> AsyncGenerator[tuple[Desk, Pilot[None]]]:
    app = Desk(unicode=unicode)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield app, pilot


async def tell(app: Desk, pilot: Pilot[None], events: Iterable[AnyCompressionEvent]) -> None:
    """Let events arrive, and be drawn."""
    for event in events:
        app.view.take(event)
    await still(pilot)


async def still(pilot: Pilot[Any]) -> None:
    """Wait until all is drawn that was put off for a moment."""
    await pilot.pause()
    while timers("set_timer#"):
        await pilot.pause(0.02)
    await pilot.pause()


def timers(*kinds: str) -> int:
    """How many of Textual's timers run; all kinds of them if none is named."""
    wanted = kinds or ("set_timer#", "set_interval#")
    return sum(task.get_name().startswith(wanted) for task in asyncio.all_tasks())
