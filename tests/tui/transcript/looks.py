"""Styles for tests of the chat stream."""

from __future__ import annotations

from rich.style import Style

from ollm_tui.tui.markdown.styles import default_dark
from ollm_tui.tui.transcript.layout import TranscriptStyles

LOOKS = TranscriptStyles(
    markdown=default_dark(),
    user=Style(bold=True),
    user_mark=Style(color="blue"),
    assistant_mark=Style(color="green"),
    note=Style(dim=True),
    error=Style(color="red"),
    footer=Style(dim=True),
)
