"""Facts brought together: the same one once, what was done closed, what was replaced gone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

from msgspec.structs import replace

from ollm_tui.core.ledger import Fact, FactKind
from ollm_tui.engine.compression.facts_claims import Said, said_in, takes_back
from ollm_tui.engine.compression.facts_words import (
    GENERIC,
    all_words,
    content_of,
    slot_of,
    word_set,
)

_CHANGEABLE: tuple[FactKind, ...] = ("constraint", "decision", "value", "todo", "note")
_CLAIMING: tuple[FactKind, ...] = (*_CHANGEABLE, "dead-end")
_MOST: dict[FactKind, int] = {"constraint": 200, "todo": 150}
_MOST_OTHERS = 120
"""Facts of one kind a ledger keeps, the newest; of constraints and tasks more."""

_MOST_OVER = 40
_MOST_SHARING = 100
"""Facts with one word in common that a later one is compared with, the newest."""
_WORTH_KEEPING = 3
_SAME_TASK = 0.6
_SAME_THING = 0.5
"""How many of the words that count must be the same."""
_SAME_BUT = 3
_CLAUSE = re.compile(r", |; | [—–-] |: |(?:,)? (?:and|but|while|und|et|y) ")
_REFUSALS = word_set("not never no avoid without don't won't drop nicht kein pas jamais nunca")
_RUNS_SHOWN = 3
_ADDING = word_set("also additionally both plus besides moreover auch aussi también")


class _Entry:
    """A fact on its way through the settling, with what it says worked out once."""

    def __init__(self, fact: Fact) -> None:
        self.fact = fact
        self.gone = False
        claims = fact.kind in _CLAIMING and (fact.current or fact.kind == "todo")
        self.said = said_in(fact.text) if claims else Said((), (), False)
        self.words = all_words(fact.text) if claims else frozenset[str]()
        self.content = content_of(fact.text) - GENERIC if claims else self.words
        self.topic = frozenset(word for word in self.content if not word[0].isdigit())
        self.told = self.topic | {word[2:] for word in self.topic if word.startswith("re")}
        """What it speaks of, also as something done again: rebuilt, recomputed."""

    @property
    def holds(self) -> bool:
        """Whether it is there and current."""
        return not self.gone and self.fact.current

    def end(self) -> None:
        """It was done, replaced or taken back."""
        self.fact = replace(self.fact, current=False)


class _Settling:
    """Facts taken in one after the other; each may close or replace earlier ones."""

    def __init__(self) -> None:
        self._entries: dict[tuple[FactKind, str], _Entry] = {}
        self._by_word: dict[str, list[_Entry]] = {}
        self._last: dict[FactKind, _Entry] = {}

    def take(self, fact: Fact) -> None:
        """One more fact, newer than all before."""
        known = self._entries.pop(_key(fact), None)
        if known:
            known.gone = True
        newer = _Entry(_again(known.fact, fact) if known else fact)
        self._take_back(newer)
        self._drop_if_repeated(newer.fact)
        self._add(newer)

    def _add(self, newer: _Entry) -> None:
        self._entries[_key(newer.fact)] = newer
        self._last[newer.fact.kind] = newer
        for word in newer.words if newer.fact.current else ():
            sharing = self._by_word.setdefault(word, [])
            sharing.append(newer)
            if len(sharing) > 2 * _MOST_SHARING:
                sharing[:] = [entry for entry in sharing if entry.holds][-_MOST_SHARING:]

    def facts(self) -> list[Fact]:
        """What still holds, in the order it was last said."""
        return [entry.fact for entry in self._entries.values() if not entry.gone]

    def _drop_if_repeated(self, fact: Fact) -> None:
        """A sentence that is told again together with the next one is told once."""
        last = self._last.get(fact.kind)
        if last and fact.source == last.fact.source and fact.text.startswith(last.fact.text):
            last.gone = True

    def _take_back(self, newer: _Entry) -> None:
        if newer.fact.kind == "todo" and not newer.fact.current:
            for entry in self._with_any(newer.content):
                if _is_closed_by(entry, newer):
                    entry.end()
        elif newer.fact.kind != "todo":
            slots = (slot for claim in newer.said.claims for slot in claim.slots)
            names = map(slot_of, newer.said.replaced)
            for entry in self._with_any(frozenset(chain(*slots, *names, newer.content))):
                if _may_take_back(newer.fact, entry.fact) and (rest := _replaced(entry, newer)):
                    self._add(_Entry(rest))

    def _with_any(self, words: frozenset[str]) -> list[_Entry]:
        """The earlier facts that share a word, in a fixed order."""
        found = chain.from_iterable(self._by_word.get(word, ()) for word in sorted(words))
        return [entry for entry in dict.fromkeys(found) if entry.holds]


def settled(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """The facts that still hold, each once, where it was said last; oldest first."""
    settling = _Settling()
    for fact in facts:
        if fact.text:
            settling.take(fact)
    return _newest(settling.facts())


def _key(fact: Fact) -> tuple[FactKind, str]:
    return fact.kind, fact.text.casefold()


def _again(known: Fact, fact: Fact) -> Fact:
    """A fact said once more: the user's word stays the user's, a command gains a run."""
    about = _runs(known.about, fact.about) if fact.kind == "command" else fact.about
    return replace(fact, about=about, from_user=known.from_user or fact.from_user)


def _runs(known: str, more: str) -> str:
    if not more or known.endswith(more):
        return known
    runs = [run for run in f"{known}, then {more}".split(", then ") if run]
    distinct = [run for at, run in enumerate(runs) if not at or runs[at - 1] != run]
    return ", then ".join(distinct[-_RUNS_SHOWN:])


def _is_closed_by(entry: _Entry, done: _Entry) -> bool:
    if entry.fact.kind != "todo" or not entry.fact.current or not entry.content:
        return False
    shared = len(entry.content & done.content)
    return shared >= _SAME_TASK * min(len(entry.content), max(len(done.content), 2))


def _may_take_back(newer: Fact, older: Fact) -> bool:
    """Nobody but the user changes the user's constraints, and no output what was said."""
    if newer.text in older.text or older.kind not in _CHANGEABLE:
        return False
    if older.kind == "constraint":
        return newer.from_user
    told_by_a_tool = newer.kind == "value" and not newer.about
    return not told_by_a_tool or (older.kind == "value" and not older.about)


def _replaced(entry: _Entry, newer: _Entry) -> Fact | None:
    """Ends a fact that no longer holds; what its other clauses say is a fact of its own."""
    if _is_taken_back_by_name(entry, newer) or _is_retold(entry, newer):
        entry.end()
        return None
    stale = [claim.start for claim in entry.said.claims if takes_back(newer.said, claim)]
    if not stale or (not newer.said.changes and _is_of_something_else(entry, newer)):
        return None
    fact = entry.fact
    entry.end()
    rest = _without_clauses(fact.text, stale)
    if fact.kind == "value" or len(slot_of(rest) - GENERIC) < _WORTH_KEEPING:
        return None
    return replace(fact, text=rest)


def _is_of_something_else(entry: _Entry, newer: _Entry) -> bool:
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


def _is_taken_back_by_name(entry: _Entry, newer: _Entry) -> bool:
    """Whether "moved from Postgres to SQLite" speaks of the Postgres of an earlier decision."""
    if entry.fact.kind in ("value", "todo") or entry.words & _REFUSALS:
        return False
    names = (name for name in newer.said.replaced if name not in entry.said.replaced)
    return any(not name[0].isdigit() and slot_of(name) <= entry.words for name in names)


def _is_retold(entry: _Entry, newer: _Entry) -> bool:
    """Whether a later fact speaks of all that an earlier one is about, or of all but its value."""
    if entry.fact.kind == "constraint" or newer.words & _ADDING:
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


def _newest(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """As many of each kind as a ledger keeps, and fewer of those that are over."""
    kept: list[Fact] = []
    told: Counter[tuple[FactKind, bool]] = Counter()
    for fact in reversed(facts):
        told[fact.kind, fact.current] += 1
        most = _MOST.get(fact.kind, _MOST_OTHERS) if fact.current else _MOST_OVER
        if told[fact.kind, fact.current] <= most:
            kept.append(fact)
    return tuple(reversed(kept))
