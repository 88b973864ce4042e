"""The facets a search is offered: who spoke, models and projects that were found, and flags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath

from ollm_tui.core.intake import visible
from ollm_tui.core.search import Results
from ollm_tui.services.search.filter_words import filter_word, has_filter
from ollm_tui.tui.search.facet_bar import Facet

MOST_NAMES = 4
"""Of models, and of projects: those with the most hits."""
_ROLES = (("user", "you"), ("assistant", "model"), ("tool", "tools"))
_FLAGS = (
    ("has:tool", "with tools"),
    ("is:pinned", "pinned"),
    ("branch:other", "other branches"),
)


class SearchFacets:
    """Remembers what was found, so that a facet in use does not make the others go away."""

    def __init__(self) -> None:
        self._models: Counter[str] = Counter()
        self._projects: Counter[str] = Counter()

    def of(self, text: str, results: Results) -> list[Facet]:
        """The facets for what was found with these words."""
        self._models |= Counter(visible(hit.model) for hit in results.hits)
        self._projects |= Counter(
            PurePath(visible(session.project)).name
            for session in results.sessions
            for _ in session.hits
            if session.project
        )
        return [
            facet._replace(is_on=has_filter(text, facet.word))
            for facet in (*self._roles(), *self._names(), *self._flags())
        ]

    def _roles(self) -> Iterator[Facet]:
        for role, title in _ROLES:
            yield Facet(filter_word("role", role), title, "said by")

    def _names(self) -> Iterator[Facet]:
        for key, title, names in (
            ("model", "model", self._models),
            ("project", "in", self._projects),
        ):
            for name, _ in names.most_common(MOST_NAMES):
                if name:
                    yield Facet(filter_word(key, name), name, title)

    def _flags(self) -> Iterator[Facet]:
        for word, title in _FLAGS:
            yield Facet(word, title, "only")
