"""What the user has said about repetitions: asked for, allowed for the session, once more."""

from __future__ import annotations

from ollm_tui.core.loop import LoopFound
from ollm_tui.engine.loops.asked import repetitions_asked


class Allowances:
    """What is allowed lasts for the session; what was asked for, until the user speaks again."""

    def __init__(self, threshold: int, most_rounds: int) -> None:
        self._threshold = threshold
        self._most_rounds = most_rounds
        self._allowed: set[str] = set()
        self._asked = 0
        self._more = 0
        self._more_rounds = 0

    @property
    def limit(self) -> int:
        """Repetitions in a row that are a loop now."""
        return max(self._threshold, self._asked + 1) + self._more

    @property
    def rounds(self) -> int:
        """Rounds of tools the turn may take."""
        return max(self._most_rounds, 2 * self._asked) + self._more_rounds

    def user_spoke(self, text: str) -> None:
        """Read what the user asks for."""
        self._asked = repetitions_asked(text)
        self._more_rounds = 0
        self.something_new()

    def something_new(self) -> None:
        """The repetition that was let go on is over."""
        self._more = 0

    def allow(self, pattern: str) -> None:
        """Never again stop for this tool, or for this pattern."""
        self._allowed.add(pattern)

    def go_on(self, found: LoopFound) -> None:
        """Once more; a turn that is only long goes on for as many rounds again."""
        if found.type == "turn-limit":
            self._more_rounds += self._most_rounds
        else:
            self._more += 1

    def covers(self, found: LoopFound) -> bool:
        """Whether the user does not want to hear of it."""
        return found.pattern in self._allowed or found.tool in self._allowed
