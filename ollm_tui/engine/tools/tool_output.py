"""Cuts the output of tools for the model: its head, its tail, and the lines between that tell of
errors, with marks where something is missing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from ollm_tui.core.cut_output import PAGE_LINES, cut_note, gap_mark

HEAD_SHARE = 0.75
"""The head's share of head and tail: it says what it is, the tail how it ended."""
ERROR_SHARE = 0.3
"""Share of a cut output for lines from its middle that tell of errors."""
LEAST_TOKENS = 200
"""What an output may take at least, also in the smallest window."""
WINDOW_SHARE = 0.2
"""Share of the longest prompt that an output may take: no single one fills it."""
MOST_TOKENS = 8000
"""What an output may take at most, also in the largest window."""
GUESSED_CHARACTERS = 3
"""Characters of a token, guessed low for most outputs; where it is less, the cut is repeated."""
LINES_BEFORE, LINES_AFTER = 2, 3
"""Neighbours that are kept of a line that tells of an error."""
LONGEST_LINE = 300
"""Characters of a line of the middle that are kept."""
MARK_CHARACTERS = 40
"""About how long the mark is that each kept piece of the middle brings with it."""

CountTokens = Callable[[str], int]

_STRUCTURE = re.compile(
    r'E {2,}\S|\s*File "[^"]+", line \d|Traceback \(|\s*(?:FAILED|FAIL|ERROR)\b[: \t]'
    r"|\s*(?:error|fatal|panic)(?:\[\w+\])?: |(?:\w+\.)*\w*(?:Error|Exception)\b:?"
    r"|\s*\S+:\d+(?::\d+)?:\s*(?:error|fatal|warning|[A-Z]{1,4}\d{2,4}\b|\w*(?:Error|Exception)\b)"
    r"|make(?:\[\d+\])?: \*\*\*|thread '[^']*' panicked|Caused by:"
)
"""How lines begin that compilers, test runners and tracebacks print."""
_WORD = re.compile(
    r"\b(?:errors?|err|fail(?:ed|ure|ures|ing|s)?|exceptions?|fatal|panic|abort(?:ed)?|killed)\b",
    re.I,
)
_NOTHING = re.compile(r"\b(?:0|no|without) (?:errors?|failed|failures?|exceptions?)\b", re.I)
"""What says that there was none."""
_NUMBERS = re.compile(r"\d+")


def allowance(limit: int | None) -> int:
    """How many tokens one output may take where `limit` is the longest prompt, if known."""
    if limit is None:
        return MOST_TOKENS
    return max(LEAST_TOKENS, min(MOST_TOKENS, int(limit * WINDOW_SHARE)))


def cut(text: str, tokens: int, count: CountTokens, call_id: str = "") -> str:
    """The text if it has no more than so many tokens, else its head, errors and tail.

    With the id of the call the model is told how to read the rest. Text that is too long by far
    is cut before it is counted: a huge output costs no more than a long one.
    """
    characters = tokens * GUESSED_CHARACTERS
    if len(text) <= tokens or (len(text) <= 2 * characters and count(text) <= tokens):
        return text
    errors = _errors(text.split("\n"))
    while True:
        short = _shortened(text, characters, errors, call_id)
        if count(short) <= tokens or characters < LEAST_TOKENS:
            return short
        characters = characters * 3 // 4


def _shortened(text: str, characters: int, errors: Sequence[_Error], call_id: str) -> str:
    room = int(characters * ERROR_SHARE) if errors else 0
    ends = _ends(text, characters - room)
    kept = _telling_lines(ends, errors, room)
    if room and not kept:  # all of them are in head and tail
        ends = _ends(text, characters)
    # The cut goes through a line where one is longer than the room for it.
    is_in_line = len(ends.middle) == 1
    if is_in_line:
        total, unit = len(text), "characters"
        gone = total - len(ends.head) - len(ends.tail)
        marked = [gap_mark(f"{gone} characters")]
    else:
        total, unit = text.removesuffix("\n").count("\n") + 1, "lines"
        gone = len(ends.middle) - len(kept)
        marked = _with_marks(ends, kept)
    last = ends.first + PAGE_LINES - 1
    how = f"read_output call={call_id} start={ends.first} end={last}" if call_id else ""
    note = cut_note(gone, total, unit, how)
    return "\n".join((ends.head.rstrip("\n"), note, *marked, ends.tail.lstrip("\n")))


class _Ends(NamedTuple):
    """A text whose middle goes."""

    head: str
    middle: list[str]
    """The lines between head and tail."""
    tail: str

    @property
    def first(self) -> int:
        """The number of the first line of the middle."""
        return self.head.count("\n") + 1


def _ends(text: str, characters: int) -> _Ends:
    head = _whole_lines(text[: int(characters * HEAD_SHARE)], from_end=False)
    tail = _whole_lines(text[len(text) - int(characters * (1 - HEAD_SHARE)) :], from_end=True)
    middle = text[len(head) : len(text) - len(tail)].removesuffix("\n")
    return _Ends(head, middle.split("\n"), tail)


def _whole_lines(piece: str, *, from_end: bool) -> str:
    """A piece without its cut line, unless less than half would be left."""
    if from_end:
        start = piece.find("\n") + 1
        return piece[start:] if 0 < start < len(piece) // 2 else piece
    end = piece.rfind("\n")
    return piece[: end + 1] if end > len(piece) // 2 else piece


def _with_marks(ends: _Ends, kept: set[int]) -> list[str]:
    """The kept lines of the middle in order, and a mark for each gap."""
    pieces: list[str] = []
    for is_kept, group in groupby(range(len(ends.middle)), key=kept.__contains__):
        numbers = list(group)
        if is_kept:
            pieces += (_clipped(ends.middle[number]) for number in numbers)
        else:
            pieces.append(gap_mark(f"lines {ends.first + numbers[0]}-{ends.first + numbers[-1]}"))
    return pieces


def _telling_lines(ends: _Ends, errors: Sequence[_Error], room: int) -> set[int]:
    """The lines of the middle that tell of errors, with their neighbours, as many as fit.

    What is new comes before what is said again, and what has the form of an error before what has
    only its words; of those that are alike in this, some from everywhere are taken.
    """
    kept: set[int] = set()
    lines, start = ends.middle, ends.first - 1
    inside = [each for each in errors if start <= each.line < start + len(lines)]
    for _, group in groupby(inside, key=lambda each: (each.repeats, each.rank)):
        for error in _spread(list(group)):
            at = error.line - start
            block = range(max(at - LINES_BEFORE, 0), min(at + LINES_AFTER + 1, len(lines)))
            new = [each for each in block if each not in kept]
            cost = sum(len(_clipped(lines[each])) + 1 for each in new) + MARK_CHARACTERS
            if cost > room:
                return kept
            kept.update(new)
            room -= cost
    return kept


class _Error(NamedTuple):
    """A line that tells of an error; the most telling ones come first in order."""

    repeats: int
    """How often a line like it came before."""
    rank: int
    """0 has the form of an error, 1 reads like one, 2 has a word of one."""
    line: int


def _errors(lines: Sequence[str]) -> list[_Error]:
    """The lines that tell of errors, the most telling first."""
    # Loaded here: it knows the words of errors by the hundred, and few outputs are ever cut.
    from ollm_tui.engine.tools.error_lines import is_error

    seen: Counter[str] = Counter()
    found: list[_Error] = []
    for number, line in enumerate(lines):
        beginning = line[:LONGEST_LINE]
        if _STRUCTURE.match(beginning):
            rank = 0
        elif is_error(beginning):
            rank = 1
        elif _WORD.search(_NOTHING.sub("", beginning)):
            rank = 2
        else:
            continue
        alike = _NUMBERS.sub("0", beginning.strip())
        found.append(_Error(seen[alike], rank, number))
        seen[alike] += 1
    return sorted(found)


def _spread(errors: Sequence[_Error]) -> Iterator[_Error]:
    """The errors in an order in which any beginning is spread over all of them."""
    step = 1 << len(errors).bit_length()
    yield errors[0]
    while step > 1:
        step //= 2
        # The odd multiples: the even ones have come with a longer step.
        yield from errors[step :: 2 * step]


def _clipped(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"
