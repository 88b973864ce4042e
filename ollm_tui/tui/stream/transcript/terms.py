"""What a search of the history is about, marked in a conversation as found words are."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ollm_tui.core.search import Term, Where
from ollm_tui.tui.stream.transcript.spots import Words


class Terms(Words):
    """Any of several terms, each where a word begins, or anywhere; case makes no difference."""

    def __init__(self, terms: Iterable[Term], where: Where = "words") -> None:
        terms = tuple(terms)
        super().__init__(" ".join(term.text for term in terms))
        self._is_one_word = False
        either = "|".join(_pattern(term, where) for term in terms)
        self._pattern = re.compile(either or r"(?!)", re.IGNORECASE)
        self.reach = max((len(term.text.split()) for term in terms), default=0)


def _pattern(term: Term, where: Where) -> str:
    words = r"\s+".join(map(re.escape, term.text.split()))
    if term.is_literal or (where == "anywhere" and term.may_stand_inside):
        return words
    return rf"(?<![^\W_]){words}" + (r"(?![^\W_])" if term.whole else "")
