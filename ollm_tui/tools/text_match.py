"""Finding the piece of a text that a model wants to replace, even if it was not copied exactly.

First the exact text is looked for, then the same lines without regard to white space, then one
block of lines that is almost the same. More than one match is an error.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from ollm_tui.core.errors import ToolError
from ollm_tui.core.intake import clean

CLOSE = 0.93
"""How similar a block has to be to be taken, from 0 to 1."""
SHORTEST_CLOSE = 20
"""The fewest characters for a match by similarity: short texts resemble too much."""
MOST_COMPARED = 20_000_000
"""The most lines of the text times characters of the block; more would take too long."""
SHOWN_CLOSEST = 0.5
"""How similar the closest lines have to be to be shown; others would be no help."""
_INDENT = re.compile(r"[ \t]*")


class Span(NamedTuple):
    """A range of characters in a text, and its replacement."""

    start: int
    end: int
    new: str


@dataclass(frozen=True)
class Change:
    """The result of an edit."""

    text: str
    line: int
    """The number of the first changed line, from 1."""
    places: int = 1
    is_exact: bool = True


def edited(text: str, old: str, new: str, *, every: bool = False) -> Change:
    """Replace `old` by `new` in a text and keep its line ends. ToolError if `old` is not found
    or, without `every`, found more than once."""
    plain = _Plain(text)
    old, new = (part.replace("\r\n", "\n") for part in (old, new))
    if not old:
        raise ToolError("old is empty; it must be the exact text to replace")
    if old == new:
        raise ToolError("old and new are the same; nothing would change")
    starts = _starts(plain.text, old)
    if len(starts) > 1 and not every:
        lines = [plain.line_at(start) for start in starts]
        raise ToolError(f"old is there {_times(lines)}; add lines around it, or set all to true")
    spans = [Span(start, start + len(old), new) for start in starts]
    is_exact = bool(spans)
    if not spans:
        spans = [_Lines(plain.text).span(old, new)]
    return Change(plain.replaced(spans), plain.line_at(spans[0].start), len(spans), is_exact)


class _Plain:
    """A text without the carriage returns at line ends, and the way back to the original."""

    def __init__(self, whole: str) -> None:
        self._whole = whole
        self.text = whole.replace("\r\n", "\n")
        # Positions in the plain text: each return before has made it one character shorter.
        returns = re.finditer("\r\n", whole)
        self._returns = [found.start() - count for count, found in enumerate(returns)]

    def line_at(self, place: int) -> int:
        return self.text.count("\n", 0, place) + 1

    def replaced(self, spans: Sequence[Span]) -> str:
        pieces: list[str] = []
        done = 0
        for span in spans:
            start, end = self._in_whole(span.start), self._in_whole(span.end)
            replaced = self._whole[start:end]
            pieces += (self._whole[done:start], self._with_ends(span.new, replaced))
            done = end
        return "".join((*pieces, self._whole[done:]))

    def _in_whole(self, place: int) -> int:
        return place + bisect_left(self._returns, place)

    def _with_ends(self, new: str, replaced: str) -> str:
        """Give new lines the line ends of those they replace, or those of most of the text."""
        sample = replaced if "\n" in replaced else self._whole
        returns = sample.count("\r\n")
        return new.replace("\n", "\r\n") if returns > sample.count("\n") - returns else new


class _Lines:
    """The lines of a text, compared without regard to white space."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._bare = [_bare(line) for line in self._lines]
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def span(self, old: str, new: str) -> Span:
        """Find the one match of `old`. ToolError if there is none or more than one."""
        lines = old.split("\n")
        takes_end = len(lines) > 1 and not lines[-1]
        if takes_end:
            lines.pop()
        sought = [_bare(line) for line in lines]
        if not any(sought):
            raise ToolError("old is only white space, and not there like this; add lines around it")
        first = self._same(sought)
        if first is None:
            first = self._close(sought)
        matched = self._lines[first : first + len(lines)]
        fitting = _indented(new, lines, matched)
        start, end = self._starts[first], self._starts[first + len(lines)] - 1
        if takes_end and first + len(lines) < len(self._lines):
            end += 1
        elif takes_end:
            # The last line of the text has no line end that could be replaced.
            fitting = fitting.removesuffix("\n")
        return Span(start, end, fitting)

    def _same(self, sought: Sequence[str]) -> int | None:
        found = [
            first
            for first in self._firsts(len(sought))
            if self._bare[first] == sought[0] and self._bare[first : first + len(sought)] == sought
        ]
        if len(found) > 1:
            raise _alike([first + 1 for first in found])
        return found[0] if found else None

    def _close(self, sought: Sequence[str]) -> int:
        ranked = sorted(self._likeness(sought), reverse=True)
        close = [place for place in ranked if place[0] >= CLOSE]
        # A block that overlaps the best one is the same match, shifted by a few lines.
        others = [each for each in close[1:] if abs(each[1] - close[0][1]) >= len(sought)]
        if others:
            raise _alike([first + 1 for _, first in (close[0], *others)])
        if close and len("\n".join(sought)) >= SHORTEST_CLOSE:
            return close[0][1]
        raise ToolError(f"old is not in the file{self._closest(ranked[:1], len(sought))}")

    def _likeness(self, sought: Sequence[str]) -> Iterator[tuple[float, int]]:
        """Yield the similarity and first line of blocks with as many lines as `sought`; only those
        that may be shown or taken."""
        block = "\n".join(sought)
        if len(self._bare) * len(block) > MOST_COMPARED:
            return
        matcher = SequenceMatcher(None, "", block, autojunk=False)
        best = SHOWN_CLOSEST
        for first in self._firsts(len(sought)):
            matcher.set_seq1("\n".join(self._bare[first : first + len(sought)]))
            # Everything from CLOSE on has to be seen, or a second match would be missed.
            least = min(best, CLOSE)
            if matcher.real_quick_ratio() >= least and matcher.quick_ratio() >= least:
                likeness = matcher.ratio()
                if likeness >= least:
                    best = max(best, likeness)
                    yield likeness, first

    def _closest(self, ranked: Sequence[tuple[float, int]], count: int) -> str:
        if not ranked:
            return "; read the file and copy the text exactly"
        first = ranked[0][1]
        lines = enumerate(self._lines[first : first + count], first + 1)
        shown = "\n".join(f"{number}\t{clean(line)}" for number, line in lines)
        return f". The closest lines are:\n{shown}"

    def _firsts(self, count: int) -> range:
        return range(len(self._lines) - count + 1)


def _starts(text: str, old: str) -> list[int]:
    """Return where `old` begins in a text, without overlapping matches."""
    found: list[int] = []
    place = text.find(old)
    while place >= 0:
        found.append(place)
        place = text.find(old, place + len(old))
    return found


def _bare(line: str) -> str:
    return " ".join(clean(line).split())


def _indented(new: str, old: Sequence[str], matched: Sequence[str]) -> str:
    """Indent new lines as the old ones have to be indented to match the lines that were found."""
    moves: dict[str, str] = {}
    for ours, theirs in zip(old, matched, strict=True):
        if ours.strip():
            moves.setdefault(_indent(ours), _indent(theirs))
    is_right = _least(new.split("\n")).startswith(_least(matched))
    if is_right or all(before == after for before, after in moves.items()):
        return new
    return "\n".join(_moved(line, moves) for line in new.split("\n"))


def _moved(line: str, moves: dict[str, str]) -> str:
    """Replace the longest known indent of a line; what it is indented more stays."""
    if not line.strip():
        return line
    indent = _indent(line)
    known = max((each for each in moves if indent.startswith(each)), key=len, default=None)
    if known is None:
        return line
    return moves[known] + line[len(known) :]


def _least(lines: Sequence[str]) -> str:
    """Return the smallest indent of lines that are not blank."""
    return min((_indent(line) for line in lines if line.strip()), key=len, default="")


def _indent(line: str) -> str:
    found = _INDENT.match(line)
    return found[0] if found else ""


def _alike(lines: Sequence[int]) -> ToolError:
    return ToolError(
        f"old is not in the file, but something like it {_times(lines)}; "
        "copy the text exactly, with lines around it"
    )


def _times(lines: Sequence[int]) -> str:
    shown = ", ".join(map(str, sorted(lines)[:5])) + (", …" if len(lines) > 5 else "")
    return f"{len(lines):,} times (lines {shown})"
