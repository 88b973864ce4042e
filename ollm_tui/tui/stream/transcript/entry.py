"""What the chat stream shows: one entry a message, with the words it has so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from ollm_tui.tui.stream.transcript.fold import Fold
from ollm_tui.tui.stream.transcript.passage import Passage

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
