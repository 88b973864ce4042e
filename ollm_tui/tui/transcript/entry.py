"""What the chat stream shows: one entry a message, with the words it has so far."""

from __future__ import annotations

from typing import Literal

Speaker = Literal["user", "assistant", "note", "error"]
"""`note` and `error` are the program's own lines between what is said."""


class Entry:
    """One message or note. Text arrives in pieces and is joined only when it is asked for."""

    def __init__(self, key: str, speaker: Speaker, text: str = "", footer: str = "") -> None:
        self.key = key
        self.speaker: Speaker = speaker
        self.footer = footer
        """A short line below the text: how it ended, what it cost."""
        self.growing = False
        self._pieces = [text] if text else []
        self._length = len(text)
        self._line_ends = text.count("\n")

    @property
    def text(self) -> str:
        """All words so far."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def append(self, text: str) -> None:
        """Add words at the end."""
        self._pieces.append(text)
        self._length += len(text)
        self._line_ends += text.count("\n")

    def estimated_lines(self, width: int) -> int:
        """About how many lines the text takes; good enough for a scroll bar."""
        return 1 + self._line_ends + self._length // max(width, 1)
