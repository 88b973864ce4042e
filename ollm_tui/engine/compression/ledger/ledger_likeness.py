"""Whether two facts speak of the same thing: one told again, denied, or given another value."""

from __future__ import annotations

from ollm_tui.engine.compression.ledger.facts_kinds import ADDING
from ollm_tui.engine.compression.ledger.facts_subjects import may_stand_in_for, stands_in_for
from ollm_tui.engine.compression.ledger.facts_words import slot_of, word_set
from ollm_tui.engine.compression.ledger.ledger_entries import Entry, Reading

_SAME_THING = 0.5
"""How many of the words that count must be the same."""
_SAME_BUT = 3
_REFUSALS = word_set("not never no avoid without don't won't drop nicht kein pas jamais nunca")


def is_taken_back_by_name(entry: Entry, newer: Entry) -> bool:
    """Whether "moved from Postgres to SQLite" speaks of the Postgres of an earlier decision."""
    replaced = newer.read.said.replaced
    if not replaced or entry.fact.kind in ("value", "todo") or entry.read.words & _REFUSALS:
        return False
    names = (name for name in replaced if name not in entry.read.said.replaced)
    return any(not name[0].isdigit() and slot_of(name) <= entry.read.words for name in names)


def is_retold(entry: Entry, newer: Entry) -> bool:
    """Whether a later fact speaks of all that an earlier one is about, or of all but its value."""
    old, new = entry.read, newer.read
    same = len(old.topic & new.told)
    if not same or not new.words.isdisjoint(ADDING):
        return False
    elsewhere = entry.fact.source != newer.fact.source
    if entry.fact.kind == "constraint":
        said_again = old.topic <= new.topic and not new.said.changes
        if said_again or not elsewhere:
            return False
    both_count = len(old.topic) < len(old.content) and len(new.topic) < len(new.content)
    if entry.fact.kind == "todo" and not both_count:
        return False
    if new.said.changes or same > len(old.topic & new.topic):
        fewest = min(len(old.topic), 2) if both_count else 2
        return same >= max(fewest, 1, _SAME_THING * len(old.topic))
    if both_count and same > 1 and same == min(len(old.topic), len(new.topic)):
        return True
    # In one message like sentences stand side by side; in a later one they stand in for it.
    missing = len(old.topic) - same - elsewhere
    return same > 1 and missing <= 0 and len(new.topic) - same <= _SAME_BUT


def are_of_other_things(old: Reading, new: Reading) -> bool:
    """Whether two sentences share a turn of phrase only, each with other things to say."""
    shared = old.topic & new.topic
    return min(len(old.topic), len(new.topic)) - len(shared) > 1


def value_instead(old: Reading, new: Reading) -> str:
    """What a later sentence says of the same thing, where it says it as a fact."""
    if old.slot_words.isdisjoint(new.slot_words):
        return ""
    return stands_in_for(new.said.about, old.said.about)


def value_perhaps_instead(old: Reading, new: Reading) -> str:
    """A value that may have taken the place of an earlier one, by what else the two speak of."""
    shared = old.topic & new.topic
    if not shared:
        return ""
    if len(shared) > 1 and len(shared) == len(old.topic) and _denies(new, old):
        return next(iter(sorted(shared)))
    rest = len(old.topic - shared - old.names)
    more = len(new.topic - shared - new.names)
    if rest >= _SAME_BUT or more > 2 * _SAME_BUT or min(rest, more) > 1:
        return ""
    named = min(rest, more) or (not new.said.changes and rest >= len(shared))
    if named and not _name_one_thing(old, new):
        return ""  # each has something else to speak of
    return may_stand_in_for(new.said.about, old.said.about, surely=bool(min(rest, more)))


def _name_one_thing(old: Reading, new: Reading) -> bool:
    """Whether both name the same thing in two words, or one of them little else."""
    both = old.said.about.subjects & new.said.about.subjects
    if any(new.said.changes or len(subject) > 1 for subject in both):
        return True
    if len(old.topic) - len(old.names - new.topic) > 2:
        return False
    return old.first == new.first or old.first in new.slot_words


def _denies(new: Reading, old: Reading) -> bool:
    """Whether of two like sentences only the later one says no, or names something else too."""
    if new.words & _REFUSALS and not old.words & _REFUSALS:
        return True
    return new.said.changes and not set(new.said.about.values) <= set(old.said.about.values)
