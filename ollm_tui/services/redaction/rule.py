"""Rules that recognise a kind of secret: where to look, what it looks like, when it is complete."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

Span = tuple[int, int]
Judge = Callable[[re.Match[str]], Span | list[Span] | None]

LEFT = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
"""Where a word begins, also after an escaped line end or byte."""
RIGHT = r"(?![A-Za-z0-9])"
SPACE = r" \t-\r\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""All characters of \\s, for use in a class: \\s itself takes five times as long there."""

REACH = 16_384
"""Characters: no rule looks further from its anchor, so a stream need not hold back more."""
REACH_BACK = 100
"""Characters: no rule looks further back from its anchor."""

_FILLER = r"([xX*.#•_-])\1{5}"
_FILLER_WORDS = r"(?i)your|change.?me|replace|insert|placeholder|redacted|example|sample|goes.?here"
_OF_DOCUMENTS = ("EXAMPLE", "EXAMPLEKEY")
"""How the keys end that are printed in documents."""


class Reading(NamedTuple):
    """What came of reading on behind an anchor, and what that cost."""

    secret: Span | None
    is_open: bool
    """Whether further text could change it."""
    effort: int
    """How many tokens were tried."""


class Rule(NamedTuple):
    """A rule for one kind of secret. Its pattern is only tried where one of its anchors is."""

    kind: str
    anchors: tuple[str, ...]
    """Literal texts, in lower case with `any_case`."""
    pattern: str
    """Matched at the anchor, or `back` characters before it."""
    judge: Judge
    """Returns the part or parts of a match that are secret, or None if none is. An empty part says
    that there is nothing to find before it."""
    any_case: bool = False
    """Whether its anchors are found in any case. The pattern has (?i) only where it matters: it is
    slow."""
    back: int = 0
    """How many characters before the anchor the pattern begins."""
    unfinished: str = ""
    """Matches from an anchor to the end of a text whose continuation could change the result.
    A rule without it looks at nothing but visible ASCII without spaces."""
    reads: Callable[[re.Match[str], bool], Reading] | None = None
    """Judges a match by reading on, in place of `judge` and `unfinished`; also told whether there
    is no further text. It takes its time, so a text is only read as far as it may cost."""
    begins_word: bool = False
    """Whether its anchors count only at the beginning of a word."""
    opening: str = ""
    """A pattern that must follow anchors which alone are too short to mean anything."""
    needs: tuple[str, int] | None = None
    """A text in lower case, and how far behind an anchor it begins at most: without it nothing
    matches, and nothing is tried."""


def words(text: str) -> tuple[str, ...]:
    """The words of a text, which are separated by spaces."""
    return tuple(text.split())


def token(kind: str, anchors: str, pattern: str) -> Rule:
    """A rule for tokens that are known by their beginning; `anchors` are separated by spaces."""
    # A pattern that takes all it can needs no end; after a fixed length the word must end.
    right = "" if pattern.endswith("}+") else RIGHT
    source = f"{LEFT}(?:{pattern}){right}"
    return Rule(kind, words(anchors), source, whole, begins_word=True)


def token_around(kind: str, anchor: str, pattern: str, back: int = 0) -> Rule:
    """A rule for tokens that are known by something inside; they begin `back` characters before."""
    left = LEFT if back else ""
    return Rule(kind, (anchor,), f"{left}(?:{pattern}){RIGHT}", whole, back=back)


def whole(match: re.Match[str]) -> Span | None:
    """The whole match, or its group `secret`; None if it is only a placeholder for a token."""
    group = "secret" if "secret" in match.re.groupindex else 0
    text = match[group]
    if text.endswith(_OF_DOCUMENTS) or compiled(_FILLER).search(text):
        return None
    if compiled(_FILLER_WORDS).search(text) and not compiled("[0-9]").search(text):
        return None
    return match.span(group)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern, compiled when first needed: most never are, and all together take 200 ms."""
    return re.compile(pattern)
