"""What the chat stream shows: one entry a message, with the words it has so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal


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


FoldKind = Literal["reasoning", "tool", "attachment", "retrieval", "checkpoint"]
"""Reasoning stands before the words of an entry, all others after them."""

Tone = Literal["", "running", "failed", "stopped", "quiet", "added", "gone"]
"""How a title or a line of the text is meant, where it is not as usual."""


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
        """Names it within its entry."""
        self.kind: FoldKind = kind
        self.title = title
        self.tone: Tone = tone
        self.is_open = is_open
        self.tones: Sequence[tuple[int, Tone]] = ()
        """From which character on the text is meant how; known once the text was asked for."""

    def estimated_height(self, width: int) -> int:
        """About how many lines it takes as it is now."""
        return 1 + self.estimated_lines(width) if self.is_open else 1


Speaker = Literal["user", "assistant", "note", "error"]
"""`note` and `error` are the program's own lines between what is said."""


class Entry(Passage):
    """One message or note: its words, what is folded away beside them, and how it ended."""

    __slots__ = ("covers", "details", "folds", "footer", "growing", "key", "speaker")

    def __init__(
        self,
        key: str,
        speaker: Speaker,
        text: str = "",
        footer: str = "",
        *,
        folds: Iterable[Fold] = (),
        details: str | Callable[[], str] = "",
        read: Callable[[str], str] | None = None,
    ) -> None:
        super().__init__(text, read)
        self.key = key
        self.speaker: Speaker = speaker
        self.footer = footer
        """A few words at the end: how it ended."""
        self.details = details
        """What stands there as well when details are wanted: time, model, cost. It may be made
        only then: for ten thousand messages it takes longer than all the rest."""
        self.folds = list(folds)
        self.covers: tuple[str, ...] = ()
        """Keys of messages that are shown as a part of it."""
        self.growing = False

    @property
    def passages(self) -> list[Passage]:
        """All texts in the order they are shown: reasoning, the words, the other folds."""
        before = [fold for fold in self.folds if fold.kind == "reasoning"]
        return [*before, self, *(fold for fold in self.folds if fold.kind != "reasoning")]

    def fold(self, key: str) -> Fold | None:
        """A fold by its key."""
        return next((fold for fold in self.folds if fold.key == key), None)

    def ending(self, with_details: bool) -> str:
        """What stands at the end."""
        if not with_details:
            return self.footer
        if not isinstance(self.details, str):
            self.details = self.details()
        return " · ".join(words for words in (self.footer, self.details) if words)

    def estimated_height(self, width: int, with_details: bool) -> int:
        """About how many lines all of it takes."""
        folds = sum(fold.estimated_height(width) for fold in self.folds)
        has_ending = bool(self.details if with_details else self.footer)
        return self.estimated_lines(width) + folds + has_ending
