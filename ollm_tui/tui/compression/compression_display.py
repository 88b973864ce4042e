"""Compressions as they are seen: the engine's events go to the panel and become records."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import assert_never

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
    SummaryRejected,
    UserMessagesFill,
)
from ollm_tui.core.session.compression import Compression
from ollm_tui.core.session.session import Metadata, compressed
from ollm_tui.tui.compression.panel import CompressionPanel
from ollm_tui.tui.compression.preview import CompressionPreview, Decision
from ollm_tui.tui.compression.screen import CompressionScreen
from ollm_tui.tui.compression.words import Ending, ending_line, fill_line
from ollm_tui.tui.keymap import Hints
from ollm_tui.tui.stream.entries.compression_entries import UNCHANGED, compression_entries
from ollm_tui.tui.stream.transcript.entry import Entry, Speaker
from ollm_tui.tui.stream.transcript.transcript import Transcript

_ENDED, _FILLED = "compression-ended", "compression-filled"
"""Keys of what is said of the last compression only: it would be said again and again."""


class CompressionDisplay:
    """Shows the compressions of one conversation; `metadata` tells those that are recorded."""

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
        self.decision: asyncio.Future[Decision] | None = None
        """What the user makes of a draft, where the compression was asked to wait for that."""

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
                | CheckpointCreated()
                | CheckpointAged()
                | CompressionDrafted()
            ):
                pass  # seen in the panel while they matter
            case _:
                assert_never(event)

    def whole_screen(
        self,
        cancel: Callable[[], object],
        edit: Callable[[], object],
        *,
        unicode: bool = True,
    ) -> CompressionScreen:
        """The compression that runs, or the last one, to be put on the whole screen."""
        self._screen = CompressionScreen(self._panel.progress, cancel, edit, unicode=unicode)
        return self._screen

    def preview(self, *, unicode: bool = True) -> CompressionPreview:
        """The compression that runs, to be looked at and edited before it is applied."""
        self._screen = CompressionPreview(progress=self._panel.progress, unicode=unicode)
        return self._screen

    def show_records(self) -> None:
        """A compression was undone, or made again: the records that are shown say so."""
        self._show(self._metadata())

    def show_new(self, compression: Compression) -> None:
        """A draft was applied: its record stands at the end of the stream."""
        metadata = self._metadata()
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
        """In the stream at its end, in the place of what was said the last time."""
        self._transcript.drop(key)
        self._transcript.add(Entry(key, speaker, text))
