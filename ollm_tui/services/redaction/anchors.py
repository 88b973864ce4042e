"""Where in a text rules have to be tried at all: found by literals, at the speed of a search."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ollm_tui.services.redaction.rule import Rule, compiled


class Probe(NamedTuple):
    """One anchor of one rule; the number is its place in the table."""

    number: int
    anchor: str
    rule: Rule


class Anchors:
    """The anchors of a table of rules."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        probes = [(anchor, rule) for rule in rules for anchor in rule.anchors]
        table = [Probe(number, *probe) for number, probe in enumerate(probes)]
        self.free = tuple(probe for probe in table if not probe.rule.begins_word)
        """Those that may stand anywhere: few, each is searched for by itself."""
        self.growing = tuple(probe for probe in self.free if probe.rule.unfinished)
        self._words = _by_shortest([probe for probe in table if probe.rule.begins_word])
        beginnings = _alternatives(self._words)
        self._at_words = f"(?<![A-Za-z0-9])(?=({beginnings}))"
        self._after_escapes = rf"(?:\\[nrt]|%[0-9A-Fa-f]{{2}})(?=({beginnings}))"

    def words(self, text: str, start: int, stop: int) -> Iterator[tuple[int, Probe]]:
        """Every place in a part of a text where a rule's word begins, and its probe."""
        for match in compiled(self._at_words).finditer(text, start):
            if match.start() >= stop:
                break
            yield from self._fitting(text, match.start(), match[1])
        for match in compiled(self._after_escapes).finditer(text, max(0, start - 3)):
            if start <= match.end() < stop:
                yield from self._fitting(text, match.end(), match[1])

    def _fitting(self, text: str, at: int, shortest: str) -> Iterator[tuple[int, Probe]]:
        for probe in self._words[shortest]:
            if text.startswith(probe.anchor, at):
                yield at, probe


def _by_shortest(probes: Sequence[Probe]) -> Mapping[str, tuple[Probe, ...]]:
    """Probes by the shortest anchor that theirs begins with."""
    groups: dict[str, tuple[Probe, ...]] = {}
    for probe in sorted(probes, key=lambda probe: len(probe.anchor)):
        anchor = probe.anchor
        lengths = range(1, len(anchor))
        key = next((anchor[:length] for length in lengths if anchor[:length] in groups), anchor)
        groups[key] = (*groups.get(key, ()), probe)
    return groups


def _alternatives(words: Mapping[str, object]) -> str:
    """A pattern for any of the words that decides on the first character."""
    rests: dict[str, list[str]] = {}
    for word in sorted(words):
        rests.setdefault(word[0], []).append(re.escape(word[1:]))
    return "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in rests.items())
