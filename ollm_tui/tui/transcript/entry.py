"""What the chat stream shows: one entry a message, with the words it has so far."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ollm_tui.tui.transcript.fold import Fold
from ollm_tui.tui.transcript.passage import Passage

Speaker = Literal["user", "assistant", "note", "error"]
"""`note` and `error` are the program's own lines between what is said."""


class Entry(Passage):
    """One message or note: its words, what is folded away beside them, and how it ended."""

    def __init__(
        self,
        key: str,
        speaker: Speaker,
        text: str = "",
        footer: str = "",
        *,
        folds: Iterable[Fold] = (),
        details: str = "",
    ) -> None:
        super().__init__(text)
        self.key = key
        self.speaker: Speaker = speaker
        self.footer = footer
        """A few words at the end: how it ended."""
        self.details = details
        """What stands there instead when details are wanted: time, model, cost."""
        self.folds = list(folds)
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
        return (with_details and self.details) or self.footer

    def estimated_height(self, width: int, with_details: bool) -> int:
        """About how many lines all of it takes, with the gap to the next entry."""
        folds = sum(fold.estimated_height(width) for fold in self.folds)
        return self.estimated_lines(width) + folds + bool(self.ending(with_details)) + 1
