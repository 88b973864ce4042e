"""Translates git's glob patterns to regular expressions that take about linear time.

Texts are bytes decoded as Latin-1, because git compares bytes: `?` is one byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from string import ascii_lowercase, ascii_uppercase, digits, punctuation, whitespace

SPECIAL = "*?[\\"
"""Characters that do not stand for themselves."""

Matcher = Callable[[str], "re.Match[str] | None"]

_FOLDERS = r"(?:[^/]*/)*"
_NEVER = r"(?!)"
_LETTERS = ascii_lowercase + ascii_uppercase
_GRAPHIC = _LETTERS + digits + punctuation
_NAMED_CLASSES = {
    "alnum": _LETTERS + digits,
    "alpha": _LETTERS,
    "blank": " \t",
    "cntrl": "".join(map(chr, (*range(32), 127))),
    "digit": digits,
    "graph": _GRAPHIC,
    "lower": ascii_lowercase,
    "print": _GRAPHIC + " ",
    "punct": punctuation,
    "space": whitespace,
    "upper": ascii_uppercase,
    "xdigit": digits + "abcdefABCDEF",
}


class _NeverMatches(Exception):
    """Raised for a pattern that is broken in a way that makes git match nothing."""


def matcher(patterns: Iterable[str], *, fold_case: bool = False) -> Matcher:
    """Return a function that matches a whole text with any of the patterns."""
    sources = [as_expression(pattern, fold_case=fold_case) for pattern in patterns]
    return re.compile("|".join(f"(?:{source})" for source in sources)).fullmatch


def literal_length(pattern: str) -> int:
    """Return how many characters at the beginning of a pattern stand for themselves."""
    return next((at for at, char in enumerate(pattern) if char in SPECIAL), len(pattern))


def as_expression(pattern: str, *, fold_case: bool = False) -> str:
    """Return the source of an expression to be used with `fullmatch` on a relative path.

    With `fold_case` the text has to be in lower case.
    """
    # Parts between stars are atomic groups: the first place where a part fits is always good
    # enough, so nothing is tried twice.
    try:
        head, *rest = _Translation(pattern, fold_case).parts()
    except _NeverMatches:
        return _NEVER
    middle = (f"(?>{_FOLDERS}?{part.removeprefix(_FOLDERS)})" for part in rest[:-1])
    return "".join((head, *middle, *rest[-1:]))


class _Translation:
    """The translation of one pattern, which is read from left to right."""

    def __init__(self, pattern: str, fold_case: bool) -> None:
        self._pattern = pattern
        self._fold = fold_case
        # Git cuts off the literal beginning first: stars right after it count as at the beginning.
        self._beginnings = {0, literal_length(pattern)}
        self._parts = [""]
        """The expression so far, cut before every `**` that crosses folders."""
        self._pieces = [""]
        """The current path segment so far, cut at every star."""

    def parts(self) -> list[str]:
        """Return the expression, cut before every `**` that crosses folders."""
        at = 0
        while at < len(self._pattern):
            char = self._pattern[at]
            if char == "*":
                at = self._stars(at)
            elif char == "/" or self._pattern.startswith("\\/", at):
                self._close_segment()
                self._parts[-1] += "/"
                at += 1 if char == "/" else 2
            else:
                source, at = self._single(at)
                self._pieces[-1] += source
        self._close_segment()
        return self._parts

    def _stars(self, at: int) -> int:
        """Translate one star or more; return where the pattern goes on."""
        end = at
        while self._pattern[end : end + 1] == "*":
            end += 1
        if end - at == 1 or not self._crosses_folders(at, end):
            self._pieces.append("")
            return end
        self._close_segment()
        if end == len(self._pattern):
            self._parts.append("(?s:.*)")
        elif self._pattern[end] == "/":
            self._parts.append(_FOLDERS)
            return end + 1
        else:  # before an escaped slash at least one folder is wanted
            self._parts.append(f"{_FOLDERS}[^/]*")
        return end

    def _close_segment(self) -> None:
        """Add what was read since the last slash: pieces with a star between each two."""
        first, *rest = self._pieces
        self._pieces = [""]
        if rest:
            middle = "".join(f"(?>[^/]*?{piece})" for piece in rest[:-1])
            first = f"(?>{first}{middle}[^/]*{rest[-1]})"
        self._parts[-1] += first

    def _crosses_folders(self, start: int, end: int) -> bool:
        """Return whether two stars or more are a whole segment: only these cross folders."""
        follows = self._pattern[end : end + 2]
        starts = start in self._beginnings or self._pattern[start - 1] == "/"
        return starts and (not follows or follows[0] == "/" or follows == "\\/")

    def _single(self, at: int) -> tuple[str, int]:
        """Translate what matches one byte; return it and where the pattern goes on."""
        char = self._pattern[at]
        if char == "?":
            return "[^/]", at + 1
        if char == "[":
            accepted, end = self._bracket(at + 1)
            return _one_of(accepted), end
        if char == "\\":
            at += 1
            if at == len(self._pattern):
                raise _NeverMatches
            char = self._pattern[at]
            # Git folds the case of a plain character, never that of an escaped one.
            return re.escape(char), at + 1
        return re.escape(_lower(char) if self._fold else char), at + 1

    def _bracket(self, at: int) -> tuple[set[str], int]:
        """Return the bytes that a bracket expression accepts, and where the pattern goes on."""
        negated = self._at(at) in "!^"
        at += negated
        found: set[str] = set()
        previous = ""
        while True:
            char = self._at(at)
            if char == "\\":
                at += 1
                previous = self._at(at)
                found.add(previous)
            elif char == "-" and previous and self._pattern[at + 1 : at + 2] not in ("", "]"):
                at += 1
                if self._at(at) == "\\":
                    at += 1
                self._add_span(found, map(chr, range(ord(previous), ord(self._at(at)) + 1)))
                previous = ""
            elif char == "[" and self._pattern[at + 1 : at + 2] == ":":
                previous, at = self._named_class(at, found)
            else:
                previous = char
                found.add(char)
            at += 1
            if self._at(at) == "]":
                break
        every = set(map(chr, range(1, 256))) - {"/"}
        return (every - found if negated else found & every), at + 1

    def _named_class(self, at: int, found: set[str]) -> tuple[str, int]:
        """Add the bytes of a class `[:name:]`.

        Returns what counts as the previous byte, and the index of the last character read.
        """
        end = self._pattern.find("]", at + 2)
        if end < 0:
            raise _NeverMatches
        if end == at + 2 or self._pattern[end - 1] != ":":
            found.add("[")
            return "[", at
        name = self._pattern[at + 2 : end - 1]
        if name not in _NAMED_CLASSES:
            raise _NeverMatches
        self._add_span(found, _NAMED_CLASSES[name])
        return "", end

    def _add_span(self, found: set[str], span: Iterable[str]) -> None:
        """Add a range or class of bytes. Git folds the case of these, not of single bytes."""
        found.update(span := set(span))
        if self._fold:
            found.update(map(_lower, span))

    def _at(self, at: int) -> str:
        if at >= len(self._pattern):
            raise _NeverMatches
        return self._pattern[at]


def _one_of(accepted: set[str]) -> str:
    if not accepted:
        return _NEVER
    return "[" + "".join(f"\\x{ord(char):02x}" for char in sorted(accepted)) + "]"


def _lower(char: str) -> str:
    return char.lower() if char in ascii_uppercase else char
