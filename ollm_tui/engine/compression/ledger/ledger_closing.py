"""Whether a task is closed by what was said later: done, or dropped."""

from __future__ import annotations

from ollm_tui.engine.compression.ledger.facts_kinds import is_dropped, is_open, is_so_now
from ollm_tui.engine.compression.ledger.facts_prose import PERHAPS
from ollm_tui.engine.compression.ledger.facts_words import Words, words_of
from ollm_tui.engine.compression.ledger.ledger_entries import Entry

_SAME_TASK = 0.6
_MOST_OF_TASK = 0.75
_HALF_OF_TASK = 0.5
"""How many of the words of a task must be told."""
_FULL_TASK = 3
"""Words of a task that is told well enough to be met by a statement without any deed."""


def is_closed_by(entry: Entry, done: Entry) -> bool:
    """Whether a task is done by what a later fact tells. A deed that is no plain "done" has to
    name all of the task."""
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
    """Whether a later statement says of all that a task names that it is so."""
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
