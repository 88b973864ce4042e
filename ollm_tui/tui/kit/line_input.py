"""A single-line input that does not blink and is safe to paste into."""

from __future__ import annotations

from textual.widgets import Input

from ollm_tui.core.intake import clean


class LineInput(Input):
    """An Input without a blinking cursor; text put in loses control characters and line ends."""

    def __init__(self, value: str = "", placeholder: str = "") -> None:
        super().__init__(_one_line(value), placeholder=placeholder, compact=True)
        self.cursor_blink = False

    def insert(self, text: str, index: int) -> None:
        """Insert text; typing and pasting come here."""
        super().insert(_one_line(text), index)

    def replace(self, text: str, start: int, end: int) -> None:
        """Replace a part of the text."""
        super().replace(_one_line(text), start, end)


def _one_line(text: str) -> str:
    return clean(text).replace("\n", " ").replace("\t", " ")
