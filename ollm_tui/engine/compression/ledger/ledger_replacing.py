"""Whether a later fact takes an earlier one's place, or may have done so."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from ollm_tui.core.session.ledger import Fact, FactKind
from ollm_tui.engine.compression.ledger.facts_claims import Claim, takes_back
from ollm_tui.engine.compression.ledger.facts_kinds import is_task
from ollm_tui.engine.compression.ledger.facts_words import GENERIC, slot_of
from ollm_tui.engine.compression.ledger.ledger_entries import Entry, Reading
from ollm_tui.engine.compression.ledger.ledger_likeness import (
    are_of_other_things,
    is_retold,
    is_taken_back_by_name,
    value_instead,
    value_perhaps_instead,
)

_OF_THE_USER: frozenset[FactKind] = frozenset(("constraint", "decision"))
_WORTH_KEEPING = 3
_CLAUSE = re.compile(r", |; | [—–-] |: |(?:,)? (?:and|but|while|und|et|y) ")


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
    """The claims of an earlier sentence that a later one takes back."""
    if not new.said.replaced and old.slot_words.isdisjoint(new.slot_words):
        return []
    stale = [claim for claim in old.said.claims if takes_back(new.said, claim)]
    return stale if new.said.changes or not are_of_other_things(old, new) else []


def _mark(entry: Entry, newer: Entry) -> None:
    """Ends or marks a fact of which a later message tells another value."""
    value = value_instead(entry.read, newer.read)
    if value and entry.fact.kind == "value":
        entry.end()
    elif not value and not is_task(entry.fact):
        value = value_perhaps_instead(entry.read, newer.read)
    if value and entry.holds:
        entry.pass_by(newer, value)


def _cut_down(entry: Entry, newer: Entry, stale: Sequence[Claim]) -> Fact | None:
    """Ends a fact some claims of which no longer hold, and gives back what is left of it."""
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
