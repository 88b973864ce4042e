"""Titles for conversations, made from the user's first words without asking a model."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from ollm_tui.core.intake import clean

UNTITLED = "Untitled"

_TEXT_LIMIT = 100_000
_LINE_LIMIT = 2000
"""Characters that are read: more than any title needs, however much was pasted."""

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_LEADING_MARKS = re.compile(r"(?:[>#/@\s]+|[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+)+")
_GREETING = re.compile(
    r"(?:hi|hello|hey|hallo|greetings|good (?:morning|afternoon|evening|day))"
    r"(?: (?:there|all|everyone|again))?\s*(?:[,.!:;–—-]+\s*|$)",
    re.IGNORECASE,
)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_CODE = re.compile(r"`+([^`]+)`+")
_STARS = re.compile(r"(\*{1,3}|~~)(?=\S)([^*~]+)(?<=\S)\1")
_UNDERSCORES = re.compile(r"(?<!\w)_(?=[^\W_])([^_]+)(?<=[^\W_])_(?!\w)")


def title_of(text: str, limit: int = 60) -> str:
    """Make a title of at most `limit` columns from a user's message; never empty."""
    candidates = [
        line for line in _lines(clean(text[:_TEXT_LIMIT])) if any(map(_column_count, line))
    ]
    meaningful = next((line for line in candidates if any(map(str.isalnum, line))), None)
    return _cut(meaningful or next(iter(candidates), UNTITLED), limit)


def columns(text: str) -> int:
    """Count the terminal columns a text without controls takes."""
    return sum(map(_column_count, text))


def _lines(text: str) -> Iterator[str]:
    """Yield lines as titles, best first: prose, then greetings, then what stands in fences."""
    greetings: list[str] = []
    fenced: list[str] = []
    fence = ""
    for line in text.split("\n"):
        line = line[:_LINE_LIMIT]
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif fence:
            fenced.append(" ".join(line.split()))
        else:
            plain = _without_marks(line)
            rest = _GREETING.sub("", plain, count=1) if _GREETING.match(plain) else plain
            if rest:
                yield rest
            greetings.append(plain)
    yield from greetings
    yield from fenced


def _without_marks(line: str) -> str:
    line = _LEADING_MARKS.sub("", line, count=1) if _LEADING_MARKS.match(line) else line
    for pattern, kept in ((_LINK, r"\1"), (_CODE, r"\1"), (_STARS, r"\2"), (_UNDERSCORES, r"\1")):
        line = pattern.sub(kept, line)
    return " ".join(line.split())


def _cut(text: str, limit: int) -> str:
    end = room = 0
    for number, character in enumerate(text, start=1):
        room += _column_count(character)
        if room > limit:
            break
        if room < limit:  # one column stays free for the ellipsis
            end = number
    else:
        return text
    head = text[:end]
    border = head.rfind(" ") if text[end] != " " else end
    # A border in the first half would cost too much: scripts without spaces are cut anywhere.
    if border > end // 2:
        head = head[:border]
    return head.rstrip(" ,.;:–—-\u200d") + "…"


def _column_count(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
