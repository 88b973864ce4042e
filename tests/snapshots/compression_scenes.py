"""Compressions for pictures: told as the engine tells of them, on a clock that stands still."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec.structs import replace
from textual.pilot import Pilot

from ollm_tui.core.session.session import Metadata
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.compression.checkpoint_screen import CheckpointsScreen
from ollm_tui.tui.compression.compression_run import CompressionDisplay
from ollm_tui.tui.compression.panel import CompressionPanel
from ollm_tui.tui.compression.preview import CompressionPreview
from tests.snapshots.samples import all_sessions, id_of
from tests.snapshots.stage import stage, until
from tests.tui.compression_samples import CHECKPOINT, drafted, summarising, whole_story
from tests.tui.seen import chat, stream

Opened = tuple[OllmApp, Pilot[int]]


def _still() -> float:
    return 0.0


@asynccontextmanager
async def compression(home: Path) -> AsyncGenerator[Opened]:
    """The summary is being written beside the stream."""
    async with _with_view(home) as (app, pilot, view):
        for event in summarising():
            view.take(event)
        panel = chat(app).query_one(CompressionPanel)
        await until(pilot, lambda: panel.display)
        yield app, pilot


@asynccontextmanager
async def compressed(home: Path) -> AsyncGenerator[Opened]:
    """What a compression leaves in the stream, opened."""
    async with _with_view(home) as (app, pilot, view):
        for event in whole_story():
            view.take(event)
        transcript = chat(app).transcript
        transcript.toggle_folds(transcript.keys[-1])
        transcript.go_to_end()
        await pilot.pause()
        yield app, pilot


@asynccontextmanager
async def preview(home: Path) -> AsyncGenerator[Opened]:
    """A compression that waits to be applied."""
    async with stage(home, all_sessions(), resume=id_of(0)) as (app, pilot):
        screen = CompressionPreview(clock=_still)
        await app.push_screen(screen)
        for event in drafted():
            screen.take(event)
        await pilot.pause()
        yield app, pilot


@asynccontextmanager
async def checkpoints(home: Path) -> AsyncGenerator[Opened]:
    """Two checkpoints, the older one compact."""
    async with stage(home, all_sessions(), resume=id_of(0)) as (app, pilot):
        older = replace(CHECKPOINT, id="c0", level=1, summary="Uploads retried for ever.", facts="")
        await app.push_screen(CheckpointsScreen((older, CHECKPOINT)))
        yield app, pilot


@asynccontextmanager
async def _with_view(
    home: Path,
) -> AsyncGenerator[tuple[OllmApp, Pilot[int], CompressionDisplay]]:
    async with stage(home, all_sessions(), resume=id_of(0)) as (app, pilot):
        await until(pilot, lambda: bool(stream(app)))
        panel = CompressionPanel(clock=_still)
        await chat(app).query_one("#middle").mount(panel)
        yield app, pilot, CompressionDisplay(chat(app).transcript, panel, Metadata)
