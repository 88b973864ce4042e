"""The rules of ignore files, exactly as git reads them: order, negation, anchors, folders, escapes.

Most names fit no rule, so a sieve sorts these out before any pattern is compared.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from ollm_tui.services.files.wildmatch import Matcher, literal_length, matcher

MOST_CHOICES = 32
"""About how many names the brackets of a pattern are expanded to."""

_SIMPLE_CLASS = re.compile(r"\[([A-Za-z0-9]+)\]")
_MIDDLE_OF_NAME = re.compile(r"[^/*]\*\*+/")
"""Stars after a part of a name. For git these may be nothing at all: `foo**/bar` fits foobar."""
_LITERAL_TAIL = re.compile(r"[^*?\[\]\\]*\Z")


class _Layer(NamedTuple):
    """The rules of a file, and how paths relative to the root become relative to that file."""

    rules: RuleSet
    lead: str
    """What is put before a path: the folders from the file to the root, if it lies above."""
    cut: int
    """How many bytes are cut off a path: those of the file's own folder, if it lies below."""


class IgnoreRules:
    """All rules that hold in a folder, the strongest first; immutable."""

    def __init__(self, layers: tuple[_Layer, ...] = (), *, fold_case: bool = False) -> None:
        self._layers = layers
        self.fold_case = fold_case

    def with_rules(self, rules: RuleSet, *, folder: str = "") -> IgnoreRules:
        """Return these rules with stronger ones of a file in `folder` ("" or ending in /)."""
        if not rules:
            return self
        layer = _Layer(rules, "", len(os.fsencode(folder)))
        return IgnoreRules((layer, *self._layers), fold_case=self.fold_case)

    def below(self, folder: str) -> IgnoreRules:
        """Return the same rules for paths that are relative to a folder."""
        lead = as_git_sees(folder, fold_case=self.fold_case)
        layers = tuple(_Layer(rules, lead[cut:], 0) for rules, _, cut in self._layers)
        return IgnoreRules(layers, fold_case=self.fold_case)

    def ignored(self, folder: str, names: list[str], *, folders: bool) -> set[str]:
        """Return the names in a folder that are ignored; `folders`: whether they are folders."""
        if not self._layers:
            return set()
        # Called for every folder of a project: plain ASCII names need no conversion.
        raw_folder = folder
        if self.fold_case or not folder.isascii():
            raw_folder = as_git_sees(folder, fold_case=self.fold_case)
        seen = names
        if self.fold_case or not "".join(names).isascii():
            seen = [as_git_sees(name, fold_case=self.fold_case) for name in names]
        verdicts: dict[str, bool] = {}
        for rules, lead, cut in self._layers:
            if found := rules.verdicts(lead + raw_folder[cut:], seen, folders):
                verdicts = found | verdicts
        if seen is names or not verdicts:
            return {name for name, is_ignored in verdicts.items() if is_ignored}
        pairs = zip(names, seen, strict=True)
        return {name for name, known in pairs if verdicts.get(known, False)}


class RuleSet:
    """The rules of one ignore file. The last one that fits a path decides about it."""

    def __init__(self, patterns: Iterable[str], *, fold_case: bool = False) -> None:
        self._rules = [Rule(pattern, fold_case=fold_case) for pattern in patterns][::-1]
        self._for_folders = _InOrder(self._rules)
        self._for_files = _InOrder([rule for rule in self._rules if not rule.folders_only])
        self._sieve = Sieve(self._rules, lets_all_through=fold_case)

    def __bool__(self) -> bool:
        return bool(self._rules)

    def verdicts(self, folder: str, names: Sequence[str], folders: bool) -> dict[str, bool]:
        """Return whether each name is ignored, without those that no rule fits.

        `folder` is "" or ends in /.
        """
        found: dict[str, bool] = {}
        rules = self._for_folders if folders else self._for_files
        for name in self._sieve.suspects(folder, names):
            if rule := rules.first(folder, name):
                found[name] = not rule.negated
        return found


class Rule:
    """One line of an ignore file."""

    def __init__(self, pattern: str, *, fold_case: bool = False) -> None:
        self.negated = pattern.startswith("!")
        pattern = pattern.removeprefix("!")
        self.folders_only = pattern.endswith("/")
        pattern = pattern.removesuffix("/")
        if pattern.startswith("**/") and pattern.count("/") == 1 and "\\" not in pattern:
            pattern = pattern.removeprefix("**/")  # at any depth: so says a name alone
        self.by_path = "/" in pattern
        """Whether it is compared with the path from the ignore file, not only with the name."""
        self.pattern = pattern.removeprefix("/")
        self._fold_case = fold_case
        plain = "" if fold_case else self.pattern
        self._is_literal = bool(plain) and literal_length(plain) == len(plain)
        self.name = plain if self._is_literal and not self.by_path else ""
        """The only name that it fits; empty if it fits others, too."""
        ending = plain[1:] if plain[:1] == "*" and not self.by_path else ""
        self.ending = ending if literal_length(ending) == len(ending) else ""
        """The ending, if it fits exactly the names that end so (`*.o`)."""

    def fits(self, folder: str, name: str) -> bool:
        """Return whether the pattern fits a name; callers check `folders_only` and `negated`."""
        if self.ending:
            return name.endswith(self.ending)
        text = folder + name if self.by_path else name
        return text == self.pattern if self._is_literal else self._match(text) is not None

    @cached_property
    def _match(self) -> Matcher:
        return matcher((self.pattern,), fold_case=self._fold_case)


class _InOrder:
    """Rules, the strongest first; plain names and endings are looked up instead of compared."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._names: dict[str, int] = {}
        self._endings: dict[str, int] = {}
        self._others: list[tuple[int, Rule]] = []
        for number, rule in enumerate(rules):
            if rule.name:
                self._names.setdefault(rule.name, number)
            elif (
                rule.ending.rfind(".") == 0
            ):  # then it begins at the last dot of a name, and can be looked up
                self._endings.setdefault(rule.ending, number)
            else:
                self._others.append((number, rule))

    def first(self, folder: str, name: str) -> Rule | None:
        """Return the strongest rule that fits a name."""
        end = len(self._rules)
        best = min(self._names.get(name, end), self._endings.get(name[name.rfind(".") :], end))
        for number, rule in self._others:
            if number > best:
                break
            if rule.fits(folder, name):
                return rule
        return self._rules[best] if best < end else None


class Sieve:
    """Tells quickly which names a rule may fit: some too many, never too few."""

    def __init__(self, rules: Iterable[Rule], *, lets_all_through: bool = False) -> None:
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
        """Return the names in a folder that have to be compared with the rules."""
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


def _choices(rule: Rule) -> list[str]:
    """Return patterns of the last part of the paths that fit; simple brackets are expanded.

    An empty pattern stands for any name.
    """
    pattern = rule.pattern
    if "\\" in pattern or (rule.by_path and ("[" in pattern or _MIDDLE_OF_NAME.search(pattern))):
        return [""]
    choices = [pattern.rpartition("/")[2]]
    simple = len(_SIMPLE_CLASS.findall(pattern))
    if pattern.count("[") != simple or pattern.count("]") != simple:
        return choices
    while len(choices) <= MOST_CHOICES and (found := _SIMPLE_CLASS.search(choices[0])):
        # The same in all choices: one character has taken the place of each bracket.
        start, end = found.span()
        choices = [choice[:start] + char + choice[end:] for choice in choices for char in found[1]]
    return choices


def patterns_of(content: bytes) -> Iterator[str]:
    """Yield the patterns of an ignore file: without comments, line ends and trailing spaces.

    Each byte is one character (Latin-1), because git compares bytes.
    """
    for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if line and not line.startswith(b"#"):
            text = line.removesuffix(b"\r").partition(b"\0")[0]
            yield _without_trailing_spaces(text.decode("latin-1"))


def _without_trailing_spaces(text: str) -> str:
    """Return a line without spaces at its end, except one that is escaped."""
    kept = text.rstrip(" ")
    backslashes = len(kept) - len(kept.rstrip("\\"))
    return text[: len(kept) + 1] if backslashes % 2 else kept


def as_git_sees(path: str, *, fold_case: bool = False) -> str:
    """Return a path as its bytes, one character each; with `fold_case` in lower case."""
    if not fold_case and path.isascii():
        return path
    raw = os.fsencode(path)
    return (raw.lower() if fold_case else raw).decode("latin-1")
