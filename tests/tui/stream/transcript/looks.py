"""Styles for tests of the chat stream."""

from __future__ import annotations

from rich.style import Style

from ollm_tui.tui.stream.transcript.looks import TranscriptStyles
from tests.tui.stream.markdown.screen import STYLES

LOOKS = TranscriptStyles(
    markdown=STYLES,
    user=Style(bold=True),
    user_mark=Style(color="blue"),
    assistant_mark=Style(color="green"),
    note=Style(dim=True),
    error=Style(color="red"),
    footer=Style(dim=True),
    fold=Style(dim=True),
    reasoning=Style(italic=True),
    cursor=Style(bgcolor="grey30"),
    cursor_mark=Style(color="magenta"),
    hit=Style(bgcolor="yellow"),
    current_hit=Style(bgcolor="red"),
    news=Style(reverse=True),
)
