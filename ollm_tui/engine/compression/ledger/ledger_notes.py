"""Sentences that no cue word gives away but that say something the others do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ollm_tui.core.session.ledger import Fact
from ollm_tui.engine.compression.ledger.facts_claims import said_in
from ollm_tui.engine.compression.ledger.facts_words import content_words

_SHARE = 0.25
"""Of the text that is only notes, how much is kept: the rarest words' sentences."""

_BREVITY = 6
"""Words a sentence may have before its length counts against it."""


def with_best_notes(facts: Sequence[Fact]) -> list[Fact]:
    """The facts with those notes only whose words are rare among everything that was said, or
    which give something a value: that may be another one than before."""
    words = {fact.text: content_words(fact.text) for fact in facts if fact.kind == "note"}
    seen = Counter(word for fact in facts for word in words.get(fact.text, ()))
    scores = {
        text: sum(1 / seen[word] for word in found) / (len(found) + _BREVITY)
        for text, found in words.items()
    }
    room = _SHARE * sum(len(fact.text) for fact in facts if fact.kind == "note")
    best = {text for text in words if said_in(text).about.values}
    for text in sorted(scores, key=lambda text: -scores[text]):
        room -= len(text)
        if room < 0:
            break
        best.add(text)
    return [fact for fact in facts if fact.kind != "note" or fact.text in best]
