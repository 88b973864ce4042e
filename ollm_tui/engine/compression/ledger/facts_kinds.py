"""The kind of fact that a sentence is, by its cue words and by who says it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from ollm_tui.core.session.compression import Fact, FactKind
from ollm_tui.engine.compression.ledger import facts_cues as cues
from ollm_tui.engine.compression.ledger.facts_claims import Said, said_in
from ollm_tui.engine.compression.ledger.facts_output import is_error
from ollm_tui.engine.compression.ledger.facts_words import (
    Cues,
    Words,
    content_words,
    word_set,
    words_of,
)

_CUES = Cues(
    **{
        "constraint": cues.CONSTRAINT,
        "decision": cues.DECISION,
        "todo": cues.TODO,
        "dead-end": cues.DEAD_END,
        "error": cues.ERROR,
        "constraint?": cues.CONSTRAINT_HINTS,
        "decision?": cues.DECISION_HINTS,
        "todo?": cues.TODO_HINTS,
        "dead-end?": cues.DEAD_END_HINTS,
        "done": cues.DONE,
        "not done": cues.NOT_DONE,
        "dropped": cues.DROPPED,
    }
)
"""The cues of each kind; keys with a question mark are those of the hints."""

_KINDS: frozenset[FactKind] = frozenset(("constraint", "decision", "todo", "dead-end", "error"))
_OF_THE_USER: tuple[FactKind, ...] = ("constraint", "decision", "dead-end", "todo", "error")
_OF_THE_MODEL: tuple[FactKind, ...] = ("dead-end", "todo", "decision", "error")
_REQUESTS = (" can you ", " could you ", " would you ", " will you ", " please ")

_NOTHING_LEFT = re.compile(
    r" (?:no|nothing|none|not|no longer) (?:need|remaining|left|open|pending|missing|todo)(?= )"
)
_NOT_A_DEED = word_set(
    "need needed asked wanted planned expected intended supposed required deferred postponed "
    "delayed blocked started scheduled tried attempted failed proposed suggested considered "
    "based related used called named unfinished untested indeed speed feed seed red bed shed "
    "looked discussed mentioned noticed described explained listed assumed noted hoped talked "
    "agreed decided touched opened"
)
"""Words in -ed that do not say that something was done."""
ADDING = word_set("also additionally both plus besides moreover auch aussi también")
_SUPPOSING = word_set("if whether might could perhaps maybe suppose try tried trying ?")
_DEEDS_OR_NOW_SO = word_set(
    "did able went got made wrote written built sent found cut drew drawn put took taken ran gave "
    "given brought bought began begun broke broken chose kept left paid read rewrote rewritten "
    "said set shot sold spoke split taught told threw thrown done gone "
    "now already exists exist available ready there live works work jetzt bereits schon steht "
    "maintenant déjà ahora ya"
)
"""Words by which something is said to have been done, or to have become so."""
_NOW = word_set("now already jetzt bereits schon maintenant déjà ahora ya")
_GERMAN_PERFECT = word_set("habe hat haben ist sind wurde wurden")
_COURTESY = word_set(
    "thank thanks nice good great ok okay cool perfect super hm hmm interesting look please yes "
    "yeah yep no nope hi hello hey sure fine right danke bitte prima merci gracias sorry"
)
_PERIODS = word_set("day week month quarter year days weeks months years")
_FEWEST_WORDS = 4
"""Words a sentence must have to be kept without a cue."""

Found = tuple[FactKind | None, str]
"""A kind, and the word that gave it away."""


@lru_cache(maxsize=4096)
def kind_of(text: str, from_user: bool) -> Found:
    """The kind of a sentence, if it is worth keeping.

    All a user states may be a requirement. What a model says without a cue is a note.
    """
    words, said = words_of(text), said_in(text)
    if from_user and is_courtesy(text):
        return None, ""
    found = _cues_in(words)
    if "?" in text[-3:] and not any(request in words.line for request in _REQUESTS):
        asked = _first(found, ("constraint",) if from_user else ("todo",))
        return ("constraint", "") if from_user and said.about.values else asked
    # "The error budget is 5 %" is no error, nor is "I threw it out".
    no = ("todo" if is_done(words) else "", "error" if said.claims or said.changes else "")
    everything = _OF_THE_USER if from_user else _OF_THE_MODEL
    kinds: tuple[FactKind, ...] = tuple(kind for kind in everything if kind not in no)
    clear = _first(found, kinds)
    if clear[0]:
        return clear
    if is_error(text):
        return "error", ""
    if said.replaced or (said.changes and any(claim.exact for claim in said.claims)):
        kinds = tuple(kind for kind in kinds if kind != "todo")
    hinted = _first(found, kinds, "?")
    return hinted if hinted[0] else _without_cue(words, said, from_user)


def is_courtesy(text: str) -> bool:
    """Whether a sentence says nothing but thanks, or go on."""
    return content_words(text) <= _COURTESY and words_of(text).found.isdisjoint(_PERIODS)


def is_done(words: Words) -> bool:
    """Whether a sentence says that something is finished."""
    told = "done" in _cues_in(words) or _NOTHING_LEFT.search(words.line)
    return bool(told) and not is_open(words)


@lru_cache(maxsize=4096)
def closing_of(words: Words) -> Literal["", "done", "perhaps"]:
    """Whether a sentence closes tasks: by saying so, or perhaps, if it names one in full."""
    if is_done(words):
        return "done"
    return "perhaps" if _may_be_done(words) or is_dropped(words) else ""


def _may_be_done(words: Words) -> bool:
    """Whether a sentence speaks of a deed: then a task it names in full is done."""
    told = not words.found.isdisjoint(_DEEDS_OR_NOW_SO) or any(map(_is_action, words.found))
    return (told or _is_german_deed(words)) and not is_open(words)


def _is_german_deed(words: Words) -> bool:
    """Whether it has been done: "habe ich geprüft", "wurde verschickt"."""
    if words.found.isdisjoint(_GERMAN_PERFECT):
        return False
    return any(word.endswith(("t", "en")) and "ge" in word[:5] for word in words.found)


def is_so_now(words: Words) -> bool:
    """Whether a sentence says that something has become so."""
    return not words.found.isdisjoint(_NOW)


def is_dropped(words: Words) -> bool:
    """Whether a sentence says that something will not be done."""
    return "dropped" in _cues_in(words)


def is_statement(words: Words) -> bool:
    """Whether a sentence says what holds from now on: it neither supposes, tries nor adds."""
    if words.found.isdisjoint(_SUPPOSING) and words.found.isdisjoint(ADDING):
        return True
    rest = words.line.replace(" could not ", " ").split()
    return _SUPPOSING.isdisjoint(rest) and ADDING.isdisjoint(rest)


def is_clear(kind: FactKind, words: Words) -> bool:
    """Whether words leave no doubt about a kind."""
    return kind in _KINDS and kind in _cues_in(words)


def is_strong(fact: Fact) -> bool:
    """Whether a fact is of its kind beyond doubt: by its words, or because only names are."""
    return fact.kind not in _KINDS or is_clear(fact.kind, words_of(fact.text))


def is_task(fact: Fact) -> bool:
    """Whether a fact is a task beyond doubt: "there are 17 open tickets" only tells a number."""
    return fact.kind == "todo" and (is_strong(fact) or not said_in(fact.text).claims)


@lru_cache(maxsize=4096)
def _cues_in(words: Words) -> dict[str, str]:
    return _CUES.found_in(words)


def is_open(words: Words) -> bool:
    """Whether a sentence says that something is not done."""
    if "not done" not in _cues_in(words):
        return False
    line = _NOTHING_LEFT.sub(" ", words.line)
    return "not done" in _CUES.found_in(Words(line, frozenset(line.split())))


def _is_action(word: str) -> bool:
    return word.endswith("ed") and word not in _NOT_A_DEED


def _first(found: dict[str, str], kinds: tuple[FactKind, ...], mark: str = "") -> Found:
    for kind in kinds:
        if kind + mark in found:
            return kind, found[kind + mark]
    return None, ""


def _without_cue(words: Words, said: Said, from_user: bool) -> Found:
    if from_user:
        return "constraint", ""
    if len(words.found) < _FEWEST_WORDS:
        return None, ""
    return ("decision" if said.changes and (said.replaced or said.claims) else "note"), ""
