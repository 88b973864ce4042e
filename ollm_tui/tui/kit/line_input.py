"""One line to type into, as dialogs use it: still, and safe to paste into."""

from __future__ import annotations

from textual.widgets import Input

from ollm_tui.core.intake import clean


class LineInput(Input):
    """An Input without a blinking cursor; what is put in loses its controls and line ends."""

    def __init__(self, value: str = "", placeholder: str = "") -> None:
        super().__init__(_one_line(value), placeholder=placeholder, compact=True)
        self.cursor_blink = False

    def insert(self, text: str, index: int) -> None:
        """Put text in, as typing and pasting do."""
        super().insert(_one_line(text), index)

    def replace(self, text: str, start: int, end: int) -> None:
        """Put text in the place of other text."""
        super().replace(_one_line(text), start, end)


def _one_line(text: str) -> str:
    return clean(text).replace("\n", " ").replace("\t", " ")
