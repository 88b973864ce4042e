"""Answers that bring nothing new although the call is new: the same answer to different calls,
and pages of which most lines were seen before."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass

from ollm_tui.engine.loops.answers import Answer
from ollm_tui.engine.loops.calls import Call

NEW_SHARE = 0.25
"""A page with a smaller share of new lines counts as a repetition."""
FEWEST_LINES = 3
"""Lines below which the share of new ones says nothing."""
MOST_LINES = 600
"""Lines of one answer that are compared; a longer one is judged by its beginning."""
MOST_LINES_SEEN = 10_000
"""Lines that are remembered in all, the newest."""
TELLING = 20
"""Characters from which on an answer is more than that all is well."""
MOST_TOOLS = 64
"""Tools whose last answer is remembered."""

_NUMBERING = re.compile(r"^\s*\d+[\t:|→ -]\s?", re.MULTILINE)
"""The number that editors and cat -n put before a line."""
_LOCATION = re.compile(r"^[\w./-]+\.\w+:\d+:", re.MULTILINE)
"""A place in a file: the same places are the same find, however the search was spelled."""


@dataclass(slots=True)
class _Streak:
    """The last answer of a tool, and how often it came in a row."""

    answer: str
    """Without the words of the call."""
    whole: str
    first: Call
    times: int = 1
    calls_differ: bool = False


class SameAnswers:
    """Counts, for each tool, how often in a row it answered the same to different calls.

    A full answer counts if the calls may be about the same thing; one that says little only if
    it reports a failure or the calls have the same words.
    """

    def __init__(self) -> None:
        self._streaks: dict[str, _Streak] = {}

    def add(self, call: Call, answer: Answer) -> bool:
        """Add an answer; return whether it repeats the tool's last one."""
        streak = self._streaks.get(call.name)
        found_again = streak and streak.whole == answer.digest and _LOCATION.search(answer.text)
        if streak and (found_again or streak.answer == answer.plain_digest):
            first = streak.first
            about_same = answer.is_full and call.is_about_the_same(first)
            if (
                found_again
                or about_same
                or call.is_like(first)
                or (len(answer.text) >= TELLING and call.has_arguments_of(first))
                or (call.place == first.place and answer.says_why and not answer.is_full)
            ):
                streak.times += 1
                streak.calls_differ |= call.digest != first.digest
                return True
        if streak is None and len(self._streaks) >= MOST_TOOLS:
            del self._streaks[next(iter(self._streaks))]
        self._streaks[call.name] = _Streak(answer.plain_digest, answer.digest, call)
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


class NothingFound:
    """Counts how often in a row the same was sought in vain, by whichever tools and patterns."""

    def __init__(self) -> None:
        self._sought: Call | None = None
        self.times = 0

    def add(self, call: Call, answer: Answer) -> bool:
        """Add an answer; return whether it is no news that there is nothing."""
        if not answer.finds_nothing:
            return False
        again = self._sought is not None and call.seeks_the_same(self._sought)
        self.times = self.times + 1 if again else 1
        self._sought = call
        return again

    def forget(self) -> None:
        """Begin again, because the state changed."""
        self._sought, self.times = None, 0


class LinesSeen:
    """Remembers the lines that were shown of each subject, by whichever calls."""

    def __init__(self) -> None:
        self._lines: OrderedDict[int, None] = OrderedDict()
        self._last_call = ""
        self.times = 0
        """Answers without new lines since something new was seen."""

    def add(self, call: Call, text: str) -> bool:
        """Add an answer; return whether hardly any of its lines is new.

        If the call is the same as the last one, none of them may be new.
        """
        bare = _NUMBERING.sub("", text) if text[:40].lstrip()[:1].isdecimal() else text
        lines = {
            hash((call.subject, line))
            for line in bare.split("\n", MOST_LINES)[:MOST_LINES]
            if line.strip()
        }
        new = [line for line in lines if line not in self._lines]
        is_page = self._last_call != call.digest
        hardly = len(new) < NEW_SHARE * len(lines) if is_page else not new
        self._last_call = call.digest
        self._lines.update(dict.fromkeys(new))
        while len(self._lines) > MOST_LINES_SEEN:
            self._lines.popitem(last=False)
        again = hardly and len(lines) >= FEWEST_LINES
        self.times += again
        return again

    def something_new(self) -> None:
        """Begin counting again, because something new was seen, here or elsewhere."""
        self.times = 0

    def forget(self) -> None:
        """Forget all lines, because the state changed: a file read again may be another one."""
        self._lines.clear()
        self._last_call = ""
        self.times = 0
