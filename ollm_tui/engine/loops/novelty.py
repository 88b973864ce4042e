"""Answers that are not new although the call is: the same from different calls, and pages of
which most lines have been seen."""

from __future__ import annotations

from dataclasses import dataclass

from ollm_tui.engine.loops.answers import Answer

NEW_SHARE = 0.25
"""A read with a smaller share of new lines counts as a repetition."""
FEWEST_LINES = 3
"""Of fewer lines no share can be told."""
MOST_LINES = 600
"""Of one answer; a longer one is judged by its beginning."""
MOST_LINES_SEEN = 50_000
MOST_FAMILIES = 64
"""Tools, and shapes of calls, that are remembered."""


@dataclass(slots=True)
class _Streak:
    """The last answer of a tool, and how often it came in a row."""

    answer: str
    first_call: str
    times: int = 1
    calls_differ: bool = False


class SameAnswers:
    """For each tool: how often in a row it answered the same to different calls."""

    def __init__(self) -> None:
        self._streaks: dict[str, _Streak] = {}

    def add(self, tool: str, call: str, answer: Answer) -> bool:
        """Whether this was the tool's last answer already, and says enough to be counted."""
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
        """How often in a row, if the calls differed; else it is an ordinary repetition."""
        streak = self._streaks.get(tool)
        return streak.times if streak and streak.calls_differ else 0

    def something_new(self) -> None:
        """Something new came: whatever was answered again and again until then is over."""
        for streak in self._streaks.values():
            streak.times = 1

    def forget(self) -> None:
        """The state has changed: the same answer would tell something new."""
        self._streaks.clear()


class PagesSeen:
    """The lines that calls of one shape have shown, such as reading a file page by page."""

    def __init__(self) -> None:
        self._lines: dict[str, set[int]] = {}
        self._count = 0
        self._again: dict[str, int] = {}
        self._last_call: dict[str, str] = {}

    def add(self, shape: str, call: str, text: str) -> bool:
        """Whether hardly any line of this page is new; of the very same call, none at all."""
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
        """How many such pages in a row."""
        return self._again.get(shape, 0)

    def something_new(self) -> None:
        """Something new was seen, here or elsewhere."""
        self._again.clear()

    def forget(self) -> None:
        """The state has changed: reading a file again is reading another file."""
        self._lines.clear()
        self._again.clear()
        self._last_call.clear()
        self._count = 0

    def _begin(self, shape: str, lines: set[int]) -> None:
        if self._count > MOST_LINES_SEEN or len(self._lines) >= MOST_FAMILIES:
            self.forget()
        self._lines[shape] = lines
        self._count += len(lines)
