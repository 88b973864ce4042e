"""Whether a later fact closes an earlier one, takes its place, or may have done so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import replace

from ollm_tui.core.ledger import Fact, FactKind
from ollm_tui.engine.compression.facts_claims import Claim, Said, said_in, takes_back
from ollm_tui.engine.compression.facts_kinds import ADDING, is_statement
from ollm_tui.engine.compression.facts_prose import PERHAPS
from ollm_tui.engine.compression.facts_subjects import stands_in_for
from ollm_tui.engine.compression.facts_text import one_line
from ollm_tui.engine.compression.facts_words import (
    GENERIC,
    Slot,
    all_words,
    content_words,
    slot_of,
    word_set,
    words_of,
)

CHANGEABLE: frozenset[FactKind] = frozenset(("constraint", "decision", "value", "todo", "note"))
_OF_THE_USER: frozenset[FactKind] = frozenset(("constraint", "decision"))
_CLAIMING = CHANGEABLE | frozenset[FactKind](("dead-end",))
_WORTH_KEEPING = 3
_SAME_TASK = 0.6
_SAME_THING = 0.5
"""How many of the words that count must be the same."""
_SAME_BUT = 3
_NOW_LIMIT = 90
"""Characters of what is said now, beside what was said earlier."""
_CLAUSE = re.compile(r", |; | [—–-] |: |(?:,)? (?:and|but|while|und|et|y) ")
_REFUSALS = word_set("not never no avoid without don't won't drop nicht kein pas jamais nunca")
_SILENT = Said((), (), False)


class _Read(NamedTuple):
    """The words of a fact."""

    words: Slot = frozenset()
    content: Slot = frozenset()
    topic: Slot = frozenset()
    """What it speaks of, without its numbers."""
    told: Slot = frozenset()
    """The same, also as something done again: rebuilt, recomputed."""


_UNREAD = _Read()


@lru_cache(maxsize=4096)
def _read(text: str) -> _Read:
    words, content = all_words(text), content_words(text)
    topic = frozenset(word for word in content if not word[0].isdigit())
    told = topic.union(word[2:] for word in topic if word.startswith("re"))
    return _Read(words, content, topic, told)


class Entry:
    """A fact on its way through the settling, with what it says worked out once."""

    __slots__ = ("content", "fact", "holds", "number", "said", "states", "told", "topic", "words")

    def __init__(self, fact: Fact) -> None:
        self.fact = fact
        self.holds = fact.current
        """Whether it is there and current."""
        self.number = 0
        """How many were there when it was said."""
        claims = fact.kind in _CLAIMING and (fact.current or fact.kind == "todo")
        self.said = said_in(fact.text) if claims else _SILENT
        self.states = is_statement(words_of(fact.text))
        """Whether it says what holds; what was only tried or supposed replaces nothing."""
        self.words, self.content, self.topic, self.told = _read(fact.text) if claims else _UNREAD

    def end(self) -> None:
        """It was done, replaced or taken back."""
        self.fact = replace(self.fact, current=False)
        self.holds = False

    def pass_by(self, newer: Entry, value: str = "") -> None:
        """A later fact may have taken its place: it is told as the earlier one of the two."""
        if self.fact.now and newer.fact.kind == "value":
            return  # the sentence it was taken from tells more
        self.fact = replace(self.fact, now=one_line(newer.fact.text, _NOW_LIMIT, value))


def is_closed_by(entry: Entry, done: Entry) -> bool:
    """Whether a task is done by what a later fact tells. A deed that is no plain "done" has to
    name all of the task."""
    if entry.fact.kind != "todo" or not entry.content:
        return False
    shared = len(entry.content & done.content)
    if done.fact.about != PERHAPS:
        return shared >= _SAME_TASK * min(len(entry.content), max(len(done.content), 2))
    return shared == len(entry.content) > 1 and entry.fact.source != done.fact.source


def may_take_back(newer: Fact, older: Fact) -> bool:
    """Nobody but the user changes the user's constraints, and no output what was said."""
    if older.kind == "constraint":
        return newer.from_user and newer.text not in older.text
    told_by_a_tool = newer.kind == "value" and not newer.about
    if told_by_a_tool and (older.kind != "value" or older.about):
        return False
    return newer.text not in older.text


def settle_between(entry: Entry, newer: Entry) -> Fact | None:
    """Ends an earlier fact that no longer holds, or marks it as the earlier one where that is
    not sure; what other clauses of it say is a fact of its own."""
    if _is_taken_back_by_name(entry, newer) or (newer.states and _is_retold(entry, newer)):
        if entry.fact.from_user and entry.fact.kind in _OF_THE_USER:
            entry.pass_by(newer)
        else:
            entry.end()
        return None
    if not newer.states:
        return None
    speaks = newer.said.claims or newer.said.replaced
    claims = entry.said.claims if speaks else ()
    stale = [claim for claim in claims if takes_back(newer.said, claim)]
    if not stale or (not newer.said.changes and _is_of_something_else(entry, newer)):
        value = _value_instead(entry, newer)
        if value and entry.fact.kind == "value":
            entry.end()
        elif value:
            entry.pass_by(newer, value)
        return None
    return _cut_down(entry, newer, stale)


def _cut_down(entry: Entry, newer: Entry, stale: Sequence[Claim]) -> Fact | None:
    """Ends a fact some claims of which no longer hold, and gives back what is left of it."""
    fact = entry.fact
    rest = _without_clauses(fact.text, [claim.start for claim in stale])
    left = slot_of(rest)
    changed = left.union(*(slot_of(claim.phrase) for claim in stale))
    if fact.from_user and fact.kind in _OF_THE_USER and len(entry.topic - changed) > 1:
        # It says more than what changed, and that cannot be told apart.
        entry.pass_by(newer)
        return None
    entry.end()
    if fact.kind == "value" or len(left - GENERIC) < _WORTH_KEEPING:
        return None
    return replace(fact, text=rest)


def _value_instead(entry: Entry, newer: Entry) -> str:
    """What a later message says of the same thing, where it says it as a fact."""
    if not newer.said.about.values or not entry.said.about.values:
        return ""
    if entry.fact.source == newer.fact.source:
        return ""
    return stands_in_for(newer.said.about, entry.said.about)


def _is_of_something_else(entry: Entry, newer: Entry) -> bool:
    """Whether two sentences share a turn of phrase only, each with other things to say."""
    shared = entry.topic & newer.topic
    return min(len(entry.topic), len(newer.topic)) - len(shared) > 1


def _without_clauses(text: str, places: Sequence[int]) -> str:
    """A sentence without the clauses that some places lie in."""
    kept: list[str] = []
    start = 0
    for border in (*_CLAUSE.finditer(text), None):
        end = border.start() if border else len(text)
        stale = any(start <= place < end for place in places)
        kept.append("[…]" if stale else text[start:end])
        kept.append(border[0] if border else "")
        start = border.end() if border else end
    return "".join(kept)


def _is_taken_back_by_name(entry: Entry, newer: Entry) -> bool:
    """Whether "moved from Postgres to SQLite" speaks of the Postgres of an earlier decision."""
    if not newer.said.replaced or entry.fact.kind in ("value", "todo"):
        return False
    if entry.words & _REFUSALS:
        return False
    names = (name for name in newer.said.replaced if name not in entry.said.replaced)
    return any(not name[0].isdigit() and slot_of(name) <= entry.words for name in names)


def _is_retold(entry: Entry, newer: Entry) -> bool:
    """Whether a later fact speaks of all that an earlier one is about, or of all but its value."""
    if newer.words & ADDING:
        return False
    if entry.fact.kind == "constraint":
        said_again = entry.topic <= newer.topic and not newer.said.changes
        if said_again or entry.fact.source == newer.fact.source:
            return False
    same = len(entry.topic & newer.told)
    both_count = entry.topic < entry.content and newer.topic < newer.content
    if entry.fact.kind == "todo" and not both_count:
        return False
    if newer.said.changes or same > len(entry.topic & newer.topic):
        fewest = min(len(entry.topic), 2) if both_count else 2
        return same >= max(fewest, 1, _SAME_THING * len(entry.topic))
    if both_count and same > 1 and same == min(len(entry.topic), len(newer.topic)):
        return True
    # In one message like sentences stand side by side; in a later one they stand in for it.
    missing = len(entry.topic) - same - (entry.fact.source != newer.fact.source)
    return same > 1 and missing <= 0 and len(newer.topic) - same <= _SAME_BUT
