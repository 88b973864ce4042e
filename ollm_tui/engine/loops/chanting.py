"""Chanting: a reply that repeats the same words again and again, noticed while it streams."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

LONG_LINE = 200
"""Characters after which a line is passed on before its end has arrived."""
MARK_END = "⟧"
"""The end of a mark, which stands in the prose for code, a table or a list left out."""
MARK = re.compile(f"⟦[0-9a-f]*{MARK_END}")

_FENCE = re.compile(r"\s{0,12}(?:>\s?)?(`{3,}|~{3,})")
_LIST = re.compile(r"\s*(?:[-*+•–]|\(?\d{1,4}[.):]|\(?[A-Za-z][.)])(?:\s|\Z)")
_INDENTED = re.compile(r"(?: {2,}|\t)\S")
_DATA = re.compile(
    r"\s*[\[{]\s*[\[{\"]|\s*</?[A-Za-z]|\s*\[?(?:\d{4}-\d\d-\d\d|\d{1,2}:\d\d:\d\d)"
    r"|[^\s,]*(?:,[^\s,]*){2,}\Z"
)
"""A line of JSON, markup, a log, or values between commas."""
_DRAWN = re.compile(r"[\s+|=*#~_:/\\<>^.()\u2500-\u257f-]+")
"""A line of a drawing, or a ruler."""
_TABLE = re.compile(r"\s*\||[^|]*\|[^|]*\|")

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
LITANY_WINDOW, LITANY_TIMES, LITANY_LENGTH = 2000, 8, 20
"""A litany: among the last characters one sentence of a length, that often and three in five."""

COUNTED_TIMES = 12
"""The number of times for sentences that differ only in a number that counts them."""

_DIGITS = re.compile(r"\d+")
_SPACES = re.compile(r"[^\S\n]+")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n")


class Chant(NamedTuple):
    """The words that are repeated, and how often so far."""

    unit: str
    times: int


class Chanting:
    """Watches one reply for repetitions while it streams."""

    def __init__(self) -> None:
        self._prose = ProseStream()
        self._text = ""
        self._unchecked = 0
        self._uncounted = 0

    def feed(self, chunk: str, limit: int) -> Chant | None:
        """Take the next chunk. `limit` is the number of equal whole replies that is a loop."""
        for piece in self._prose.feed(chunk):
            self._append(piece)
            if self._unchecked >= CHECKED_EVERY and (found := self._check(limit)):
                return found
        return None

    def finish(self, limit: int) -> Chant | None:
        """Check the end of the reply."""
        for piece in self._prose.finish():
            self._append(piece)
        return (self._periodic(limit) or self._litany(limit)) if self._unchecked else None

    def _append(self, piece: str) -> None:
        text = _SPACES.sub(" ", piece)
        if self._text.endswith((" ", "\n")):
            text = text.lstrip()
        self._text += text
        self._unchecked += len(text)
        self._uncounted += len(text)
        if len(self._text) > MOST_KEPT:
            self._text = self._text[-KEPT:]

    def _check(self, limit: int) -> Chant | None:
        self._unchecked = 0
        if found := self._periodic(limit):
            return found
        if self._uncounted < COUNTED_EVERY:
            return None
        self._uncounted = 0
        return self._litany(limit)

    def _periodic(self, limit: int) -> Chant | None:
        """Return a unit that the text ends with often enough, without anything between."""
        text = self._text
        end = len(text)
        tail_start = end - TAIL
        place = tail_start
        for _ in range(MOST_PLACES):
            place = text.rfind(text[tail_start:], 0, place + TAIL - 1)
            if tail_start <= 0 or place < 0:
                return None
            period = tail_start - place
            reach = period * (_least_times(text[-period:], limit) - 1)
            if reach + period <= end and text[-reach:] == text[-reach - period : -period]:
                return _chant(text, period)
        return None

    def _litany(self, limit: int) -> Chant | None:
        """Return a sentence that most of the last ones are, with others between them."""
        recent = self._text[-LITANY_WINDOW:].rpartition(MARK_END)[2]
        sentences = [part for part in _SENTENCE_END.split(recent) if part.strip()]
        if len(sentences) < LITANY_TIMES:
            return None
        least = max(LITANY_TIMES, limit + MORE_THAN_REPLIES)
        if found := _most_common(sentences, least):
            return found
        # Only the last line: lines that are counted are data or a list, whatever they look like.
        sentences = _SENTENCE_END.split(recent.rpartition("\n")[2])
        return _most_common(_counted(sentences), max(COUNTED_TIMES, least), of=len(sentences))


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
    if len(unit) >= LONG_UNIT:
        return limit
    return max(limit + MORE_THAN_REPLIES, -(-LEAST_REPEATED // len(unit)))


def _chant(text: str, period: int) -> Chant:
    unit = text[-period:]
    times = 1
    while text[-(times + 1) * period : -times * period] == unit:
        times += 1
    # The period ends wherever it was noticed; shown is a unit that begins with a sentence or word.
    begins = _SENTENCE_END.search(unit) or _SPACES.search(unit)
    start = begins.end() if begins else 0
    return Chant(MARK.sub("[…]", unit[start:] + unit[:start]), times)


class ProseStream:
    """Yields the prose of one reply, whose chunks may be cut anywhere.

    Code, tables, lists and data repeat by nature. Each run of them is replaced by a mark with
    its digest, so that prose around other content does not look the same.
    """

    def __init__(self) -> None:
        self._line = ""
        self._fence = ""
        self._is_prose: bool | None = None
        """Whether the current line is prose; None until enough of it has arrived."""
        self._aside = blake2b(digest_size=8)
        self._has_aside = False

    def feed(self, chunk: str) -> Iterator[str]:
        """Yield the prose that is certain by now; lines end with \\n."""
        first, *others = chunk.split("\n")
        yield from self._add(first)
        for part in others:
            yield from self._end_line()
            yield from self._add(part)

    def finish(self) -> Iterator[str]:
        """Yield what was still held back."""
        if self._line:
            yield from self._pass_on("")

    def _add(self, part: str) -> Iterator[str]:
        self._line += part
        if len(self._line) >= LONG_LINE:
            yield from self._pass_on("")

    def _end_line(self) -> Iterator[str]:
        yield from self._pass_on("\n")
        self._is_prose = None

    def _pass_on(self, ending: str) -> Iterator[str]:
        if self._is_prose is None:
            self._is_prose = self._look(self._line)
        text, self._line = self._line + ending, ""
        if not self._is_prose:
            self._aside.update(text.encode("utf-8", "surrogatepass"))
            self._has_aside = True
        elif text.strip():
            yield from self._mark()
            yield text

    def _mark(self) -> Iterator[str]:
        """Yield the mark for the code, table or list before this prose, if there is any."""
        if self._has_aside:
            yield f"⟦{self._aside.hexdigest()}{MARK_END}\n"
            self._aside = blake2b(digest_size=8)
            self._has_aside = False

    def _look(self, line: str) -> bool:
        """Whether a line is prose; remembers whether it opens or closes a code fence."""
        fence = _FENCE.match(line)
        if self._fence:
            if fence and fence[1].startswith(self._fence) and not line.strip(" \t>`~"):
                self._fence = ""
            return False
        if fence:
            self._fence = fence[1]
            return False
        if len(line) < LONG_LINE and _DRAWN.fullmatch(line):
            return False
        return not any(kind.match(line) for kind in (_LIST, _INDENTED, _TABLE, _DATA))
