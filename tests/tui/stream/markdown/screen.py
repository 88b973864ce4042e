"""Markdown texts as they look: whole, grown in chunks, and compared line by line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rich.style import Style

from ollm_tui.tui.stream.markdown.text import MarkdownText
from ollm_tui.tui.stream.transcript.looks import transcript_styles
from ollm_tui.tui.themes import DEFAULT_THEME, load_theme

STYLES = transcript_styles(load_theme(DEFAULT_THEME)).markdown


class Shown(NamedTuple):
    """All that can be asked about a line."""

    segments: list[tuple[str, Style | None]]
    plain: str
    source: tuple[int, int]


def grown(chunks: Iterable[str], width: int = 60) -> MarkdownText:
    """A text fed in chunks that has not ended."""
    text = MarkdownText(STYLES, width)
    for chunk in chunks:
        text.feed(chunk)
    return text


def finished(source: str, width: int = 60) -> MarkdownText:
    """A text fed whole."""
    text = grown([source], width)
    text.finish()
    return text


def lines(text: MarkdownText) -> list[str]:
    """The lines as on the screen, without filling."""
    return [text.strip(y).text.rstrip() for y in range(text.line_count)]


def drawn(source: str, width: int = 60) -> list[str]:
    """The lines of a text fed whole."""
    return lines(finished(source, width))


def shown(text: MarkdownText) -> list[Shown]:
    """Everything about every line."""
    return [
        Shown(
            [(segment.text, segment.style) for segment in text.strip(y)],
            text.plain(y),
            text.source_range(y),
        )
        for y in range(text.line_count)
    ]


def style_of(text: MarkdownText, part: str) -> Style:
    """The style of the first segment that holds a text."""
    for line in shown(text):
        for segment, style in line.segments:
            if part in segment and style:
                return style
    raise AssertionError(f"{part!r} is not shown")
