"""Sessions on disk and a small application around what shows them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from textual.app import App

from ollm_tui.core import clock
from ollm_tui.core.session.message import Message, Text
from ollm_tui.core.session.session import Metadata, Session
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from ollm_tui.tui.stream.transcript.entry_layout import TranscriptStyles
from ollm_tui.tui.stream.transcript.looks import transcript_styles
from ollm_tui.tui.themes import load_theme

TITLES = ("retry logic", "regex for logs", "css grid puzzle", "parser, 2nd try")


def fill(home: Path, titles: Sequence[str] = TITLES) -> list[str]:
    """Put sessions into the store of a home, each a day older than the one before."""
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    names = [library.add(_session(title, number)) for number, title in enumerate(titles)]
    library.close()
    return names


def _session(title: str, number: int) -> Session:
    at = clock.iso(datetime.now(UTC) - timedelta(days=number))
    asked = Message(f"q{number}", "user", (Text(f"What about {title}?"),), at)
    answered = Message(
        f"a{number}", "assistant", (Text(f"Much about **{title}**."),), at, parent_id=asked.id
    )
    return Session(
        session_id=f"{number:08}-0000-4000-8000-000000000000",
        start_time=at,
        last_activity=at,
        model="qwen",
        provider="ollama",
        messages=(asked, answered),
        head=answered.id,
        title=title,
        project="/home/me/uploader",
        metadata=Metadata(token_count=5214),
    )


class ThemedApp(App[Any]):
    """What the session screens need of an application."""

    def __init__(self) -> None:
        super().__init__()
        theme = load_theme("dark")
        self.register_theme(theme)
        self.theme = theme.name

    @property
    def transcript_styles(self) -> TranscriptStyles:
        return transcript_styles(self.current_theme)
