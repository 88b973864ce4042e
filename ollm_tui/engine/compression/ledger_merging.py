"""Facts brought together: the same one once, what was done closed, what was replaced gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from ollm_tui.core.ledger import Fact, FactKind
from ollm_tui.engine.compression.facts_words import slot_of
from ollm_tui.engine.compression.ledger_replacing import (
    CHANGEABLE,
    Entry,
    is_closed_by,
    may_take_back,
    settle_between,
)

_MOST: dict[FactKind, int] = {"constraint": 200, "todo": 150}
_MOST_OTHERS = 120
"""Facts of one kind a ledger keeps, the newest; of constraints and tasks more."""

_MOST_OVER = 40
_MOST_SHARING = 100
"""Facts with one word in common that a later one is compared with, the newest."""
_RUNS_SHOWN = 3


class _Settling:
    """Facts taken in one after the other; each may close or replace earlier ones."""

    def __init__(self) -> None:
        self._entries: dict[tuple[FactKind, str], Entry] = {}
        self._by_word: dict[str, list[Entry]] = {}
        self._last: dict[FactKind, Entry] = {}
        self._added = 0

    def take(self, fact: Fact) -> None:
        """One more fact, newer than all before."""
        known = self._entries.pop(_key(fact), None)
        if known and known.fact.current == fact.current and self._is_latest(known):
            known.fact = _again(known.fact, fact)
            self._entries[_key(fact)] = self._last[fact.kind] = known
            return
        if known:
            known.holds = False
        newer = Entry(_again(known.fact, fact) if known else fact)
        self._take_back(newer)
        self._drop_if_repeated(newer.fact)
        self._add(newer)

    def _add(self, newer: Entry) -> None:
        self._entries[_key(newer.fact)] = newer
        self._last[newer.fact.kind] = newer
        self._added += 1
        newer.number = self._added
        if newer.fact.kind in CHANGEABLE and newer.holds:
            for word in newer.content:
                self._by_word.setdefault(word, []).append(newer)

    def _is_latest(self, known: Entry) -> bool:
        """Whether nothing was said since that shares a word: said again it changes nothing."""
        return all(
            self._by_word[word][-1].number <= known.number
            for word in known.content
            if word in self._by_word
        )

    def facts(self) -> list[Fact]:
        """What still holds, in the order it was last said."""
        return [entry.fact for entry in self._entries.values()]

    def _drop_if_repeated(self, fact: Fact) -> None:
        """A sentence that is told again together with the next one is told once."""
        last = self._last.get(fact.kind)
        if last and fact.source == last.fact.source and fact.text.startswith(last.fact.text):
            self._entries.pop(_key(last.fact), None)
            last.holds = False

    def _take_back(self, newer: Entry) -> None:
        if newer.fact.kind == "todo" and not newer.fact.current:
            for entry in self._with_any(newer.content):
                if is_closed_by(entry, newer):
                    entry.end()
        elif newer.fact.kind != "todo" and newer.content:
            names = map(slot_of, newer.said.replaced)
            for entry in self._with_any(newer.content.union(*names)):
                if may_take_back(newer.fact, entry.fact) and (rest := settle_between(entry, newer)):
                    self._add(Entry(rest))

    def _with_any(self, words: frozenset[str]) -> list[Entry]:
        """The earlier facts that share a word, in a fixed order."""
        found: dict[Entry, None] = {}
        for word in sorted(words & self._by_word.keys()):
            sharing = self._by_word[word]
            if len(sharing) > 2 * _MOST_SHARING:
                sharing[:] = sharing[-_MOST_SHARING:]
            found.update((entry, None) for entry in sharing if entry.holds)
        return list(found)


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
    from_user = known.from_user or fact.from_user
    if (about, from_user) == (fact.about, fact.from_user):
        return fact
    return replace(fact, about=about, from_user=from_user)


def _runs(known: str, more: str) -> str:
    if not more or known.endswith(more):
        return known
    runs = [run for run in f"{known}, then {more}".split(", then ") if run]
    distinct = [run for at, run in enumerate(runs) if not at or runs[at - 1] != run]
    return ", then ".join(distinct[-_RUNS_SHOWN:])


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
