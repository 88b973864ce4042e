"""The tokens of a prompt that was sent, and of what has arrived of its reply."""

from __future__ import annotations

from ollm_tui.services.tokens.counter import GrowingCount
from ollm_tui.services.tokens.prompt_count import PromptCount


class LiveCount:
    """What arrives is counted when somebody looks: a delta costs next to nothing."""

    def __init__(self) -> None:
        self._growing: GrowingCount | None = None
        self._count: PromptCount | None = None
        self._arrived: list[str] = []

    def begin(self, count: PromptCount, growing: GrowingCount) -> None:
        """A prompt goes out."""
        self._growing, self._count = growing, count
        self._arrived.clear()

    def add(self, text: str) -> None:
        """More of the reply arrived."""
        self._arrived.append(text)

    def end(self) -> None:
        """The reply is part of the conversation now, or the prompt was not taken."""
        self._growing = self._count = None
        self._arrived.clear()

    @property
    def count(self) -> PromptCount | None:
        """The prompt and what arrived so far; None if none was sent."""
        if self._growing and self._arrived:
            self._count = self._growing.add("".join(self._arrived))
            self._arrived.clear()
        return self._count
