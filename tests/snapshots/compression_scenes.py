"""Compressions for pictures: told as the engine tells of them, on a clock that stands still."""

from __future__ import annotations

from msgspec.structs import replace
from textual.pilot import Pilot

from ollm_tui.core.session.session import Metadata
from ollm_tui.tui.compression.checkpoint_screen import CheckpointsScreen
from ollm_tui.tui.compression.compression_run import CompressionDisplay
from ollm_tui.tui.compression.panel import CompressionPanel
from ollm_tui.tui.compression.preview import CompressionPreview
from tests.snapshots.stage import StagedApp, sample, scene, until
from tests.tui.compression_samples import CHECKPOINT, drafted, summarising, whole_story
from tests.tui.seen import chat, stream


def _still() -> float:
    return 0.0


@scene(sample(0))
async def compression(app: StagedApp, pilot: Pilot[int]) -> None:
    """The summary is being written beside the stream."""
    display = await _display(app, pilot)
    for event in summarising():
        display.take(event)
    panel = chat(app).query_one(CompressionPanel)
    await until(pilot, lambda: panel.display)


@scene(sample(0))
async def compressed(app: StagedApp, pilot: Pilot[int]) -> None:
    """What a compression leaves in the stream, opened."""
    display = await _display(app, pilot)
    for event in whole_story():
        display.take(event)
    transcript = chat(app).transcript
    transcript.toggle_folds(transcript.keys[-1])
    transcript.go_to_end()


@scene(sample(0))
async def preview(app: StagedApp, pilot: Pilot[int]) -> None:
    """A compression that waits to be applied."""
    screen = CompressionPreview(clock=_still)
    await app.push_screen(screen)
    for event in drafted():
        screen.take(event)


@scene(sample(0))
async def checkpoints(app: StagedApp, pilot: Pilot[int]) -> None:
    """Two checkpoints, the older one compact."""
    older = replace(CHECKPOINT, id="c0", level=1, summary="Uploads retried for ever.", facts="")
    await app.push_screen(CheckpointsScreen((older, CHECKPOINT)))


async def _display(app: StagedApp, pilot: Pilot[int]) -> CompressionDisplay:
    await until(pilot, lambda: bool(stream(app)))
    panel = CompressionPanel(clock=_still)
    await chat(app).query_one("#middle").mount(panel)
    return CompressionDisplay(chat(app).transcript, panel, Metadata)
