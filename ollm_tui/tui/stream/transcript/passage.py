"""Text that arrives in pieces."""

from __future__ import annotations

from collections.abc import Callable


class Passage:
    """Words that grow at their end. The pieces are joined only when they are asked for."""

    __slots__ = ("_length", "_line_ends", "_pieces", "_read")

    def __init__(self, text: str = "", read: Callable[[str], str] | None = None) -> None:
        """`read` is applied to the text when it is first asked for: of ten thousand stored
        messages most never are."""
        self._pieces = [text] if text else []
        self._read = read
        self._length = len(text)
        self._line_ends = text.count("\n")

    @property
    def text(self) -> str:
        """All words so far."""
        if self._read:
            self._pieces[:1] = [self._read(piece) for piece in self._pieces[:1]]
            self._read = None
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def append(self, text: str) -> None:
        """Add words at the end."""
        if text:
            self._pieces.append(text)
            self._length += len(text)
            self._line_ends += text.count("\n")

    def estimated_lines(self, width: int) -> int:
        """About how many lines the text takes; good enough for a scroll bar."""
        return 1 + self._line_ends + self._length // max(width, 1)
