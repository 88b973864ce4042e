"""Merging of facts: each is kept once, done tasks are closed, replaced facts removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from ollm_tui.core.session.compression import Fact, FactKind
from ollm_tui.engine.compression.ledger.facts_kinds import is_dropped, is_open, is_so_now, is_task
from ollm_tui.engine.compression.ledger.facts_prose import PERHAPS
from ollm_tui.engine.compression.ledger.facts_words import Words, slot_of, words_of
from ollm_tui.engine.compression.ledger.ledger_correcting import Corrections
from ollm_tui.engine.compression.ledger.ledger_entries import CHANGEABLE, Entry, Reading
from ollm_tui.engine.compression.ledger.ledger_replacing import may_take_back, settle_between

_SAME_TASK = 0.6
_MOST_OF_TASK = 0.75
_HALF_OF_TASK = 0.5
"""Shares of the words of a task that a later fact must have to close it."""
_FULL_TASK = 3
"""Words that a task must have to be met by a mere statement."""


def is_closed_by(entry: Entry, done: Entry) -> bool:
    """Whether a later fact says that a task is done.

    A fact that does not plainly say "done" has to name more of the words of the task.
    """
    task = entry.read.content
    if entry.fact.kind != "todo" or not task:
        return False
    shared = len(task & done.read.content)
    if done.fact.about != PERHAPS:
        return shared >= _SAME_TASK * min(len(task), max(len(done.read.content), 2))
    if entry.fact.source == done.fact.source:
        return False
    words, size = words_of(done.fact.text), len(entry.read.topic)
    if _names_the_deed(words_of(entry.fact.text), words):
        return shared >= _HALF_OF_TASK * size
    if shared < 2:
        return False
    enough = _SAME_TASK if is_dropped(words) or is_so_now(words) else _MOST_OF_TASK
    return shared >= enough * size


def is_met_by(entry: Entry, newer: Entry) -> bool:
    """Whether a later statement says that all that a task names is the case."""
    return (
        entry.fact.kind == "todo"
        and entry.fact.source != newer.fact.source
        and len(entry.read.topic) >= _FULL_TASK
        and entry.read.topic <= newer.read.topic
        and newer.read.states
        and not is_open(words_of(newer.fact.text))
    )


def _names_the_deed(task: Words, done: Words) -> bool:
    """Whether "moved" is the "move" of the task, and "geprüft" the "prüfen"."""
    for word in done.found:
        if word.endswith("ed") and not task.found.isdisjoint((word[:-1], word[:-2], word[:-3])):
            return True
        if word.startswith("ge") and word[2:-1] + "en" in task.found:
            return True
    return False


_MOST: dict[FactKind, int] = {"constraint": 200, "todo": 150}
_MOST_OTHERS = 120
"""How many facts of one kind a ledger keeps, the newest; more constraints and tasks."""

_MOST_OVER = 40
_MOST_SHARING = 100
"""How many facts with a word in common a later one is compared with, the newest."""
_FEW_SHARING = 6
"""A word that no more facts than this have is rare."""
_RUNS_SHOWN = 3


class _Settling:
    """Takes facts one after the other; each may close or replace earlier ones."""

    def __init__(self) -> None:
        self._entries: dict[tuple[FactKind, str], Entry] = {}
        self._by_word: dict[str, list[Entry]] = {}
        self._tasks_by_word: dict[str, list[Entry]] = {}
        self._last: dict[FactKind, Entry] = {}
        self._sentence: Entry | None = None
        self._added = 0
        self._corrections = Corrections()

    def take(self, fact: Fact) -> None:
        """Take a fact that is newer than all before it."""
        known = self._entries.pop(_key(fact), None)
        if known and known.fact.current == fact.current and self._changes_nothing(known):
            known.fact = _again(known.fact, fact)
            self._entries[_key(fact)] = self._last[fact.kind] = known
            self._corrections.take(known)
            return
        if known:
            known.holds = False
        newer = Entry(_again(known.fact, fact) if known else fact)
        if not self._was_told(newer.fact):
            self._take_back(newer, known.number if known else 0)
        self._drop_if_repeated(newer.fact)
        self._add(newer)
        self._corrections.take(newer)
        if newer.fact.kind not in ("value", "todo"):
            self._sentence = newer

    def _was_told(self, fact: Fact) -> bool:
        """Whether the last sentence contains a value and so has replaced the same facts already."""
        last = self._sentence
        return (
            fact.kind == "value"
            and last is not None
            and last.read.states
            and last.fact.source == fact.source
            and fact.text in last.fact.text
        )

    def _add(self, newer: Entry) -> None:
        self._entries[_key(newer.fact)] = newer
        self._last[newer.fact.kind] = newer
        self._added += 1
        newer.number = self._added
        if newer.fact.kind in CHANGEABLE and newer.holds:
            is_task = newer.fact.kind == "todo"
            for word in newer.read.content:
                self._by_word.setdefault(word, []).append(newer)
                if is_task:
                    self._tasks_by_word.setdefault(word, []).append(newer)

    def _changes_nothing(self, known: Entry) -> bool:
        """Whether it gives no value, or nothing was said since that shares a word with it."""
        if known.fact.kind == "note" and known.holds and not known.read.said.about.values:
            return True
        return all(
            self._by_word[word][-1].number <= known.number
            for word in known.read.content
            if word in self._by_word
        )

    def facts(self) -> list[Fact]:
        """Return all facts in the order in which they were last said."""
        return [entry.fact for entry in self._entries.values()]

    def _drop_if_repeated(self, fact: Fact) -> None:
        """Drop the last fact if this one repeats it and says more."""
        last = self._last.get(fact.kind)
        if last and fact.source == last.fact.source and fact.text.startswith(last.fact.text):
            self._entries.pop(_key(last.fact), None)
            last.holds = False

    def _take_back(self, newer: Entry, since: int) -> None:
        """End or mark earlier facts that a new one replaces.

        Facts up to number `since` were compared when the same fact was said before.
        """
        if newer.fact.kind == "todo" and not newer.fact.current:
            words = sorted(newer.read.content & self._tasks_by_word.keys())
            for entry in [entry for word in words for entry in self._tasks_by_word[word]]:
                if entry.holds and is_closed_by(entry, newer):
                    entry.end()
        elif newer.read.content and not is_task(newer.fact):
            for entry in self._akin(newer.read, since):
                if is_met_by(entry, newer):
                    entry.end()
                elif may_take_back(newer.fact, entry.fact) and (
                    rest := settle_between(entry, newer)
                ):
                    self._add(Entry(rest))

    def _akin(self, read: Reading, since: int) -> list[Entry]:
        """Return earlier facts to compare with, in a fixed order.

        They share a rare word, two common ones or what they give a value to; comparing all that
        share any word takes too long.
        """
        replaced = frozenset[str]().union(*map(slot_of, read.said.replaced))
        shared: dict[Entry, int] = {}
        for word in sorted((read.content | replaced) & self._by_word.keys()):
            sharing = self._sharing(word)
            weight = 2 if len(sharing) <= _FEW_SHARING or word in replaced else 1
            for entry in reversed(sharing) if since else sharing:
                if entry.number <= since:
                    break
                shared[entry] = shared.get(entry, 0) + weight
        return [entry for entry, weight in shared.items() if weight > 1 or _meet(read, entry.read)]

    def _sharing(self, word: str) -> list[Entry]:
        sharing = self._by_word[word]
        if not all(entry.holds for entry in sharing) or len(sharing) > 2 * _MOST_SHARING:
            sharing[:] = [entry for entry in sharing if entry.holds][-_MOST_SHARING:]
        return sharing


def _meet(new: Reading, old: Reading) -> bool:
    """Whether both give the same thing a value; for a change, a similar thing is enough."""
    if new.said.changes:
        return not new.slot_words.isdisjoint(old.slot_words)
    return not new.slots.isdisjoint(old.slots)


def settled(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Return the facts, each once where it was said last, the oldest first."""
    settling = _Settling()
    for fact in facts:
        if fact.text:
            settling.take(fact)
    return _newest(settling.facts())


def _key(fact: Fact) -> tuple[FactKind, str]:
    return fact.kind, fact.text.casefold()


def _again(known: Fact, fact: Fact) -> Fact:
    """Return a repeated fact: it stays the user's if it was, and a command gains a run."""
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
    """Return the newest facts of each kind, fewer of those that are not current."""
    kept: list[Fact] = []
    told: Counter[tuple[FactKind, bool]] = Counter()
    for fact in reversed(facts):
        told[fact.kind, fact.current] += 1
        most = _MOST.get(fact.kind, _MOST_OTHERS) if fact.current else _MOST_OVER
        if told[fact.kind, fact.current] <= most:
            kept.append(fact)
    return tuple(reversed(kept))
