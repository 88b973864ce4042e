"""Entries of a ledger while it is made: facts, each with what its text says."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import replace

from ollm_tui.core.session.compression import Fact, FactKind
from ollm_tui.engine.compression.ledger.facts_claims import Said, said_in
from ollm_tui.engine.compression.ledger.facts_kinds import is_statement
from ollm_tui.engine.compression.ledger.facts_subjects import names_of
from ollm_tui.engine.compression.ledger.facts_text import one_line
from ollm_tui.engine.compression.ledger.facts_words import (
    Slot,
    all_words,
    content_words,
    stem,
    words_of,
)

CHANGEABLE: frozenset[FactKind] = frozenset(("constraint", "decision", "value", "todo", "note"))
_CLAIMING = CHANGEABLE | frozenset[FactKind](("dead-end",))
_NOW_LIMIT = 90
"""Characters of what is said now, beside what was said earlier."""


class Reading(NamedTuple):
    """What the text of a fact says, and the words it says it with."""

    said: Said = Said((), (), False)
    words: Slot = frozenset()
    content: Slot = frozenset()
    topic: Slot = frozenset()
    """What it speaks of, without its numbers."""
    told: Slot = frozenset()
    """The topic, with words such as rebuilt also without their "re"."""
    names: Slot = frozenset()
    """The words of the names that are its values."""
    slots: frozenset[Slot] = frozenset()
    """The names of what it gives a value to."""
    slot_words: Slot = frozenset()
    first: str = ""
    """The first word that counts: what a short sentence speaks of."""
    states: bool = False
    """Whether it says what holds; what was only tried or supposed replaces nothing."""


_UNREAD = Reading()


@lru_cache(maxsize=4096)
def _read(text: str) -> Reading:
    said, words, content = said_in(text), all_words(text), content_words(text)
    topic = frozenset(word for word in content if not word[0].isdigit())
    told = topic.union(word[2:] for word in topic if word.startswith("re"))
    claimed = (slot for claim in said.claims for slot in claim.slots)
    slots = frozenset((*claimed, *map(frozenset, said.about.subjects)))
    # A question that something follows was answered.
    states = "? " in text or is_statement(words_of(text))
    names = names_of(said.about)
    slot_words = frozenset[str]().union(*slots)
    first = next((word for word in map(stem, text.split()) if word in topic), "")
    return Reading(said, words, content, topic, told, names, slots, slot_words, first, states)


class Entry:
    """A fact, and whether it still holds."""

    __slots__ = ("fact", "holds", "number", "read")

    def __init__(self, fact: Fact) -> None:
        self.fact = fact
        self.holds = fact.current
        """Whether the fact is in the ledger and current."""
        self.number = 0
        """The number of facts that had been added when this one was."""
        claims = fact.kind in _CLAIMING and (fact.current or fact.kind == "todo")
        self.read = _read(fact.text) if claims else _UNREAD

    def end(self) -> None:
        """Mark the fact as done, replaced or taken back."""
        self.fact = replace(self.fact, current=False)
        self.holds = False

    def pass_by(self, newer: Entry, value: str = "") -> None:
        """Mark a later fact as its possible replacement: both are rendered, as earlier and now."""
        if self.fact.now and newer.fact.kind == "value":
            return  # the sentence it was taken from tells more
        self.fact = replace(self.fact, now=one_line(newer.fact.text, _NOW_LIMIT, value))

    def was_passed_by(self, newer: Entry) -> bool:
        """Whether a later fact is marked as its possible replacement."""
        return self.fact.now == one_line(newer.fact.text, _NOW_LIMIT)
