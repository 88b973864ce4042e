"""The entries of the chat stream: one for each message or note, with its text and its folds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from rich.style import Style


class Passage:
    """Text that grows at its end. Its pieces are joined only when the text is asked for."""

    __slots__ = ("_length", "_line_ends", "_pieces", "_read")

    def __init__(self, text: str = "", read: Callable[[str], str] | None = None) -> None:
        """Make a passage; `read` is applied to the text when that is first asked for.

        Of ten thousand stored messages most are never looked at.
        """
        self._pieces = [text] if text else []
        self._read = read
        self._length = len(text)
        self._line_ends = text.count("\n")

    @property
    def text(self) -> str:
        """The whole text so far."""
        if self._read:
            # Only the text given at first; what was appended needs no reading.
            self._pieces[:1] = [self._read(piece) for piece in self._pieces[:1]]
            self._read = None
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def append(self, text: str) -> None:
        """Append text."""
        if text:
            self._pieces.append(text)
            self._length += len(text)
            self._line_ends += text.count("\n")

    def estimated_lines(self, width: int) -> int:
        """Return about how many lines the text takes; good enough for a scroll bar."""
        return 1 + self._line_ends + self._length // max(width, 1)


FoldKind = Literal["reasoning", "tool", "attachment", "retrieval", "checkpoint"]
"""The kind of a fold. Reasoning stands before the text of an entry, all others after it."""

Tone = Literal["", "running", "failed", "stopped", "quiet", "added", "gone"]
"""How a title or a line of text is meant, if not as usual; it decides the colour."""


StyledSpan = tuple[int, int, Style]
"""Where a style begins and ends in a text."""


class Fold(Passage):
    """A title, and a text that is shown below it while the fold is open."""

    def __init__(
        self,
        key: str,
        kind: FoldKind,
        title: str,
        text: str = "",
        is_open: bool = False,
        *,
        tone: Tone = "",
        read: Callable[[str], str] | None = None,
    ) -> None:
        super().__init__(text, read)
        self.key = key
        """The name of the fold within its entry."""
        self.kind: FoldKind = kind
        self.title = title
        self.tone: Tone = tone
        self.is_open = is_open
        self.tones: Sequence[tuple[int, Tone]] = ()
        """Pairs of an offset and the tone from there on; known once the text was asked for."""
        self.spans: Sequence[StyledSpan] = ()
        """The colours a program gave its output."""

    def estimated_height(self, width: int) -> int:
        """Return about how many lines the fold takes, open or closed as it is now."""
        return 1 + self.estimated_lines(width) if self.is_open else 1


Speaker = Literal["user", "assistant", "note", "error"]
"""`note` and `error` are the program's own lines between the messages."""


class Entry(Passage):
    """One message or note: its text, its folds, and how it ended."""

    __slots__ = (
        "covers",
        "details",
        "folds",
        "footer",
        "growing",
        "key",
        "speaker",
        "stamp",
        "waiting",
    )

    def __init__(
        self,
        key: str,
        speaker: Speaker,
        text: str = "",
        footer: str = "",
        *,
        folds: Iterable[Fold] = (),
        details: str | Callable[[], str] = "",
        stamp: str | Callable[[], str] = "",
        read: Callable[[str], str] | None = None,
    ) -> None:
        super().__init__(text, read)
        self.key = key
        self.speaker: Speaker = speaker
        self.footer = footer
        """A few words at the end that say how it ended."""
        self.details = details
        """What is added to the footer when details are shown: time, model, cost. A function is
        called only then: for ten thousand messages it would take longer than all the rest."""
        self.stamp = stamp
        """What stands there by default: the time, and how fast it was. A function likewise."""
        self.folds = list(folds)
        self.covers: tuple[str, ...] = ()
        """The ids of messages that are shown as a part of this entry."""
        self.growing = False
        """Whether more text is expected."""
        self.waiting = ""
        """What is waited for while there is no text yet, in words; only while it grows."""

    @property
    def passages(self) -> list[Passage]:
        """All texts in the order they are shown: reasoning, the own text, the other folds."""
        before = [fold for fold in self.folds if fold.kind == "reasoning"]
        return [*before, self, *(fold for fold in self.folds if fold.kind != "reasoning")]

    def fold(self, key: str) -> Fold | None:
        """Return a fold by its key; None if there is none."""
        return next((fold for fold in self.folds if fold.key == key), None)

    def ending(self, with_details: bool, with_stamp: bool = False) -> str:
        """Return what stands at the end: the footer, and details or stamp if they are asked for."""
        more = ""
        if with_details:
            self.details = more = _told(self.details)
        elif with_stamp:
            self.stamp = more = _told(self.stamp)
        return " · ".join(words for words in (self.footer, more) if words)

    def estimated_height(self, width: int, with_details: bool) -> int:
        """Return about how many lines the whole entry takes."""
        folds = sum(fold.estimated_height(width) for fold in self.folds)
        has_ending = bool(self.details if with_details else self.footer)
        return self.estimated_lines(width) + folds + has_ending


def _told(words: str | Callable[[], str]) -> str:
    return words if isinstance(words, str) else words()
