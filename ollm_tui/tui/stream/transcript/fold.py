"""A part of an entry that is one line until somebody opens it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from ollm_tui.tui.stream.transcript.passage import Passage

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
