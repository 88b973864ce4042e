"""Decides whether a later fact replaces an earlier one, surely or perhaps."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from ollm_tui.core.session.compression import Fact, FactKind
from ollm_tui.engine.compression.ledger.facts_claims import Claim, takes_back
from ollm_tui.engine.compression.ledger.facts_kinds import ADDING, is_task
from ollm_tui.engine.compression.ledger.facts_subjects import may_stand_in_for, stands_in_for
from ollm_tui.engine.compression.ledger.facts_words import GENERIC, slot_of, word_set
from ollm_tui.engine.compression.ledger.ledger_entries import Entry, Reading

_SAME_THING = 0.5
"""Share of the content words that must be the same."""
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
    """Return the value a later sentence states for the same thing; empty if none."""
    if old.slot_words.isdisjoint(new.slot_words):
        return ""
    return stands_in_for(new.said.about, old.said.about)


def value_perhaps_instead(old: Reading, new: Reading) -> str:
    """Return a value that may replace an earlier one, by what else both speak of; else empty."""
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


_OF_THE_USER: frozenset[FactKind] = frozenset(("constraint", "decision"))
_WORTH_KEEPING = 3
_CLAUSE = re.compile(r", |; | [—–-] |: |(?:,)? (?:and|but|while|und|et|y) ")


def may_take_back(newer: Fact, older: Fact) -> bool:
    """Whether a fact may replace another: only the user changes the user's constraints, and
    tool output changes nothing that was said."""
    if older.kind == "constraint":
        return newer.from_user and newer.text not in older.text
    told_by_a_tool = newer.kind == "value" and not newer.about
    if told_by_a_tool and (older.kind != "value" or older.about):
        return False
    return newer.text not in older.text


def settle_between(entry: Entry, newer: Entry) -> Fact | None:
    """End an earlier fact that a later one replaces, or mark it where that is not sure.

    Returns what the other clauses of it say as a new fact, if that is worth keeping.
    """
    states = newer.read.states
    if is_taken_back_by_name(entry, newer) or (states and is_retold(entry, newer)):
        if entry.fact.from_user and entry.fact.kind in _OF_THE_USER:
            entry.pass_by(newer)
        else:
            entry.end()
        return None
    if not states:
        return None
    if stale := _stale_claims(entry.read, newer.read):
        return _cut_down(entry, newer, stale)
    if entry.fact.source != newer.fact.source:
        _mark(entry, newer)
    return None


def _stale_claims(old: Reading, new: Reading) -> list[Claim]:
    """Return the claims of an earlier sentence that a later one takes back."""
    if not new.said.replaced and old.slot_words.isdisjoint(new.slot_words):
        return []
    stale = [claim for claim in old.said.claims if takes_back(new.said, claim)]
    return stale if new.said.changes or not are_of_other_things(old, new) else []


def _mark(entry: Entry, newer: Entry) -> None:
    """End or mark a fact to which a later message gives another value."""
    value = value_instead(entry.read, newer.read)
    if value and entry.fact.kind == "value":
        entry.end()
    elif not value and not is_task(entry.fact):
        value = value_perhaps_instead(entry.read, newer.read)
    if value and entry.holds:
        entry.pass_by(newer, value)


def _cut_down(entry: Entry, newer: Entry, stale: Sequence[Claim]) -> Fact | None:
    """End a fact with claims that no longer hold, and return what is left of it."""
    fact = entry.fact
    rest = _without_clauses(fact.text, [claim.start for claim in stale])
    left = slot_of(rest)
    changed = left.union(*(slot_of(claim.phrase) for claim in stale))
    if fact.from_user and fact.kind in _OF_THE_USER and len(entry.read.topic - changed) > 1:
        # It says more than what changed, and that cannot be told apart.
        entry.pass_by(newer)
        return None
    entry.end()
    if fact.kind == "value" or len(left - GENERIC) < _WORTH_KEEPING:
        return None
    return replace(fact, text=rest)


def _without_clauses(text: str, places: Sequence[int]) -> str:
    """Return a sentence without the clauses in which the given indexes are."""
    kept: list[str] = []
    start = 0
    for border in (*_CLAUSE.finditer(text), None):
        end = border.start() if border else len(text)
        stale = any(start <= place < end for place in places)
        kept.append("[…]" if stale else text[start:end])
        kept.append(border[0] if border else "")
        start = border.end() if border else end
    return "".join(kept)
