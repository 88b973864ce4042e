"""A question typed where words are looked for: the search that would answer it."""

from __future__ import annotations

import re
from datetime import date

from ollm_tui.services.search.periods import period
from ollm_tui.services.search.recall_words import SAYS_NOTHING, SHORTEST

FROM = 3
"""So many words that are in every text make a question of a search."""
LONGEST = 200
"""What is longer, or has quotes, was not typed as a question."""
_TIMES = {"in": "in", "on": "in", "since": "after", "after": "after", "before": "before"}
_SAYING = frozenset(("ask", "asked", "say", "said", "write", "wrote", "mention", "mentioned"))
_WORD = re.compile(r"[^\W_][\w.+#/-]*")


def shorter_search(text: str, today: date) -> str | None:
    """Its telling words, the time it names, and `role:user` where it is about what I said.

    None for a text that is no question, or has nothing to look for.
    """
    if len(text) > LONGEST or '"' in text:
        return None
    words = [word.rstrip(".") for word in _WORD.findall(text.lower())]
    if sum(word in SAYS_NOTHING for word in words) < FROM:
        return None
    telling: list[str] = []
    filters: list[str] = ["role:user"] if "i" in words and _SAYING.intersection(words) else []
    for before, word in zip(("", *words), words, strict=False):
        if before in _TIMES and period(word, today):
            filters.insert(0, f"{_TIMES[before]}:{word}")
        elif len(word) >= SHORTEST and word not in SAYS_NOTHING | _SAYING | _TIMES.keys():
            telling.append(word)
    return " ".join((*dict.fromkeys(telling), *filters)) if telling else None
