"""Chanting: a reply that repeats the same words again and again, noticed while it streams."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from ollm_tui.engine.loops.prose import LIST_ITEM, LONG_LINE, MARK, MARK_END, ProseStream

MOST_KEPT = 8000
"""Characters of a reply after which it is cut to its last KEPT ones."""
KEPT = 6000
CHECKED_EVERY, COUNTED_EVERY = 64, 512
"""New characters before the text is checked again, and before its sentences are counted."""
TAIL = 24
"""Last characters that are searched for further up: where they stand, a repetition may begin."""
MOST_PLACES = 12
"""Places of the tail that are tried."""
LEAST_REPEATED = 120
"""Characters that all repetitions have together at least."""
LEAST_WITHOUT_WORDS = 1000
"""The same for a unit without letters, such as a ruler or numbers of a table."""
LONG_UNIT = 120
"""Characters from which on a unit is no figure of speech: fewer repetitions are enough."""
MORE_THAN_REPLIES = 2
"""Repetitions that a shorter unit needs beyond the limit for whole replies."""
MORE_LINES, LEAST_LINES = 9, 300
"""The same for lines of lists, tables and code: beyond the limit, and characters in all."""
NUMBERED = "№"
"""What stands for the number of a heading."""
LONG_SECTION = 80
"""Characters of a section under a numbered heading from which on it is no mere finding."""
LITANY_WINDOW, LITANY_TIMES, LITANY_LENGTH = 2000, 8, 20
"""A litany: among the last characters one sentence of a length, that often and three in five."""

COUNTED_TIMES = 12
"""The number of times for sentences that differ only in a number that counts them."""

_NUMBERING = re.compile(rf"\A(?:{LIST_ITEM.pattern}|\s*\|\s*\d+\s*(?=\|))")
"""The mark or number of an item, or the number of a row in the first cell of a table."""
_COUNTED_LINE = re.compile(
    r"(?i)\A\W*((?:re)?try|attempt|iteration|round)\W{1,3}\d+\s*[:.)–—-]\s+(?=(?:\S+\s+){4})"
)
"""A try and its number before a sentence: Attempt 3: that did not work either."""
_HEADING = re.compile(r"\s*#{1,6}\s|\s*(?:\*\*|__)[^*_\n]{1,80}(?:\*\*|__):?\s*\Z")
_DIGITS = re.compile(r"\d+")
_SPACES = re.compile(r"[^\S\n]+")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n")


class Chant(NamedTuple):
    """The words that are repeated, and how often so far."""

    unit: str
    times: int


class Chanting:
    """Watches one reply for repetitions while it streams.

    It is read in two ways: the prose as it is, where little repetition is enough, and all lines
    without their numbering, also those of lists, tables and code, where the same has to come
    again and again.
    """

    def __init__(self) -> None:
        self._stream = ProseStream()
        self._prose = Repetitions()
        self._lines = Repetitions()
        self._line = ""
        self._uncounted = 0

    def feed(self, chunk: str, limit: int) -> Chant | None:
        """Take the next chunk. `limit` is the number of equal whole replies that is a loop."""
        for piece in self._stream.feed(chunk):
            self._prose.append(_without_number_of_heading(piece))
            self._uncounted += len(piece)
            if self._prose.is_due and (found := self._check_prose(limit)):
                return found
        *lines, self._line = (self._line + chunk).split("\n")
        for line in lines:
            self._lines.append(_without_numbering(line))
        if len(self._line) >= LONG_LINE:
            self._lines.append(self._line)
            self._line = ""
        return self._check_lines(limit) if self._lines.is_due else None

    def finish(self, limit: int) -> Chant | None:
        """Check the end of the reply."""
        for piece in self._stream.finish():
            self._prose.append(_without_number_of_heading(piece))
        self._lines.append(self._line)
        self._line = ""
        found = None
        if self._prose.is_unchecked:
            found = self._prose.chant(lambda unit: _least_times(unit, limit)) or self._litany(limit)
        return found or self._check_lines(limit)

    def _check_prose(self, limit: int) -> Chant | None:
        if found := self._prose.chant(lambda unit: _least_times(unit, limit)):
            return found
        if self._uncounted < COUNTED_EVERY:
            return None
        self._uncounted = 0
        return self._litany(limit)

    def _check_lines(self, limit: int) -> Chant | None:
        return self._lines.chant(lambda unit: _least_lines(unit, limit))

    def _litany(self, limit: int) -> Chant | None:
        """Return a sentence that most of the last ones are, with others between them."""
        recent = self._prose.text[-LITANY_WINDOW:].rpartition(MARK_END)[2]
        sentences = [part for part in _SENTENCE_END.split(recent) if part.strip()]
        if len(sentences) < LITANY_TIMES:
            return None
        least = max(LITANY_TIMES, limit + MORE_THAN_REPLIES)
        if found := _most_common(sentences, least):
            return found
        # Only the last line: lines that are counted are data or a list, whatever they look like.
        sentences = _SENTENCE_END.split(recent.rpartition("\n")[2])
        return _most_common(_counted(sentences), max(COUNTED_TIMES, least), of=len(sentences))


class Repetitions:
    """The end of a growing text, and whether it is the same again and again."""

    def __init__(self) -> None:
        self.text = ""
        self._unchecked = 0

    def append(self, piece: str) -> None:
        """Add to the end; the oldest part is forgotten."""
        text = _SPACES.sub(" ", piece)
        if self.text.endswith((" ", "\n")):
            text = text.lstrip()
        self.text += text
        self._unchecked += len(text)
        if len(self.text) > MOST_KEPT:
            self.text = self.text[-KEPT:]

    @property
    def is_due(self) -> bool:
        """Whether there is enough new text for a check."""
        return self._unchecked >= CHECKED_EVERY

    @property
    def is_unchecked(self) -> bool:
        """Whether anything is new since the last check."""
        return self._unchecked > 0

    def chant(self, least_times: Callable[[str], int]) -> Chant | None:
        """Return a unit that the text ends with often enough, without anything between."""
        self._unchecked = 0
        text = self.text
        end = len(text)
        tail_start = end - TAIL
        place = tail_start
        for _ in range(MOST_PLACES):
            place = text.rfind(text[tail_start:], 0, place + TAIL - 1)
            if tail_start <= 0 or place < 0:
                return None
            period = tail_start - place
            reach = period * (least_times(text[-period:]) - 1)
            if reach + period <= end and text[-reach:] == text[-reach - period : -period]:
                return _chant(text, period)
        return None


def _without_number_of_heading(line: str) -> str:
    """Return a heading with a mark for its first number; any other line as it is."""
    return _DIGITS.sub(NUMBERED, line, count=1) if _HEADING.match(line) else line


def _without_numbering(line: str) -> str:
    """Return a line without what numbers it, so that an item under new numbers is the same."""
    bare = _COUNTED_LINE.sub(r"\1 ", _NUMBERING.sub("", line)).strip()
    return f"{bare}\n" if bare else ""


def _most_common(sentences: list[str], least: int, of: int = 0) -> Chant | None:
    """Return the most common sentence if it comes often enough, among `of` sentences in all."""
    if len(sentences) < least:
        return None
    sentence, times = Counter(sentences).most_common(1)[0]
    is_most = 5 * times >= 3 * max(of, len(sentences))
    if times >= least and is_most and len(sentence) >= LITANY_LENGTH:
        return Chant(sentence, times)
    return None


def _counted(sentences: list[str]) -> list[str]:
    """Return the sentences whose only number is one more than that of the sentence before."""
    found: list[str] = []
    last = -1
    for sentence in sentences:
        numbers = _DIGITS.findall(sentence)
        number = int(numbers[0][:9]) if len(numbers) == 1 else -1
        if number == last + 1 and number > 0:
            found.append(_DIGITS.sub("…", sentence))
        last = number
    return found


def _least_times(unit: str, limit: int) -> int:
    if not any(map(str.isalpha, unit)):
        return max(limit, -(-LEAST_WITHOUT_WORDS // len(unit)))
    if len(unit) < LONG_SECTION * unit.count(NUMBERED):
        return MOST_KEPT  # findings of file after file are often the same
    if len(unit) >= LONG_UNIT:
        return limit
    return max(limit + MORE_THAN_REPLIES, -(-LEAST_REPEATED // len(unit)))


def _least_lines(unit: str, limit: int) -> int:
    least = LEAST_LINES if any(map(str.isalpha, unit)) else LEAST_WITHOUT_WORDS
    return max(limit + MORE_LINES, -(-least // len(unit)))


def _chant(text: str, period: int) -> Chant:
    unit = text[-period:]
    times = 1
    while text[-(times + 1) * period : -times * period] == unit:
        times += 1
    # The period ends wherever it was noticed; shown is a unit that begins with a sentence or word.
    begins = _SENTENCE_END.search(unit) or _SPACES.search(unit)
    start = begins.end() if begins else 0
    shown = MARK.sub("[…]", unit[start:] + unit[:start])
    return Chant(shown.replace(NUMBERED, "…"), times)
