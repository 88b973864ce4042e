"""Where in a text rules have to be tried at all: found by literals, at the speed of a search."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ollm_tui.services.redaction.rule import Rule, compiled

_LONG_ENOUGH = "(?=[!-~]{14})"
"""No word that says itself what it is has fewer characters."""


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
        self.foreign = tuple(
            probe.anchor.lower()
            for probe in self.free
            if " " in probe.anchor[:-1] or not probe.anchor.isascii()
        )
        """Those a stream may cut apart: any other is held back as visible ASCII."""
        self._words = _by_longest([probe for probe in table if probe.rule.begins_word])
        beginnings = _alternatives(self._words)
        self._at_words = f"(?<![A-Za-z0-9])(?=({beginnings})){_LONG_ENOUGH}"
        self._after_escapes = rf"(?:\\[nrt]|%[0-9A-Fa-f]{{2}})(?=({beginnings})){_LONG_ENOUGH}"

    def words(self, text: str, start: int, stop: int) -> Iterator[tuple[int, Sequence[Probe]]]:
        """Every place in a part of a text where a rule's word may begin, and the probes."""
        for match in compiled(self._at_words).finditer(text, start):
            if match.start() >= stop:
                break
            yield match.start(), self._words[match[1]]
        for match in compiled(self._after_escapes).finditer(text, max(0, start - 3)):
            if start <= match.end() < stop:
                yield match.end(), self._words[match[1]]


def _by_longest(probes: Sequence[Probe]) -> Mapping[str, Sequence[Probe]]:
    """For each anchor the probes that fit where no longer one does; those with an opening last."""
    anchors = sorted({probe.anchor for probe in probes}, key=len, reverse=True)
    groups = {
        anchor: [one for one in probes if not one.rule.opening and anchor.startswith(one.anchor)]
        for anchor in anchors
    }
    said = {anchor: fitting for anchor, fitting in groups.items() if fitting}
    for probe in probes:
        if probe.rule.opening:
            said[probe.anchor] = [*said.get(probe.anchor, ()), probe]
    return said


def _alternatives(words: Mapping[str, Sequence[Probe]]) -> str:
    """A pattern for any of the words that decides on the first character."""
    rests: dict[str, list[str]] = {}
    for word, probes in words.items():
        openings = [probe.rule.opening for probe in probes]
        follows = f"(?={'|'.join(openings)})" if all(openings) else ""
        rests.setdefault(word[0], []).append(re.escape(word[1:]) + follows)
    return "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in rests.items())
