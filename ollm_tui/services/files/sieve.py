"""A fast first look at the names in a folder: which of them might a rule of an ignore file fit?

Most names fit no rule, and this finds that out without trying each rule on each name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from ollm_tui.services.files.wildmatch import literal_length, matcher

MOST_CHOICES = 32

_SIMPLE_CLASS = re.compile(r"\[([A-Za-z0-9]+)\]")
_MIDDLE_OF_NAME = re.compile(r"[^/*]\*\*+/")
"""Git lets such stars end nowhere: `foo**/bar` fits foobar."""
_LITERAL_TAIL = re.compile(r"[^*?\[\]\\]*\Z")


class _Rule(Protocol):
    @property
    def pattern(self) -> str: ...
    @property
    def by_path(self) -> bool: ...


class Sieve:
    """What names look like that the rules may fit; it says too often yes, never too often no."""

    def __init__(self, rules: Iterable[_Rule], *, lets_all_through: bool = False) -> None:
        self._names: set[str] = set()
        self._lets_all_through = lets_all_through
        heads: set[str] = set()
        tails: set[str] = set()
        places: set[str] = set()
        any_name: list[str] = []
        for rule in rules:
            for choice in _choices(rule):
                head, tail = choice[: literal_length(choice)], _LITERAL_TAIL.findall(choice)[0]
                if head and head == choice:
                    self._names.add(choice)
                elif head or tail:
                    (heads if head else tails).add(head or tail)
                elif rule.by_path:
                    places.add(rule.pattern[: literal_length(rule.pattern)])
                else:
                    any_name.append(rule.pattern)
        self._heads, self._tails, self._places = tuple(heads), tuple(tails), tuple(places)
        self._match = matcher(any_name) if any_name else None

    def suspects(self, folder: str, names: Sequence[str]) -> Iterable[str]:
        """The names in a folder that have to be looked at closely."""
        if self._lets_all_through or any(
            folder.startswith(place) or place.startswith(folder) for place in self._places
        ):
            return names
        found = self._names.intersection(names)
        if tails := self._tails:
            found.update([name for name in names if name.endswith(tails)])
        if heads := self._heads:
            found.update([name for name in names if name.startswith(heads)])
        if match := self._match:
            found.update([name for name in names if match(name)])
        return found


def _choices(rule: _Rule) -> list[str]:
    """What the last part of a path may look like; simple brackets are written out."""
    pattern = rule.pattern
    if "\\" in pattern or (rule.by_path and ("[" in pattern or _MIDDLE_OF_NAME.search(pattern))):
        return [""]
    choices = [pattern.rpartition("/")[2]]
    simple = len(_SIMPLE_CLASS.findall(pattern))
    if pattern.count("[") != simple or pattern.count("]") != simple:
        return choices
    while len(choices) <= MOST_CHOICES and (found := _SIMPLE_CLASS.search(choices[0])):
        start, end = found.span()  # the same in all: one character took the place of each bracket
        choices = [choice[:start] + char + choice[end:] for choice in choices for char in found[1]]
    return choices
