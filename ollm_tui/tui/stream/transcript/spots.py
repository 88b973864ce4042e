"""Search in laid-out text: the lines and characters at which the words of a search stand."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate, islice
from typing import TYPE_CHECKING, NamedTuple, Protocol

from textual.strip import Strip

if TYPE_CHECKING:
    from ollm_tui.core.search import Term, Where


class Lines(Protocol):
    """Text laid out for a width."""

    @property
    def line_count(self) -> int:
        """The number of lines."""
        ...

    def feed(self, text: str) -> int:
        """Append text; returns the first line that changed."""
        ...

    def finish(self) -> int:
        """End the text; returns the first line that changed."""
        ...

    def strip(self, y: int) -> Strip:
        """Return a line for the screen."""
        ...

    def plain(self, y: int) -> str:
        """Return a line for copying."""
        ...

    def source_range(self, y: int) -> tuple[int, int]:
        """Return the part of the text a line shows. Lines that share a part have the same range."""
        ...


def lines_at(lines: Lines, source: int) -> range:
    """Return the lines that show an offset of the text: several where they share a part of it."""
    every = range(lines.line_count)

    def start_of(y: int) -> int:
        return lines.source_range(y)[0]

    last = max(bisect_right(every, source, key=start_of) - 1, 0)
    if last >= len(every):
        return range(0)
    first = bisect_left(every, start_of(last), hi=last, key=start_of)
    return range(first, last + 1)


class Spot(NamedTuple):
    """A hit: from a character of one line to a character of the same or a later one."""

    line: int
    start: int
    last_line: int
    end: int

    def on(self, line: int) -> tuple[int, int] | None:
        """Return the part of the hit on a line, None if there is none; -1 is the line's end."""
        if not self.line <= line <= self.last_line:
            return None
        start = self.start if line == self.line else 0
        return start, self.end if line == self.last_line else -1


class Words:
    """Words to search for: literally, but any space or line end stands for any other.

    Case counts only if there is an uppercase letter.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._is_exact = any(character.isupper() for character in text)
        self._is_one_word = not re.search(r"\s", text)
        runs = re.findall(r"\s+|\S", text)
        self._pattern = re.compile("".join(map(self._alternatives, runs)))
        self.reach = len(text.split())
        """The most lines that a hit can extend over."""

    def narrows(self, other: Words) -> bool:
        """Return whether every text with a hit of this has one of the other."""
        # With an uppercase letter case counts: fewer texts still.
        return self.text.startswith(other.text)

    def count(self, text: str) -> int:
        """Return how many hits there are."""
        if not self._is_one_word:
            return len(self._pattern.findall(text))
        # Takes half the time of the pattern.
        return text.count(self.text) if self._is_exact else text.lower().count(self.text)

    def offsets(self, text: str) -> list[int]:
        """Return the offsets at which the hits begin."""
        return [found.start() for found in self._pattern.finditer(text)]

    def spots(self, lines: Lines, between: range) -> list[Spot]:
        """Return the hits on some of the lines."""
        between = range(max(between.start, 0), min(between.stop, lines.line_count))
        texts = [lines.plain(y) for y in between]
        starts = list(accumulate((len(text) + 1 for text in texts), initial=0))

        def position(offset: int) -> tuple[int, int]:
            row = bisect_right(starts, offset) - 1
            return between.start + row, offset - starts[row]

        found = self._pattern.finditer("\n".join(texts))
        return [Spot(*position(hit.start()), *position(hit.end())) for hit in found]

    def spot(self, text: str, number: int, lines: Lines) -> Spot:
        """Return where a hit of the text is in its lines; the nearest line if it is not shown."""
        hit = next(islice(self._pattern.finditer(text), number, None), None)
        offset = hit.start() if hit else 0
        same = lines_at(lines, offset)
        around = range(same.start, same.stop + self.reach)
        spots = [spot for spot in self.spots(lines, around) if spot.line in same]
        if not spots:
            return Spot(same.start, 0, same.start, -1)
        # Marks of Markdown are not shown, so hits are counted from the start of the line's source.
        begin = max(lines.source_range(same.start)[0], 0)
        before = sum(1 for _ in self._pattern.finditer(text, begin, offset))
        return spots[min(before, len(spots) - 1)]

    def _alternatives(self, run: str) -> str:
        """Return a pattern for one character; sets of two are faster than ignoring case."""
        if run.isspace():
            return r"\s+"
        lower, upper = run.lower(), run.upper()
        if self._is_exact or lower == upper or len(lower + upper) > 2:
            return re.escape(run)
        return f"[{re.escape(lower)}{re.escape(upper)}]"


class Terms(Words):
    """Any of several terms, each at the beginning of a word or anywhere; case does not matter."""

    def __init__(self, terms: Iterable[Term], where: Where = "words") -> None:
        terms = tuple(terms)
        super().__init__(" ".join(term.text for term in terms))
        self._is_one_word = False
        either = "|".join(_pattern(term, where) for term in terms)
        self._pattern = re.compile(either or r"(?!)", re.IGNORECASE)
        self.reach = max((len(term.text.split()) for term in terms), default=0)


def _pattern(term: Term, where: Where) -> str:
    words = r"\s+".join(map(re.escape, term.text.split()))
    if term.is_literal or (where == "anywhere" and term.may_stand_inside):
        return words
    return rf"(?<![^\W_]){words}" + (r"(?![^\W_])" if term.whole else "")
