"""A reply that goes in circles while it streams: the same words again and again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

LONG_LINE = 200
"""Characters after which a line is passed on before it ends."""
MARK_END = "⟧"
MARK = re.compile(f"⟦[0-9a-f]*{MARK_END}")

_FENCE = re.compile(r"\s{0,12}(?:>\s?)?(`{3,}|~{3,})")
_LIST = re.compile(r"\s*(?:[-*+•–]|\(?\d{1,4}[.):]|\(?[A-Za-z][.)])(?:\s|\Z)")
_INDENTED = re.compile(r"(?: {2,}|\t)\S")
_DATA = re.compile(
    r"\s*[\[{]\s*[\[{\"]|\s*</?[A-Za-z]|\s*\[?(?:\d{4}-\d\d-\d\d|\d{1,2}:\d\d:\d\d)"
    r"|[^\s,]*(?:,[^\s,]*){2,}\Z"
)
"""JSON, markup, a line of a log, values between commas."""
_DRAWN = re.compile(r"[\s+|=*#~_:/\\<>^.()\u2500-\u257f-]+")
"""A line of a drawing, or a ruler; a very long one is not."""
_TABLE = re.compile(r"\s*\||[^|]*\|[^|]*\|")


class ProseStream:
    """Takes the chunks of one reply, cut anywhere."""

    def __init__(self) -> None:
        self._line = ""
        self._fence = ""
        self._is_prose: bool | None = None
        """Of the line that has begun; None until enough of it is there."""
        self._aside = blake2b(digest_size=8)
        self._has_aside = False

    def feed(self, chunk: str) -> Iterator[str]:
        """The prose that is certain by now, lines ending with \\n."""
        first, *others = chunk.split("\n")
        yield from self._add(first)
        for part in others:
            yield from self._end_line()
            yield from self._add(part)

    def finish(self) -> Iterator[str]:
        """What was still held back."""
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
        """The code, table or list before this prose."""
        if self._has_aside:
            yield f"⟦{self._aside.hexdigest()}{MARK_END}\n"
            self._aside = blake2b(digest_size=8)
            self._has_aside = False

    def _look(self, line: str) -> bool:
        """Whether a line is prose, and what it does to the fence."""
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


MOST_KEPT = 8000
KEPT = 6000
CHECKED_EVERY, COUNTED_EVERY = 64, 512
"""New characters before the text is looked at again, and before its sentences are counted."""
TAIL = 24
"""The last characters are looked for further up: where they stand, a repetition may begin."""
MOST_PLACES = 12
LEAST_REPEATED = 120
"""Characters the repetitions take together."""
LEAST_WITHOUT_WORDS = 1000
"""The same for rows of digits and signs, such as rulers and numbers of a table."""
LONG_UNIT = 120
"""A unit that long is no figure of speech: fewer repetitions are enough."""
MORE_THAN_REPLIES = 2
"""Repetitions of a shorter unit beyond those of whole replies."""
LITANY_WINDOW, LITANY_TIMES, LITANY_LENGTH = 2000, 8, 20
"""One sentence that often, and three of five, among the last characters."""

COUNTED_TIMES = 12
"""The same for sentences that differ in nothing but a number that counts them."""

_DIGITS = re.compile(r"\d+")
_SPACES = re.compile(r"[^\S\n]+")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n")


class Chant(NamedTuple):
    """What is repeated, and how often so far."""

    unit: str
    times: int


class Chanting:
    """Watches one reply."""

    def __init__(self) -> None:
        self._prose = ProseStream()
        self._text = ""
        self._unchecked = 0
        self._uncounted = 0

    def feed(self, chunk: str, limit: int) -> Chant | None:
        """A chunk more of the reply. `limit` is how often a whole reply may not come again."""
        for piece in self._prose.feed(chunk):
            self._append(piece)
            if self._unchecked >= CHECKED_EVERY and (found := self._check(limit)):
                return found
        return None

    def finish(self, limit: int) -> Chant | None:
        """The reply is over."""
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
        recent = self._text[-LITANY_WINDOW:].rpartition(MARK_END)[2]
        sentences = [part for part in _SENTENCE_END.split(recent) if part.strip()]
        if len(sentences) < LITANY_TIMES:
            return None
        least = max(LITANY_TIMES, limit + MORE_THAN_REPLIES)
        if found := _most_common(sentences, least):
            return found
        # Lines that are counted are data or a list, whatever they look like.
        sentences = _SENTENCE_END.split(recent.rpartition("\n")[2])
        return _most_common(_counted(sentences), max(COUNTED_TIMES, least), of=len(sentences))


def _most_common(sentences: list[str], least: int, of: int = 0) -> Chant | None:
    """The sentence that most of them are."""
    if len(sentences) < least:
        return None
    sentence, times = Counter(sentences).most_common(1)[0]
    is_most = 5 * times >= 3 * max(of, len(sentences))
    if times >= least and is_most and len(sentence) >= LITANY_LENGTH:
        return Chant(sentence, times)
    return None


def _counted(sentences: list[str]) -> list[str]:
    """Those with one number, which is one more than that of the sentence before."""
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
    # It is caught in the middle of a sentence or word: shown from where one begins.
    begins = _SENTENCE_END.search(unit) or _SPACES.search(unit)
    start = begins.end() if begins else 0
    return Chant(MARK.sub("[…]", unit[start:] + unit[:start]), times)
