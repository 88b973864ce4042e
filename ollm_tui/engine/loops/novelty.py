"""Answers that bring nothing new although the call is new: the same answer to different calls,
and pages of which most lines were seen before."""

from __future__ import annotations

from dataclasses import dataclass

from ollm_tui.engine.loops.answers import Answer

NEW_SHARE = 0.25
"""A page with a smaller share of new lines counts as a repetition."""
FEWEST_LINES = 3
"""Lines below which the share of new ones says nothing."""
MOST_LINES = 600
"""Lines of one answer that are compared; a longer one is judged by its beginning."""
MOST_LINES_SEEN = 50_000
"""Lines that are remembered in all; beyond them everything is forgotten."""
MOST_FAMILIES = 64
"""Tools, or shapes of calls, that are remembered."""


@dataclass(slots=True)
class _Streak:
    """The last answer of a tool, and how often it came in a row."""

    answer: str
    first_call: str
    times: int = 1
    calls_differ: bool = False


class SameAnswers:
    """Counts, for each tool, how often in a row it answered the same to different calls."""

    def __init__(self) -> None:
        self._streaks: dict[str, _Streak] = {}

    def add(self, tool: str, call: str, answer: Answer) -> bool:
        """Add an answer; return whether it repeats the tool's last one and says enough to count."""
        streak = self._streaks.get(tool)
        if streak and answer.weight != "slight" and streak.answer == answer.plain_digest:
            streak.times += 1
            streak.calls_differ |= call != streak.first_call
            return True
        if streak is None and len(self._streaks) >= MOST_FAMILIES:
            del self._streaks[next(iter(self._streaks))]
        self._streaks[tool] = _Streak(answer.plain_digest, call)
        return False

    def times(self, tool: str) -> int:
        """Return how often in a row the answer came.

        0 if the calls did not differ: then it is an ordinary repetition.
        """
        streak = self._streaks.get(tool)
        return streak.times if streak and streak.calls_differ else 0

    def something_new(self) -> None:
        """Begin counting again, because another answer brought something new."""
        for streak in self._streaks.values():
            streak.times = 1

    def forget(self) -> None:
        """Forget all answers, because the state changed: the same answer is now news."""
        self._streaks.clear()


class PagesSeen:
    """Remembers the lines that calls of one shape have shown, such as pages of one file."""

    def __init__(self) -> None:
        self._lines: dict[str, set[int]] = {}
        self._count = 0
        self._again: dict[str, int] = {}
        self._last_call: dict[str, str] = {}

    def add(self, shape: str, call: str, text: str) -> bool:
        """Add a page; return whether hardly any of its lines is new.

        If the call is the same as the last one of its shape, none of them may be new.
        """
        lines = {hash(line) for line in text.split("\n", MOST_LINES)[:MOST_LINES] if line.strip()}
        seen = self._lines.get(shape)
        if seen is None or self._count > MOST_LINES_SEEN:
            self._begin(shape, lines)
            self._last_call[shape] = call
            return False
        new = lines - seen
        is_page = self._last_call.get(shape) != call
        hardly = len(new) < NEW_SHARE * len(lines) if is_page else not new
        again = hardly and len(lines) >= FEWEST_LINES
        self._last_call[shape] = call
        seen |= new
        self._count += len(new)
        if again:
            self._again[shape] = self._again.get(shape, 0) + 1
        return again

    def times(self, shape: str) -> int:
        """Return how many pages without anything new came since something new was seen."""
        return self._again.get(shape, 0)

    def something_new(self) -> None:
        """Begin counting again, because something new was seen, here or elsewhere."""
        self._again.clear()

    def forget(self) -> None:
        """Forget all lines, because the state changed: a file read again may be another one."""
        self._lines.clear()
        self._again.clear()
        self._last_call.clear()
        self._count = 0

    def _begin(self, shape: str, lines: set[int]) -> None:
        if self._count > MOST_LINES_SEEN or len(self._lines) >= MOST_FAMILIES:
            self.forget()
        self._lines[shape] = lines
        self._count += len(lines)
