"""The globs users and models write to choose files: `*.py`, `src/**/*.{ts,tsx}`, `docs/`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from ollm_tui.core.errors import UsageError
from ollm_tui.services.files.ignore_rules import RuleSet, as_git_sees

LONGEST_PATTERN = 1_000
MOST_PATTERNS = 200
MOST_WILDCARDS = 32
MOST_DOUBLE_STARS = 8
"""Limits beyond what is written by hand: larger patterns would be slow on every single path."""

_INNERMOST_BRACES = re.compile(r"(?<!\\)\{([^{}]*,[^{}]*)\}")


def rules_of(patterns: Iterable[str]) -> RuleSet:
    """Return globs as rules; UsageError if they are too many or too complicated.

    They mean the same as in an ignore file: without a slash inside they fit at any depth.
    """
    expanded = [single for pattern in patterns for single in _expanded(pattern)]
    if len(expanded) > MOST_PATTERNS:
        raise UsageError(
            f"{len(expanded)} file patterns are too many",
            f"use at most {MOST_PATTERNS}; one with wildcards often says the same",
        )
    return RuleSet(os.fsencode(pattern).decode("latin-1") for pattern in expanded)


def _expanded(pattern: str) -> list[str]:
    """Return a pattern with its braces expanded: `*.{a,b}` are two patterns."""
    _check(pattern)
    waiting, done = [pattern.removeprefix("./")], list[str]()
    # Braces multiply: the limit ends this early, and `rules_of` then refuses the result.
    while waiting and len(waiting) + len(done) <= MOST_PATTERNS:
        current = waiting.pop()
        if braces := _INNERMOST_BRACES.search(current):
            before, after = current[: braces.start()], current[braces.end() :]
            waiting += [before + choice + after for choice in braces[1].split(",")]
        else:
            done.append(current)
    return done + waiting


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


class PathChoice:
    """Chooses files by globs: a glob that fits a folder chooses all below; without globs all."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._rules = rules_of(patterns)
        self._folders: dict[str, bool] = {"": False}

    def kept(self, folder: str, names: list[str]) -> list[str]:
        """Return the files in a folder ("" or ending in /) that are chosen."""
        if not self._rules:
            return names
        below = self._chooses_below(folder)
        raw_folder, seen = as_git_sees(folder), [as_git_sees(name) for name in names]
        verdicts = self._rules.verdicts(raw_folder, seen, folders=False)
        return [name for name, known in zip(names, seen, strict=True) if verdicts.get(known, below)]

    def _chooses_below(self, folder: str) -> bool:
        """Return whether a glob chooses a folder or one above it."""
        if folder not in self._folders:
            parent, slash, name = folder.removesuffix("/").rpartition("/")
            seen = as_git_sees(name)
            verdicts = self._rules.verdicts(as_git_sees(parent + slash), [seen], folders=True)
            known = verdicts.get(seen)
            self._folders[folder] = self._chooses_below(parent + slash) if known is None else known
        return self._folders[folder]
