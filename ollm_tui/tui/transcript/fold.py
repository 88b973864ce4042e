"""A part of an entry that is one line until somebody opens it."""

from __future__ import annotations

from typing import Literal

from ollm_tui.tui.transcript.passage import Passage

FoldKind = Literal["reasoning", "tool", "attachment", "retrieval", "checkpoint"]
"""Reasoning stands before the words of an entry, all others after them."""


class Fold(Passage):
    """A title, and a text that is shown below it while the fold is open."""

    def __init__(
        self, key: str, kind: FoldKind, title: str, text: str = "", is_open: bool = False
    ) -> None:
        super().__init__(text)
        self.key = key
        """Names it within its entry."""
        self.kind: FoldKind = kind
        self.title = title
        self.is_open = is_open

    def estimated_height(self, width: int) -> int:
        """About how many lines it takes as it is now."""
        return 1 + self.estimated_lines(width) if self.is_open else 1
