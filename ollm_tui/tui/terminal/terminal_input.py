"""Keys and pastes as they come from the terminal: a paste can never turn into keys.

Textual reads an escape inside of a paste as the start of a key, and what follows it as typed:
text from a web page could so press Enter.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual._xterm_parser import XTermParser
from textual.message import Message

from ollm_tui.core.intake import IntakeFilter

PASTE_START, PASTE_END = "\x1b[200~", "\x1b[201~"


class PasteGuard(XTermParser):
    """A parser of terminal input that gets pastes without their controls."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._intake: IntakeFilter | None = None
        """Set while a paste comes in."""
        self._before = ""
        """The last characters before what comes next: a marker may be cut in two."""

    def feed(self, data: str) -> Iterable[Message]:
        """Take more input; gives what it means."""
        while data:
            if self._intake is None:
                piece, data = self._up_to_paste(data)
            else:
                piece, data = self._paste(self._before + data)
            if piece:
                yield from super().feed(piece)

    def _up_to_paste(self, data: str) -> tuple[str, str]:
        """Keys, with the start of a paste if there is one, and what is left."""
        seen = self._before + data
        start = seen.find(PASTE_START)
        if start < 0:
            self._before = seen[1 - len(PASTE_START) :]
            return data, ""
        self._intake, size = IntakeFilter(), len(self._before)
        self._before = ""
        end = start + len(PASTE_START) - size
        return data[:end], data[end:]

    def _paste(self, data: str) -> tuple[str, str]:
        """What may be shown of a paste, with its end if that came, and what is left."""
        assert self._intake
        text, found, rest = data.partition(PASTE_END)
        if found:
            piece = self._intake.feed(text) + self._intake.finish() + PASTE_END
            self._intake, self._before = None, ""
            return piece, rest
        held = next(size for size in range(5, -1, -1) if data.endswith(PASTE_END[:size]))
        text, self._before = data[: len(data) - held], data[len(data) - held :]
        return self._intake.feed(text), ""
