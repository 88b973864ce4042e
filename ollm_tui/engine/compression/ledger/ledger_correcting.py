"""Corrections by the user that do not name what they correct, such as "actually make it 9090".

They refer to what was said just before: the last message with a value of the same kind.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ollm_tui.core.session.compression import Fact, FactKind
from ollm_tui.engine.compression.ledger.facts_claims import said_in
from ollm_tui.engine.compression.ledger.facts_cues import CORRECTION, CORRECTION_HINTS
from ollm_tui.engine.compression.ledger.facts_kinds import ADDING
from ollm_tui.engine.compression.ledger.facts_subjects import NAME, NUMBER, PATH, PLACE
from ollm_tui.engine.compression.ledger.facts_words import (
    GENERIC,
    Cues,
    Slot,
    content_words,
    slot_of,
    stem,
    word_set,
    words_of,
)
from ollm_tui.engine.compression.ledger.ledger_entries import CHANGEABLE, Entry

_CUES = Cues(surely=CORRECTION, perhaps=CORRECTION_HINTS)
_MOST_MESSAGES = 16
_MOST_OF_USER = 3
"""Messages of the user that a correction may refer back to, the newest."""
_FEW_WORDS = 3
"""A reply of no more content words says nothing but the value."""
_SHORT = 7
"""Words of a sentence beyond which it is about many things and its values are ambiguous."""
_QUOTED = re.compile(r"\"([^\"\n]{2,60})\"|“([^”\n]{2,60})”")
_ROOTED = re.compile(r"(?<!\S)/[^\s,;]{2,80}")
_HOST = re.compile(r"\b[a-z][a-z-]*\d[\w-]*(?:\.[a-z][\w-]*)+\b")
_PLAIN = re.compile(r"[$€£]?[\d.,]+[km]?")
_SENTENCES = CHANGEABLE.difference(("value",)).union(("error", "dead-end"))
_NAMES = frozenset[FactKind](("file", "command", "identifier"))
_MAKE_IT = re.compile(r"\b(?:make|call|name) (?:it|that|this) \w", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;!.—–] |\b(?:because|since|so) ")
_AGENT = re.compile(
    r"^.*?\b(?:wants?|says?|said|asked for|asks? for|insists? on|prefers?|needs?|demands?) ",
    re.IGNORECASE,
)
"""The beginning of a sentence that only says who wants something."""
_THE_THING = re.compile(r"\b(?:the|our|an?) (\w+(?: \w+)?)", re.IGNORECASE)
_POINTING = word_set("it that this there him them those")
_BARE = GENERIC | word_set(
    "ok okay final answer value number right correct wrong sorry oops whoops ups hmm hm ugh wait "
    "please pls thanks call want better best max maximum minimum about try btw should need m d ll"
)
_MONTHS = word_set(
    "jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july "
    "august september october november december"
)
_PERIODS = word_set("hourly daily weekly monthly yearly hour day week month quarter year")
_QUOTE, _PERIOD = "quote", "period"


class _Value(NamedTuple):
    kind: str
    words: Slot


class _Told:
    """The facts of one message."""

    def __init__(self, source: str, from_user: bool) -> None:
        self.source = source
        self.from_user = from_user
        self.entries: list[Entry] = []
        self.corrects: _Told | None = None
        """The only message that this one corrects."""
        self.took_back = list[_Value]()

    @property
    def sentences(self) -> list[Entry]:
        """The facts that are whole sentences, without values taken from them."""
        return [one for one in self.entries if one.fact.kind in _SENTENCES]


class Corrections:
    """Remembers the last messages and finds which of their facts the newest one corrects."""

    def __init__(self) -> None:
        self._told = deque[_Told](maxlen=_MOST_MESSAGES)
        self._sources = set[str]()

    def take(self, entry: Entry) -> None:
        """Take a fact that is newer than all before it; earlier ones may no longer hold."""
        fact = entry.fact
        if not self._told or self._told[-1].source != fact.source:
            if fact.source in self._sources:
                return  # told again, not said again
            self._sources.add(fact.source)
            self._told.append(_Told(fact.source, fact.from_user))
        last = self._told[-1]
        last.entries.append(entry)
        if not entry.holds or fact.kind not in _SENTENCES or len(self._told) < 2:
            return
        if last.from_user:
            self._correct(last, entry)
        else:
            self._confirm(entry)

    def _correct(self, newer: _Told, entry: Entry) -> None:
        text = " ".join(one.fact.text for one in newer.sentences[-2:])
        words = words_of(text)
        if not words.found.isdisjoint(ADDING):
            return
        cues = _CUES.found_in(words)
        for older, since in self._before(newer):
            rivals = {value: _rivals(value, older) for value in _values(entry.fact.text)}
            old = _replaced_values(entry, text, rivals, (older, *since), cues)
            if old:
                newer.corrects = older
                newer.took_back += old
                self._replace(old, entry, (older, *since))
            if old or any(rivals.values()):
                return
        if "surely" in cues and not newer.corrects:
            self._reword(entry)

    def _confirm(self, answer: Entry) -> None:
        """Replace a value of the user if an answer confirms another one in the same words.

        The answer says of the value asked for last what an earlier answer said of the old one.
        """
        places = [at for at, told in enumerate(self._told) if told.from_user][-_MOST_OF_USER - 1 :]
        if len(places) < 2 or not _values(answer.fact.text):
            return
        messages = list(self._told)
        asked = messages[places[-1]]
        given = {one: entry for entry in asked.sentences for one in _values(entry.fact.text)}
        for value in (one for one in _values(answer.fact.text) if one in given):
            for at in places[-2::-1]:
                told = messages[at : places[-1]]
                old = _rivals(value, told[0])
                if len(old) == 1 and _was_said_of(old[0], value, answer, told[1:]):
                    self._replace(old, given[value], told)
                    return

    def _replace(self, old: Sequence[_Value], newer: Entry, messages: Sequence[_Told]) -> None:
        """Mark facts that gave the earlier value, and end those that only repeated it."""
        for entry in (entry for told in messages for entry in told.entries):
            words = _words(entry.fact.text)
            given = [one for one in old if one.words <= words]
            if not given or _happened(entry.fact):
                continue
            self._pass_on(entry, newer)
            if not entry.holds:
                continue
            if entry.fact.kind in _NAMES:
                if any(one.words == words for one in given):
                    entry.end()
            elif not entry.fact.from_user and len(words - given[0].words - _BARE) <= _FEW_WORDS:
                entry.end()
            elif not (entry.fact.now and given[0].words <= _words(newer.fact.text)):
                entry.pass_by(newer)

    def _pass_on(self, replaced: Entry, newer: Entry) -> None:
        """Mark facts that a replaced one had replaced, if that one says nothing else."""
        if len(replaced.read.topic) > _FEW_WORDS:
            return
        for entry in (entry for told in self._told for entry in told.entries):
            if entry.was_passed_by(replaced):
                entry.pass_by(newer)

    def _before(self, newer: _Told) -> Iterator[tuple[_Told, list[_Told]]]:
        """Yield the last messages of the user, the newest first, each with what followed it."""
        messages = list(self._told)[:-1]
        places = [at for at, told in enumerate(messages) if told.from_user][-_MOST_OF_USER:]
        for at in reversed(places or range(len(messages))[-1:]):
            if newer.corrects in (None, messages[at]):
                yield messages[at], messages[at + 1 :]

    def _reword(self, entry: Entry) -> None:
        """Mark a short request without a value that is put in other words: "no wait, by month"."""
        older = next((told for told in list(self._told)[-2::-1] if told.from_user), None)
        for one in older.sentences if older else ():
            again = _MAKE_IT.search(entry.fact.text) or one.read.topic & entry.read.topic
            if one.holds and again and len(one.read.topic) <= _FEW_WORDS:
                one.pass_by(entry)


def _happened(fact: Fact) -> bool:
    """Whether a fact is an event or comes from a tool: no later request changes that."""
    told_by_a_tool = fact.kind == "value" and not fact.about
    return told_by_a_tool or (fact.kind in ("error", "dead-end") and not fact.from_user)


def _was_said_of(old: _Value, value: _Value, answer: Entry, messages: Sequence[_Told]) -> bool:
    """Whether an earlier answer differs from this one only in its value."""
    rest = answer.read.topic - value.words
    answers = (one for told in messages for one in told.entries if not told.from_user)
    return bool(rest) and any(
        old.words <= _words(one.fact.text) and content_words(one.fact.text) - old.words == rest
        for one in answers
    )


def _replaced_values(
    entry: Entry,
    text: str,
    rivals: dict[_Value, list[_Value]],
    messages: Sequence[_Told],
    cues: dict[str, str],
) -> list[_Value]:
    """Return the values of an earlier message that a sentence replaces."""
    echoed, by_name = _words(text), bool(said_in(entry.fact.text).replaced)
    for value, old in rivals.items():
        named = [one for one in old if one.words <= echoed]
        if not named and (by_name or (value.kind == NAME and "surely" not in cues)):
            continue
        alone = [one.kind for one in rivals].count(value.kind) == 1
        if named or (alone and len(old) == 1 and _means(entry, value, old[0], messages, cues)):
            return named or old
    return []


def _means(
    entry: Entry, value: _Value, old: _Value, messages: Sequence[_Told], cues: dict[str, str]
) -> bool:
    """Whether a sentence speaks of nothing but what was said before."""
    said = (one for told in messages for one in told.sentences if len(one.read.topic) <= _SHORT)
    about = (one.read.topic for one in said if old.words <= _words(one.fact.text))
    text = entry.fact.text
    own, known = _own_words(text, value), frozenset[str]().union(*about)
    plain = value.kind in (NUMBER, NAME)
    if not cues and (plain or not _AGENT.match(text)):
        rest = entry.read.topic - value.words - _BARE
        return rest <= known and (bool(own) or not plain)
    here = words_of(text)
    sure = "surely" in _CUES.found_in(here) or not here.found.isdisjoint(_POINTING)
    return len(own - known) <= sure


def _own_words(text: str, value: _Value) -> Slot:
    """Return what the clause of a value names: the interval in "sorry, the interval is 60 s"."""
    before = ""
    for clause in _CLAUSE.split(text):
        if value.words <= _words(clause):
            about = _AGENT.sub("", clause)
            label, _, rest = about.rpartition(": ")
            if label and _CUES.found_in(words_of(label)):
                about = rest
            words = words_of(text)
            if not _POINTING.isdisjoint(words.found) and "surely" not in _CUES.found_in(words):
                about += f" {' '.join(_THE_THING.findall(before))}"
            return _words(about).difference(_BARE, *(one.words for one in _values(text)))
        before += clause
    return frozenset()


def _words(text: str) -> Slot:
    return slot_of(text.lower())


def _rivals(value: _Value, older: _Told) -> list[_Value]:
    """Return the values of an earlier message that this one could replace.

    Empty if one of them is the same value.
    """
    short = (one for one in older.sentences if one.holds and len(one.read.topic) <= _SHORT)
    there = [one for entry in short for one in _values(entry.fact.text)]
    rivals = (one for one in there if one.kind == value.kind and one not in older.took_back)
    alike = list(dict.fromkeys(rivals))
    return [] if value in alike else alike


@lru_cache(maxsize=1024)
def _values(text: str) -> tuple[_Value, ...]:
    """Return the values in a sentence, each with its kind."""
    quoted = [one or other for one, other in _QUOTED.findall(text)]
    found = [(_QUOTE, value) for value in quoted]
    found += [(PATH, value) for value in _ROOTED.findall(text)]
    found += [("host", value) for value in _HOST.findall(text)]
    for kind, value in said_in(text).about.values:
        if kind == NUMBER:
            kind = _form(value)
        found.append((NAME if kind == PLACE else kind, value))
    counted = frozenset[str]().union(*(_words(value) for _, value in found))
    if len(content_words(text)) <= _FEW_WORDS:
        found += [(_PERIOD, word) for word in sorted(_words(text) & _PERIODS - counted)]
    # Any first word has a capital, and "I'm" too.
    first = stem(text.split(maxsplit=1)[0].strip(",.:!"))
    named = (pair for pair in found if pair[0] != NAME or not _is_no_name(pair[1], first))
    valued = (_Value(kind, _words(value)) for kind, value in named)
    return tuple(dict.fromkeys(one for one in valued if one.words - GENERIC or one.kind == _PERIOD))


def _is_no_name(value: str, first: str) -> bool:
    return stem(value) == first or len(value) < 2 or "'" in value or value in _MONTHS


def _form(value: str) -> str:
    """Return the kind of a number by its form: 8080 and 04:30 differ, 0.4 and 12 do not."""
    if value.count(".") > 1:
        return "dotted"
    if ":" in value:
        return "clock"
    return NUMBER if _PLAIN.fullmatch(value) else "code"
