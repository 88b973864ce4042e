"""The globs users and models write to choose files: `*.py`, `src/**/*.{ts,tsx}`, `docs/`."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from ollm_tui.core.errors import UsageError

LONGEST_PATTERN = 1_000
MOST_PATTERNS = 200
MOST_WILDCARDS = 32
MOST_DOUBLE_STARS = 4
"""Limits beyond what is written by hand: larger patterns would be slow on every single path.

Measured on a path of 40 folders: four times `**` take 15 ms, six take 400 ms.
"""

_INNERMOST_BRACES = re.compile(r"(?<!\\)\{([^{}]*,[^{}]*)\}")
_PLAIN_NAME = re.compile(r"[^*?\[\]\\/!#\s]+")
_STAR, _ANY_CHARACTER = "[^/]*", "[^/]"
"""How pathspec writes `*` and `?` as expressions."""


class GlobPattern(GitIgnoreSpecPattern):
    """A pattern of pathspec in which stars are not tried at every place they could fit."""

    @classmethod
    def pattern_to_regex(cls, pattern: str) -> tuple[str | None, bool | None]:  # pyright: ignore[reportIncompatibleMethodOverride]  # bytes are never given
        """Return the expression of a pattern, and whether it includes what it fits."""
        source, include = super().pattern_to_regex(pattern)
        return (source and _without_retries(source)), include


def compiled(pattern: str) -> GlobPattern:
    """Return a pattern ready to be compared. UsageError if it is none, or over the limits."""
    _check(pattern)
    try:
        with warnings.catch_warnings():
            # Python warns of "[[", which is nothing to tell the user.
            warnings.simplefilter("ignore", FutureWarning)
            return GlobPattern(pattern)
    except (ValueError, re.error) as error:
        raise UsageError(f"{pattern!r} is not a file pattern", "try one like *.py") from error


class PathChoice:
    """Chooses files by globs: a glob that fits a folder chooses all below; without globs all.

    They mean the same as in an ignore file: without a slash inside they fit at any depth.
    UsageError if they are too many or too complicated.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._spec = GitIgnoreSpec(map(compiled, _expanded(patterns)))

    def kept(self, paths: Iterable[str]) -> list[str]:
        """Return the paths that are chosen."""
        return [*self._spec.match_files(paths)] if len(self._spec) else [*paths]


class Exclusion:
    """Globs of what is left out, asked folder by folder. UsageError as for a `PathChoice`."""

    def __init__(self, patterns: Iterable[str]) -> None:
        expanded = _expanded(patterns)
        plain = all(map(_PLAIN_NAME.fullmatch, expanded))
        # Asked about every name of a project, and mostly plain names: looking them up is far
        # quicker than comparing (measured: 6.8 µs per path with pathspec and six names).
        self._names = frozenset(expanded if plain else ())
        self._spec = GitIgnoreSpec(map(compiled, () if plain else expanded))

    def kept(self, folder: str, names: list[str], *, folders: bool = False) -> list[str]:
        """Return the names in a folder ("" or ending in /) that are not left out."""
        if not self._names.isdisjoint(names):
            return [name for name in names if name not in self._names]
        if not len(self._spec):
            return names
        end = "/" if folders else ""
        return [name for name in names if not self._spec.match_file(f"{folder}{name}{end}")]


def _without_retries(source: str) -> str:
    """Return an expression that finds the same without trying all places for several stars.

    What follows a star within a name has one length, so the first place where it fits is as good
    as any other. Otherwise five stars take seconds on a name of a hundred letters.
    """
    first, *pieces = source.split(_STAR)
    last = len(pieces) - 1
    return first + "".join(
        f"{_STAR}{piece}"
        if at == last or "/" in piece.replace(_ANY_CHARACTER, "")
        else f"(?>{_STAR}?{piece})"
        for at, piece in enumerate(pieces)
    )


def _expanded(patterns: Iterable[str]) -> list[str]:
    """Return patterns with their braces expanded: `*.{a,b}` are two patterns."""
    waiting, done = [pattern.removeprefix("./") for pattern in patterns][::-1], list[str]()
    # Braces multiply: the limit ends this early.
    while waiting and len(waiting) + len(done) <= MOST_PATTERNS:
        current = waiting.pop()
        _check(current)
        if braces := _INNERMOST_BRACES.search(current):
            before, after = current[: braces.start()], current[braces.end() :]
            waiting += [before + choice + after for choice in braces[1].split(",")][::-1]
        else:
            done.append(current)
    if waiting:
        raise UsageError(
            "the file patterns are too many",
            f"use at most {MOST_PATTERNS}; one with wildcards often says the same",
        )
    return done


def _check(pattern: str) -> None:
    """Raise UsageError if a pattern is over one of the limits."""
    double = len(re.findall(r"\*\*+", pattern))
    wild = len(re.findall(r"\*+|[?\[]", pattern))
    if "\0" in pattern:
        raise UsageError("a file pattern cannot contain a NUL character")
    if double > MOST_DOUBLE_STARS:
        raise UsageError(
            f"the file pattern has {double} times **",
            f"at most {MOST_DOUBLE_STARS} are allowed: more take too long; one ** is any depth",
        )
    if wild > MOST_WILDCARDS or len(pattern) > LONGEST_PATTERN:
        raise UsageError(
            f"the file pattern is too complicated: {wild} wildcards, {len(pattern)} characters",
            f"at most {MOST_WILDCARDS} wildcards and {LONGEST_PATTERN} characters are allowed",
        )
