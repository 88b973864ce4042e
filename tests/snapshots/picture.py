"""A picture of the screen as SVG text that is the same on every machine."""

from __future__ import annotations

import re

from textual.pilot import Pilot

from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.transcript.transcript import Transcript

_FONT = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
_NUMBERED = re.compile(r"terminal-\d+")
_ELEMENT = re.compile(r"(?=<(?:text|rect|clipPath)\b)")
_WORDS = re.compile(r"<text [^>]*>([^<]*)</text>")


async def take_picture(app: OllmApp, pilot: Pilot[int], size: tuple[int, int], theme: str) -> str:
    """The screen in a size and a theme, once nothing on it moves any more."""
    app.use_theme(theme)
    for transcript in (found for screen in app.screen_stack for found in screen.query(Transcript)):
        transcript.restyle(app.transcript_styles)
    await pilot.resize_terminal(*size)
    before, now = "", app.export_screenshot(simplify=True)
    while before != now:
        await pilot.pause(0.05)
        before, now = now, app.export_screenshot(simplify=True)
    return _steady(now)


def words_of(picture: str) -> list[str]:
    """What stands in a picture, piece by piece."""
    return [words.replace("&#160;", " ").rstrip() for words in _WORDS.findall(picture)]


def _steady(svg: str) -> str:
    """Without fonts from elsewhere and numbers that change with every letter; an element a line."""
    return _ELEMENT.sub("\n", _NUMBERED.sub("terminal", _FONT.sub("", svg)))
