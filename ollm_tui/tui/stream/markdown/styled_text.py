"""Visible text, how its parts look and where in the source they came from."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style

from ollm_tui.tui.stream.markdown.styles import PLAIN, Palette

_RECENT = 2048
"""Characters of the recent part: more than are drawn again when text is added."""


class Piece:
    """A part of inline text: what is shown, how, and the part of the raw text it stands for."""

    __slots__ = ("at", "look", "plain", "text")

    def __init__(self, text: str, at: int, look: int = PLAIN, plain: bool = False) -> None:
        self.text = text
        self.at = at
        self.look = look
        self.plain = plain
        """Shown character by character as it stands in the raw text, so it may be cut anywhere."""


class StyledText:
    """Text with looks: grows at its end, and can be cut back to a mark to grow differently.

    Offsets count from its beginning, but only its recent part is one string: appending
    to a string copies it.
    """

    __slots__ = ("_anchors", "_base", "_ends", "_looks", "_older", "_recent")

    def __init__(self) -> None:
        self._recent = ""
        self._older: list[str] = []
        self._base = 0
        """Where the recent part begins."""
        self._ends = array("I")
        """Where each run of text with one look ends."""
        self._looks = array("B")
        self._anchors = array("I")
        """Pairs: an offset into the text, and the raw offset it stands for."""

    def __len__(self) -> int:
        return self._base + len(self._recent)

    def since(self, start: int) -> str:
        """Return the text from an offset to its end."""
        self._reach(start)
        return self._recent[start - self._base :]

    @property
    def text(self) -> str:
        """All of the text."""
        self._reach(0)
        return self._recent

    def add(self, pieces: Iterable[Piece], base: int = 0) -> None:
        """Append pieces; `base` is added to their raw offsets."""
        texts = [self._recent]
        size = len(self)
        ends, looks, anchors = self._ends, self._looks, self._anchors
        for piece in pieces:
            if not piece.text:
                continue
            anchors.append(size)
            anchors.append(piece.at + base)
            size += len(piece.text)
            texts.append(piece.text)
            if looks and looks[-1] == piece.look:
                ends[-1] = size
            else:
                ends.append(size)
                looks.append(piece.look)
        self._recent = "".join(texts)

    def mark(self) -> tuple[int, int, int]:
        """Return what `cut` needs to come back to the present state."""
        return len(self), len(self._ends), len(self._anchors)

    def cut(self, mark: tuple[int, int, int]) -> None:
        """Remove what was added since a mark."""
        size, runs, anchors = mark
        self._reach(size)
        self._recent = self._recent[: size - self._base]
        del self._ends[runs:]
        del self._looks[runs:]
        del self._anchors[anchors:]
        if runs:
            # Text of the same look made the last run longer.
            self._ends[-1] = size

    def segments(self, start: int, end: int, palette: Palette, base: Style) -> list[Segment]:
        """Return a part of the text, ready for the screen."""
        self._reach(start)
        recent, ends, looks, shift = self._recent, self._ends, self._looks, self._base
        found: list[Segment] = []
        run = bisect_right(ends, start)
        while start < end:
            stop = ends[run]
            if stop > end:
                stop = end
            look = looks[run]
            style = palette.combined(base, look) if look else base
            found.append(Segment(recent[start - shift : stop - shift], style))
            start = stop
            run += 1
        return found

    def raw_offset(self, at: int) -> int:
        """Return where in the raw text the character at an offset came from."""
        # Bisected by hand, because the pairs lie flat in the array to save memory.
        low, high = 0, len(self._anchors) // 2
        while low < high:
            middle = (low + high) // 2
            if self._anchors[2 * middle] <= at:
                low = middle + 1
            else:
                high = middle
        if not low:
            return 0
        return self._anchors[2 * low - 1] + at - self._anchors[2 * low - 2]

    def settle(self) -> None:
        """Set older text aside, which will hardly be cut or drawn again."""
        if len(self._recent) > 2 * _RECENT:
            self._older.append(self._recent[:-_RECENT])
            self._base += len(self._older[-1])
            self._recent = self._recent[-_RECENT:]

    def _reach(self, start: int) -> None:
        """Make the text from an offset on part of the recent one."""
        if start < self._base:
            self._recent = "".join((*self._older, self._recent))
            self._older.clear()
            self._base = 0
