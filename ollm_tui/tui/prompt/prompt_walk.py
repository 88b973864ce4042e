"""Walking through what was sent before; what was being written is still there afterwards."""

from __future__ import annotations

from collections.abc import Iterable


class PromptWalk:
    """Where the user is between the oldest prompt and the draft below the newest."""

    def __init__(self) -> None:
        self._sent: list[str] = []
        self._at = 0
        self._edited: dict[int, str] = {}

    @property
    def is_at_end(self) -> bool:
        """Whether the draft is shown, and nothing that was sent."""
        return self._at == len(self._sent)

    def remember(self, sent: Iterable[str]) -> None:
        """What was sent before, the oldest first."""
        left = self._left()
        self._sent = list(sent)
        if left:
            self._sent.append(left)
        self.leave()

    def add(self, sent: str) -> str:
        """Something was sent or put aside: it is the newest now. Gives the draft that was left."""
        left = self._left()
        if sent.strip() and self._sent[-1:] != [sent]:
            self._sent.append(sent)
        self.leave()
        return left

    def leave(self) -> None:
        """Back below the newest."""
        self._at = len(self._sent)
        self._edited.clear()

    def can_go(self, step: int) -> bool:
        """Whether there is something in that direction."""
        return 0 <= self._at + step <= len(self._sent)

    def go(self, step: int, shown: str) -> str:
        """What is shown next; what is shown now comes back as it is when walking back."""
        self._edited[self._at] = shown
        self._at += step
        return self._edited.get(self._at) or "".join(self._sent[self._at : self._at + 1])

    def draft(self, shown: str) -> str:
        """What would be lost if all ended now: what is safe among the sent ones is not."""
        if self.is_at_end or shown != self._sent[self._at]:
            return shown
        return self._left()

    def _left(self) -> str:
        """The draft from which the walk began."""
        return "" if self.is_at_end else self._edited.get(len(self._sent), "")
