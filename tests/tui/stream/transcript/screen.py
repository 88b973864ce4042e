"""A screen with nothing but the stream, and what is seen on it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from ollm_tui.tui.stream.transcript.entry import Entry
from ollm_tui.tui.stream.transcript.looks import TranscriptStyles
from ollm_tui.tui.stream.transcript.transcript import Transcript
from tests.tui.stream.transcript.looks import LOOKS

SIZE = (40, 10)


class Screen(App[None]):
    """Nothing but the stream; notes where its cursor went."""

    def __init__(self, looks: TranscriptStyles = LOOKS) -> None:
        super().__init__()
        self._looks = looks
        self.cursor_keys: list[str | None] = []

    def compose(self) -> ComposeResult:
        yield Transcript(self._looks)

    def on_transcript_cursor_moved(self, event: Transcript.CursorMoved) -> None:
        self.cursor_keys.append(event.key)


@asynccontextmanager
async def shown(
    *entries: Entry, size: tuple[int, int] = SIZE, looks: TranscriptStyles = LOOKS
) -> AsyncGenerator[tuple[Transcript, Pilot[Any]]]:
    app = Screen(looks)
    async with app.run_test(size=size) as pilot:
        transcript = app.query_one(Transcript)
        transcript.show(entries)
        await pilot.pause()
        yield transcript, pilot


def seen(transcript: Transcript) -> list[str]:
    return [transcript.render_line(y).text.rstrip() for y in range(transcript.size.height)]


def coloured(transcript: Transcript, colour: str) -> list[str]:
    """The parts of what is seen that have a background."""
    return [
        segment.text
        for y in range(transcript.size.height)
        for segment in transcript.render_line(y)
        if segment.style and segment.style.bgcolor and segment.style.bgcolor.name == colour
    ]


def numbered(count: int, lines: int = 3) -> list[Entry]:
    return [
        Entry(
            f"e{number}",
            "user" if number % 2 == 0 else "assistant",
            "\n\n".join(f"message {number} line {line}" for line in range(lines)),
        )
        for number in range(count)
    ]
