"""Which kind of fact a sentence is, by its cue words and by who says it."""

from __future__ import annotations

import re

from ollm_tui.core.ledger import Fact, FactKind
from ollm_tui.engine.compression import facts_cues as cues
from ollm_tui.engine.compression.facts_claims import Said
from ollm_tui.engine.compression.facts_output import is_error
from ollm_tui.engine.compression.facts_words import Cues, Words, words_of

_CUES: dict[FactKind, Cues] = {
    "constraint": Cues(cues.CONSTRAINT),
    "decision": Cues(cues.DECISION),
    "todo": Cues(cues.TODO),
    "dead-end": Cues(cues.DEAD_END),
    "error": Cues(cues.ERROR),
}
_HINTS: dict[FactKind, Cues] = {
    "constraint": Cues(cues.CONSTRAINT_HINTS),
    "decision": Cues(cues.DECISION_HINTS),
    "todo": Cues(cues.TODO_HINTS),
    "dead-end": Cues(cues.DEAD_END_HINTS),
}
_DONE = Cues(cues.DONE)
_NOT_DONE = Cues(cues.NOT_DONE)
_OF_THE_USER: tuple[FactKind, ...] = ("constraint", "decision", "dead-end", "todo", "error")
_OF_THE_MODEL: tuple[FactKind, ...] = ("dead-end", "todo", "decision", "error")
_REQUESTS = (" can you ", " could you ", " would you ", " will you ", " please ")

_NOTHING_LEFT = re.compile(
    r" (?:no|nothing|none|not|no longer) (?:need|remaining|left|open|pending|missing|todo)(?= )"
)
_FEWEST_WORDS = 4
"""Words a sentence must have to be kept without a cue."""

Found = tuple[FactKind | None, str]
"""A kind, and the word that gave it away."""


def kind_of(text: str, words: Words, said: Said, from_user: bool) -> Found:
    """The kind of a sentence, if it is worth keeping.

    All a user states may be a requirement. What a model says without a cue is a note.
    """
    if "?" in text[-3:] and not any(request in words.line for request in _REQUESTS):
        return _first(_CUES, ("constraint",) if from_user else ("todo",), words)
    # "The error budget is 5 %" is no error, nor is "I threw it out".
    no = ("todo" if is_done(words) else "", "error" if said.claims or said.changes else "")
    everything = _OF_THE_USER if from_user else _OF_THE_MODEL
    kinds: tuple[FactKind, ...] = tuple(kind for kind in everything if kind not in no)
    clear = _first(_CUES, kinds, words)
    if clear[0]:
        return clear
    if is_error(text):
        return "error", ""
    hinted = _first(_HINTS, kinds, words)
    return hinted if hinted[0] else _without_cue(words, said, from_user)


def is_done(words: Words) -> bool:
    """Whether a sentence says that something is finished."""
    if not _DONE.found_in(words):
        return False
    line = _NOTHING_LEFT.sub(" ", words.line)
    return not _NOT_DONE.found_in(Words(line, frozenset(line.split())))


def is_clear(kind: FactKind, words: Words) -> bool:
    """Whether words leave no doubt about a kind."""
    return kind in _CUES and bool(_CUES[kind].found_in(words))


def is_strong(fact: Fact) -> bool:
    """Whether a fact is of its kind beyond doubt: by its words, or because only names are."""
    return fact.kind not in _CUES or is_clear(fact.kind, words_of(fact.text))


def _first(tables: dict[FactKind, Cues], kinds: tuple[FactKind, ...], words: Words) -> Found:
    for kind in kinds:
        if kind in tables and (cue := tables[kind].found_in(words)):
            return kind, cue
    return None, ""


def _without_cue(words: Words, said: Said, from_user: bool) -> Found:
    if len(words.found) < _FEWEST_WORDS:
        return None, ""
    if from_user:
        return "constraint", ""
    return ("decision" if said.changes and (said.replaced or said.claims) else "note"), ""
