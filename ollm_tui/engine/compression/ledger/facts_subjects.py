"""Subjects and values of a sentence, whatever its verb.

A later sentence about the same thing with another value of the same kind stands in for an
earlier one: "Adyen runs the payment gateway", then "we signed with Stripe for the gateway".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ollm_tui.engine.compression.ledger.facts_clauses import (
    Token,
    dimension_of,
    ends_subject,
    is_label,
    is_specific,
    is_unit,
)
from ollm_tui.engine.compression.ledger.facts_words import GENERIC, stem, word_set

Subject = tuple[str, ...]
"""The words of a noun phrase, in order."""

NUMBER, NAME, PLACE, DAY, PATH = "number", "name", "place", "day", "path"
"""A place is a name behind "in" or "at"."""
_NAMED = frozenset((NAME, PLACE))
_ONLY_PERHAPS = frozenset((PLACE, DAY, PATH))
"""Kinds of which a sentence may well give several: one more is no sure sign of a change."""
_DAYS = word_set(
    "monday tuesday wednesday thursday friday saturday sunday noon midnight montag dienstag "
    "mittwoch donnerstag freitag samstag sonntag mittag lundi mardi mercredi jeudi vendredi samedi "
    "dimanche lunes martes miércoles jueves viernes sábado domingo"
)

_ANCHORS = word_set(
    "the a an our its my your their this that each every as for of with to on by : = ( der die "
    "das le la el für als pour para"
)
"""Behind these a single word is a thing, not a deed."""
_EQUATING = word_set("= : ( -> => → is are was were equals")
"""Before these a single word is a thing, too."""
_ELSEWHERE = word_set("in inside at per since see under before after during like via within")
"""A name behind these is no choice but a place, a time or a likeness."""
_NOBODY = word_set(
    "everything everybody everyone nothing nobody something somebody someone anything anyone all "
    "some most many both each none one two there here these those what which who how why when "
    "where while although though because since if unless until once yes no ok okay good great "
    "please thanks sorry sure also however still instead otherwise finally first second third "
    "everywhere today yesterday tomorrow meanwhile"
)
_VAGUE = word_set(
    "former latter rest other others first second third last end beginning way user team project "
    "system app code file files test tests data server page list table line part name job work "
    "moment week month year morning evening night change version release thing side top bottom"
)
"""A single word that many sentences speak of, each of something else."""
_NO_NAME = re.compile(r"[\w.~-]*/|.*\(\)|.*[A-Z]-\d|[0-9a-f]{7,40}$|https?:|.*\.[a-z]{1,5}$")
"""Files, functions, tickets and addresses: a sentence may name any number of them."""
_WORD = re.compile(r"[^\W_]+")
_TOWARDS = word_set("to on at by from as with around about is are was")
_DEED = re.compile(r"\w+(?:s|ed)$")
_ASIDE = re.compile(r"\w+(?:ly|-wide)$")
_MOST_WORDS = 4
_MOST_VALUES = 3
"""A sentence with more values than this is a list, and no statement about one thing."""


class About(NamedTuple):
    """The things a sentence may be about, and its values by kind."""

    subjects: frozenset[Subject] = frozenset()
    values: tuple[tuple[str, str], ...] = ()
    """Each with its kind before it: a dimension, a number or a name."""


_NOTHING = About()


def about_in(tokens: Sequence[Token]) -> About:
    """What a sentence is about; nothing if it gives no value."""
    values = tuple(dict.fromkeys((*_numbers(tokens), *_names(tokens), *_others(tokens))))
    return About(frozenset(_subjects(tokens)), values) if values else _NOTHING


def stands_in_for(newer: About, older: About) -> str:
    """The value a later sentence gives to what an earlier one is about; nothing if it does not."""
    for kind in dict.fromkeys(kind for kind, _ in newer.values if kind not in _ONLY_PERHAPS):
        after = [value for of, value in newer.values if of == kind]
        before = [value for of, value in older.values if of == kind]
        other = [value for value in after if value not in before]
        told_both = len(other) < len(after) and len(before) > 1
        if not before or not other or told_both or len(before) > 2 or len(after) > _MOST_VALUES:
            continue
        if any(_same(a, b, kind) for a in newer.subjects for b in older.subjects):
            return other[-1]
    return ""


def may_stand_in_for(newer: About, older: About, surely: bool) -> str:
    """A value of a later sentence that an earlier one has another of the same kind for; if it
    has to be sure, a number without a unit is of a kind of its own."""
    for after in newer.values:
        if after in older.values or len(newer.values) > 2 * _MOST_VALUES:
            continue
        for before in older.values:
            alike = after[0] == before[0] or (not surely and _are_rivals(after[0], before[0]))
            if alike and before[1] != after[1]:
                return after[1]
    return ""


def names_of(about: About) -> frozenset[str]:
    """The words of the names that are values."""
    names = (value for kind, value in about.values if kind in _NAMED or kind in _ONLY_PERHAPS)
    return frozenset(stem(word) for name in names for word in _WORD.findall(name))


def _are_rivals(one: str, other: str) -> bool:
    if one in _NAMED or other in _NAMED:
        return one in _NAMED and other in _NAMED
    return NUMBER in (one, other) and not _ONLY_PERHAPS & {one, other}


def _same(one: Subject, other: Subject, kind: str) -> bool:
    """Whether two phrases name one thing; of a number the longer one may hold more."""
    if one == other:
        return True
    fewer, more = sorted((one, other), key=len)
    return kind != NAME and len(fewer) > 1 and _is_in(fewer, more)


def _is_in(fewer: Subject, more: Subject) -> bool:
    places = range(len(more) - len(fewer) + 1)
    return any(more[at : at + len(fewer)] == fewer for at in places)


def _numbers(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    for at, token in enumerate(tokens):
        if token.low.isalpha() or not token.number or (at and is_label(tokens[at - 1])):
            continue
        behind = tokens[at + 1].low if at + 1 < len(tokens) else ""
        if not at and behind and tokens[1].start > token.end + 1:
            continue  # "3: the shed" only counts what is said
        unit = behind if is_unit(behind) else ""
        yield dimension_of(token, unit) or NUMBER, f"{token.low} {unit}".strip()


def _names(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Proper names and code, each run of them as one."""
    run: list[str] = []
    kind = NAME
    for at, token in enumerate(tokens):
        if _is_name(tokens, at):
            if not run:
                kind = PLACE if at and tokens[at - 1].low in _ELSEWHERE else NAME
            run.append(token.low)
        elif run:
            yield kind, " ".join(run)
            run = []
    if run:
        yield kind, " ".join(run)


def _others(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Yield days of the week and files as values."""
    for token in tokens:
        if token.low in _DAYS:
            yield DAY, token.low
        elif "/" in token.text and not token.number:
            yield PATH, token.low


def _is_name(tokens: Sequence[Token], at: int) -> bool:
    token = tokens[at]
    if token.text == token.low and token.text.isalpha():
        return False
    if not (token.text[0].isalpha() or token.text[0] == "`") or not is_specific(token.text):
        return False
    if _NO_NAME.match(token.text) or ends_subject(token):
        return False
    if token.low in _NOBODY or token.low in _DAYS:
        return False
    return at > 0 or token.text[0] == "`" or _is_before_verb(tokens, at)


def _is_before_verb(tokens: Sequence[Token], at: int) -> bool:
    """Whether the first word is what the sentence speaks of: any first word has a capital."""
    for token in tokens[at + 1 : at + 3]:
        if ends_subject(token) or _DEED.match(token.low):
            return stem(tokens[at].low) not in GENERIC
        if not token.text[0].isupper():
            return False
    return False


def _subjects(tokens: Sequence[Token]) -> Iterator[Subject]:
    run: list[str] = []
    anchored = bool(tokens) and not _is_name(tokens, 0)
    for at, token in enumerate(tokens):
        if _is_part(token, at):
            run.append(token.low)
            continue
        yield from _subject(run, anchored or token.low in _EQUATING, _goes_on_to_value(token))
        run, anchored = [], token.low in _ANCHORS
    yield from _subject(run, anchored)


def _subject(run: list[str], anchored: bool, before_value: bool = False) -> Iterator[Subject]:
    """A phrase, and once more without its last word where that may be a verb."""
    if not run or len(run) > _MOST_WORDS or not (anchored or "_" in run[0]):
        return
    subject = tuple(map(stem, run))
    if before_value and len(run) > 1 and _DEED.match(run[-1]):
        yield from _telling(subject[:-1])
    yield from _telling(subject)


def _telling(subject: Subject) -> Iterator[Subject]:
    if not GENERIC.issuperset(subject) and not (len(subject) == 1 and subject[0] in _VAGUE):
        yield subject


def _goes_on_to_value(token: Token) -> bool:
    return token.low in _TOWARDS or not token.text[0].islower()


def _is_part(token: Token, at: int) -> bool:
    if ends_subject(token) or not token.text[0].isalpha() or _ASIDE.match(token.low):
        return False
    return not at or token.text[0].islower() or "_" in token.text
