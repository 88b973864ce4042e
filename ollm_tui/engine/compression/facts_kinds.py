"""Which kind of fact a sentence is, by its cue words and by who says it."""

from __future__ import annotations

import re
from functools import lru_cache

from ollm_tui.core.ledger import Fact, FactKind
from ollm_tui.engine.compression import facts_cues as cues
from ollm_tui.engine.compression.facts_claims import Said, said_in
from ollm_tui.engine.compression.facts_output import is_error
from ollm_tui.engine.compression.facts_words import Cues, Words, word_set, words_of

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
    }
)
"""With a question mark stand the hints, which are said of so much."""

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
    "based related used called named unfinished untested indeed speed feed seed red bed shed"
)
"""Words in -ed that do not say that something was done."""
ADDING = word_set("also additionally both plus besides moreover auch aussi también")
_SUPPOSING = word_set("if whether might could perhaps maybe suppose try tried trying ?")
_DEEDS = word_set("did able went got made wrote built sent")
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
    found = _cues_in(words)
    if "?" in text[-3:] and not any(request in words.line for request in _REQUESTS):
        return _first(found, ("constraint",) if from_user else ("todo",))
    # "The error budget is 5 %" is no error, nor is "I threw it out".
    no = ("todo" if is_done(words) else "", "error" if said.claims or said.changes else "")
    everything = _OF_THE_USER if from_user else _OF_THE_MODEL
    kinds: tuple[FactKind, ...] = tuple(kind for kind in everything if kind not in no)
    clear = _first(found, kinds)
    if clear[0]:
        return clear
    if is_error(text):
        return "error", ""
    hinted = _first(found, kinds, "?")
    return hinted if hinted[0] else _without_cue(words, said, from_user)


def is_done(words: Words) -> bool:
    """Whether a sentence says that something is finished."""
    told = "done" in _cues_in(words) or _NOTHING_LEFT.search(words.line)
    return bool(told) and not _is_open(words)


def may_be_done(words: Words) -> bool:
    """Whether a sentence speaks of a deed: then a task it names in full is done."""
    if "ed " not in words.line and not words.found & _DEEDS:
        return False
    return any(map(_is_deed, words.found)) and not _is_open(words)


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


@lru_cache(maxsize=4096)
def _cues_in(words: Words) -> dict[str, str]:
    return _CUES.found_in(words)


def _is_open(words: Words) -> bool:
    if "not done" not in _cues_in(words):
        return False
    line = _NOTHING_LEFT.sub(" ", words.line)
    return "not done" in _CUES.found_in(Words(line, frozenset(line.split())))


def _is_deed(word: str) -> bool:
    return word in _DEEDS or (word.endswith("ed") and word not in _NOT_A_DEED)


def _first(found: dict[str, str], kinds: tuple[FactKind, ...], mark: str = "") -> Found:
    for kind in kinds:
        if kind + mark in found:
            return kind, found[kind + mark]
    return None, ""


def _without_cue(words: Words, said: Said, from_user: bool) -> Found:
    if len(words.found) < _FEWEST_WORDS:
        return None, ""
    if from_user:
        return "constraint", ""
    return ("decision" if said.changes and (said.replaced or said.claims) else "note"), ""
