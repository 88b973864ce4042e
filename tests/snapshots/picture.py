"""A picture of the screen as SVG text that is the same on every machine."""

from __future__ import annotations

import re
from importlib.metadata import version

from textual.pilot import Pilot

from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.stream.transcript.transcript import Transcript

_NEEDLESS = re.compile(
    r'\s*@font-face \{.*?\}|<clipPath.*?</clipPath>| clip-path="[^"]*"', re.DOTALL
)
"""Fonts from elsewhere, and edges that nothing reaches beyond."""
_NUMBERED = re.compile(r"terminal-\d+")
"""A number that changes with every letter."""
_ELEMENT = re.compile(r"(?=<(?:text|rect)\b)")
HARD_SPACE = "\N{NO-BREAK SPACE}"
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
    return steady(now)


def words_of(picture: str) -> list[str]:
    """What stands in a picture, piece by piece."""
    return [words.replace(HARD_SPACE, " ").rstrip() for words in _WORDS.findall(picture)]


def made_with() -> str:
    """The versions of what draws: others may draw a little differently."""
    names = ("textual", "rich", "pygments")
    return f"<!-- {', '.join(f'{name} {version(name)}' for name in names)} -->"


def steady(svg: str) -> str:
    """The same for the same screen, short, and an element a line."""
    svg = _NUMBERED.sub("terminal", _NEEDLESS.sub("", svg))
    return _ELEMENT.sub("\n", svg.replace("&#160;", HARD_SPACE))
