"""How one kind of secret is recognised: where to look, what it looks like, when it is complete."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

Span = tuple[int, int]
Judge = Callable[[re.Match[str]], Span | None]

LEFT = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
"""Where a word begins, also after an escaped line end or byte."""
RIGHT = r"(?![A-Za-z0-9])"
SPACE = r" \t-\r\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""All that \\s stands for: as part of a class this is looked up, \\s takes five times as long."""

REACH = 16_384
"""No rule looks further than this from its anchor, so a stream need not hold back more."""
REACH_BACK = 100
"""Nor further back than this."""

_FILLER = r"([xX*.#•_-])\1{5}"
_FILLER_WORDS = r"(?i)your|change.?me|replace|insert|placeholder|redacted|example|sample|goes.?here"


class Rule(NamedTuple):
    """One kind of secret. Its pattern is only tried where one of the anchors stands."""

    kind: str
    anchors: tuple[str, ...]
    """Literal beginnings; in lower case where `any_case`."""
    pattern: str
    """Matched at the anchor, or `back` characters before it."""
    judge: Judge
    """Which part of a match is secret; None if it is none."""
    any_case: bool = False
    """Whether its anchors are; the pattern says so itself, where it matters: (?i) is slow."""
    back: int = 0
    unfinished: str = ""
    """Matches from an anchor to the end of a text whose continuation could change the verdict.
    Without it everything the rule looks at is visible ASCII without spaces."""
    begins_word: bool = False
    """Whether its anchors count only at the beginning of a word."""
    opening: str = ""
    """What must follow anchors that are too short to say anything."""


def words(text: str) -> tuple[str, ...]:
    """Some words, written as a text."""
    return tuple(text.split())


def token(kind: str, anchors: str, pattern: str) -> Rule:
    """A word that says itself what it is; `anchors` are separated by spaces."""
    # A body of any length ends where it ends; one of a fixed length must end there.
    right = "" if pattern.endswith("}+") else RIGHT
    source = f"{LEFT}(?:{pattern}){right}"
    return Rule(kind, words(anchors), source, whole, begins_word=True)


def token_around(kind: str, anchor: str, pattern: str, back: int = 0) -> Rule:
    """A token with its sign in the middle; it begins `back` characters before that."""
    left = LEFT if back else ""
    return Rule(kind, (anchor,), f"{left}(?:{pattern}){RIGHT}", whole, back=back)


def whole(match: re.Match[str]) -> Span | None:
    """All of it, or the group called secret, unless it stands for a token without being one."""
    group = "secret" if "secret" in match.re.groupindex else 0
    text = match[group]
    if compiled(_FILLER).search(text):
        return None
    if compiled(_FILLER_WORDS).search(text) and not compiled("[0-9]").search(text):
        return None
    return match.span(group)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when first needed: most patterns never are, and all of them take 200 ms."""
    return re.compile(pattern)
