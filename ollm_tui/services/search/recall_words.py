"""What of a text is worth looking for in the history: its telling words, any of them."""

from __future__ import annotations

import re

from ollm_tui.core.intake import clean
from ollm_tui.core.search import Query, Snippet, Term
from ollm_tui.services.search.snippets import fold

MOST_TERMS = 12
LOOKED_AT = 4_000
"""Characters of a prompt that say what it is about."""
SHORTEST = 3
_WORD = re.compile(r"[^\W_]+")
SAYS_NOTHING = frozenset(
    _WORD.findall(
        """
    about after again all also and any are because been before but can could did does doing don
    down each for from get give had has have her here him his how into its just let like make many
    may more most much must need not now off once one only other our out over own please same she
    should show some such tell than that the their them then there these they thing this those
    through too under use using very want was way were what when where which while who why will
    with would you your
    """
    )
)
"""Words that are in every text."""


def recall_query(text: str) -> Query:
    """A search for whatever was said about the same things; the longest words tell the most."""
    words = dict.fromkeys(fold(word) for word in _WORD.findall(clean(text[:LOOKED_AT])))
    telling = [word for word in words if len(word) >= SHORTEST or not word.isascii()]
    telling = [word for word in telling if word not in SAYS_NOTHING]
    telling.sort(key=len, reverse=True)
    return Query(terms=tuple(map(Term, telling[:MOST_TERMS])), any_term=True)


def terms_in(query: Query, snippet: Snippet) -> int:
    """How many of the terms of a search stand in a snippet."""
    found = {fold(snippet.text[start:end]) for start, end in snippet.marks}
    return sum(any(each.startswith(fold(term.text)) for each in found) for term in query.terms)
