"""Repetitions that the user asks for or allows, and the limits that follow from them."""

from __future__ import annotations

import re
from collections import Counter

from ollm_tui.core.loop import LoopFound
from ollm_tui.settings.schema import LoopDetection

OPEN_ENDED = 30
"""Repetitions granted for requests such as "poll it every minute" or "run it until it fails"."""
MOST = 10_000
"""The largest number of repetitions that can be asked for."""
STALE_ROUNDS, ALL_ROUNDS = "turn-limit", "round-limit"
"""The patterns of a turn with too many rounds without anything new, and with too many at all."""
SEARCHED = 1000
"""Characters at either end of a message that are searched: what is between them was pasted."""

_SMALL = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
_WORDS = {word: number for number, word in enumerate(_SMALL, start=1)} | {
    **dict.fromkeys(("twelve", "dozen"), 12),
    **{f"{ten}ty": 10 * n for n, ten in enumerate(("twen", "thir", "for", "fif", "six"), start=2)},
    "fifteen": 15,
    "hundred": 100,
    "thousand": 1000,
}
_VERB = (
    r"(?:re-?)?(?:run|do|repeat|execute|call|invoke|perform|try|test|check|ping|fetch|request|send|"
    r"query|poll|say|write|print|output|type|echo|roll|flip|generate|start|launch|hit|benchmark|"
    r"measure|time|sample|draw|ask|apply|make|build|render|play|count|go|loop|iterate|load|reload|"
    r"submit|post|get|read|curl|click|press|toss|throw|spin|restart|refresh|trigger|compile|simulate|"
    r"evaluate|compute|exercise|scroll|greet|sing)"
)
_BEGINNING = (
    r"(?:^|[.!?;:,\n]|\b(?:please|and|then|you|to|now|just|also|must|should|let's|lets|me)\b)\s*"
)
"""What an order follows: it begins a clause. "The upload failed 3 times" and "make it retry
5 times" do not ask for anything to be repeated."""
_NUMBER = rf"(\d{{1,6}}|(?:an?\s+)?(?:{'|'.join(_WORDS)}))"
_UNIT = (
    r"(?:more\s+)?(?:times|time|x\b|repetitions|repeats|iterations|runs|rounds|attempts|passes"
    r"|copies)"
)
_REST = r"(?>(?<=\s)'[^'\n]{0,80}'|\"[^\"\n]{0,80}\"|[^.!?\n]|[.!?](?=[\w/])){0,80}?"
"""The words up to the number; quotations and file names in them may hold a full stop."""
_ORDER = re.compile(
    rf"{_BEGINNING}(?!make\s+(?:it|the|sure)\b){_VERB}\b{_REST}"
    rf"(?:\b{_NUMBER}\s*{_UNIT}|\bx\s?(\d{{1,6}})\b|\b(twice)\b|\b(thrice)\b)",
    re.IGNORECASE,
)
_SHORT_ORDER = re.compile(
    rf"\A\W*(?:{_NUMBER}\s*{_UNIT}|(?:and\s+)?again\W+{_NUMBER}\s*{_UNIT})", re.IGNORECASE
)
_WATCHING = r"(?:poll|watch|monitor|tail|wait|keep\s+an\s+eye)"
_TRYING = r"(?:ping|keep\s+\w+ing|(?:re-?)?check|retry|run|repeat)"
_NEAR = r"(?:[^.!?\n]|[.!?](?=[\w/])){0,80}?"
_ENDED = (
    r"\s+(?:it|one|something|any\w*|that|(?:the|all)\s+(?:\w+\s+)?\w+)\s+"
    r"(?:fails?|breaks?|crashes|finishes|ends|(?:comes|goes)\s+(?:back|up|online|live)|responds"
    r"|appears|changes|(?:is|are|has|have)\s+(?:up|back|ready|done|finished|completed?|available|online|deployed))\b"
)
_OPEN_ENDED = re.compile(
    rf"\b(?:{_WATCHING}|{_TRYING})\b{_NEAR}"
    rf"\b(?:every\s+(?:\d+\s*|few\s+)?(?:s|sec|seconds?|min|minutes?|hours?)\b|until{_ENDED})"
    rf"|\b{_WATCHING}\b{_NEAR}\b(?:when|once|as\s+soon\s+as){_ENDED}",
    re.IGNORECASE,
)


def repetitions_asked(text: str) -> int:
    """Return the largest number of repetitions a message asks for; 0 if it asks for none."""
    if len(text) > 2 * SEARCHED:
        text = f"{text[:SEARCHED]}\n{text[-SEARCHED:]}"
    numbers = [
        _value(group)
        for found in (*_ORDER.finditer(text), *_SHORT_ORDER.finditer(text))
        for group in found.groups()
        if group
    ]
    if _OPEN_ENDED.search(text):
        numbers.append(OPEN_ENDED)
    return min(max(numbers, default=0), MOST)


def _value(written: str) -> int:
    word = written.casefold().split()[-1]
    if word in ("twice", "thrice"):
        return 2 if word == "twice" else 3
    return _WORDS[word] if word in _WORDS else int(word)


def unsure(limit: int) -> int:
    """Return the limit where calls or answers are not quite the same."""
    return 2 * limit - 1


class Allowances:
    """The limits of repetitions and rounds.

    What is allowed lasts for the session; what was asked for lasts until the user speaks again.
    """

    def __init__(self, settings: LoopDetection) -> None:
        self._settings = settings
        self._allowed: set[str] = set()
        self._asked = 0
        self._more = 0
        self._more_rounds: Counter[str] = Counter()

    @property
    def limit(self) -> int:
        """The number of repetitions in a row that is a loop now."""
        return max(self._settings.repeat_threshold, self._asked + 1) + self._more

    @property
    def stale_rounds(self) -> int:
        """The number of rounds without anything new that the turn may take."""
        return self._rounds(self._settings.max_turns, STALE_ROUNDS)

    @property
    def rounds(self) -> int:
        """The number of rounds that the turn may take."""
        return self._rounds(self._settings.max_rounds, ALL_ROUNDS)

    def _rounds(self, most: int, pattern: str) -> int:
        # Twice what was asked for: a repetition may take more than one round.
        return max(most, 2 * self._asked) + most * self._more_rounds[pattern]

    def user_spoke(self, text: str) -> None:
        """Read from a new message how many repetitions the user asks for."""
        self._asked = repetitions_asked(text)
        self._more_rounds.clear()
        self.something_new()

    def something_new(self) -> None:
        """Take back what `go_on` granted: the repetition it was granted for is over."""
        self._more = 0

    def allow(self, pattern: str) -> None:
        """Never stop for this tool or pattern again."""
        self._allowed.add(pattern)

    def go_on(self, found: LoopFound) -> None:
        """Grant one more repetition; for a turn that is only long, as many rounds again."""
        if found.type == "turn-limit":
            self._more_rounds[found.pattern] += 1
        else:
            self._more += 1

    def covers(self, found: LoopFound) -> bool:
        """Whether the user has allowed this loop for the session."""
        return found.pattern in self._allowed or found.tool in self._allowed
