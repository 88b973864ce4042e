"""Other forms of the words of a search: with other endings, or as they were meant.

The index knows words as they were written. Which of them belong together is found when somebody
searches, among the words of the index: that costs the index nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Any

from ollm_tui.services.search.snippets import SAYS_NOTHING

Vocabulary = Callable[[str, tuple[int, int]], list[tuple[str, int]]]
"""Returns the words of the index that begin in a way and have so many letters, and how often."""

SAME_STEM, MISTYPED = 0.9, 0.6
"""What a form counts, where the word as it was typed counts 1."""
STEMMED_FROM = 4
"""Letters of the shortest word whose other endings are looked for."""
MISTYPED_FROM, FAR_FROM = 4, 8
"""Letters of the shortest word that may be mistyped once, and twice."""
RARE = 2
"""A word that more messages have is meant as it is."""
LONGEST_ENDING = 6
MOST_COMPARED = 80
MOST_FORMS = 12
ENGLISH = ("english",)
LATIN = (
    *ENGLISH,
    *("german", "french", "spanish", "portuguese", "italian", "dutch", "swedish", "danish"),
    *("norwegian", "finnish", "romanian", "turkish", "polish", "czech", "hungarian"),
)
OTHERS = ("russian", "serbian", "greek", "arabic", "hindi")


def languages_of(words: Iterable[str]) -> tuple[str, ...]:
    """Return the languages that a search may be in.

    A word such as "the" says that it is English; otherwise it may be any of the same script.
    """
    words = tuple(words)
    if any(word in SAYS_NOTHING for word in words):
        return ENGLISH
    return LATIN if all(map(_is_latin, words)) else OTHERS


class WordForms:
    """Finds the other forms of words among those of an index."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def of(self, word: str, languages: tuple[str, ...]) -> dict[str, float]:
        """Return the forms of a word, itself first, and what each counts.

        The word is in lower case and without accents, as the index has it.
        """
        forms = {word: 1.0}
        if len(word) >= STEMMED_FROM and word.isalpha():
            forms |= dict.fromkeys(self._with_other_endings(word, languages), SAME_STEM)
        exactly = self._vocabulary(word, (len(word), len(word)))
        known = sum(count for _, count in exactly)
        is_short = len(word) < MISTYPED_FROM
        if known <= RARE and len(forms) == 1 and word.isalpha() and not is_short:
            forms |= dict.fromkeys(self._as_meant(word), MISTYPED)
        return dict(list(forms.items())[:MOST_FORMS])

    def _with_other_endings(self, word: str, languages: tuple[str, ...]) -> list[str]:
        stems = {name: _stem(name, word) for name in languages}
        # Stems end in another letter than some of their words: retri, retry. What all of them
        # begin with is a letter shorter.
        shortest = min(map(len, stems.values()))
        first = word[: max(3, min(shortest, len(word)) - 1)]
        lengths = (max(3, shortest - 1), len(word) + LONGEST_ENDING)
        near = [term for term, _ in self._vocabulary(first, lengths) if term != word]
        near.sort(key=lambda term: abs(len(term) - len(word)))
        return [
            term
            for term in near[:MOST_COMPARED]
            if term.isalpha() and any(_stem(name, term) == stem for name, stem in stems.items())
        ]

    def _as_meant(self, word: str) -> list[str]:
        """Return the words that this one may be a misspelling of, the nearest only."""
        most = 1 if len(word) < FAR_FROM else 2
        lengths = (len(word) - most, len(word) + most)
        letters = set(word)
        near: dict[str, int] = {}
        for first in {word[0], word[1]}:  # two letters may have changed places
            for term, _ in self._vocabulary(first, lengths):
                if term != word and len(letters ^ set(term)) <= 2 * most:
                    near[term] = distance(word, term)
        closest = min(near.values(), default=most + 1)
        return [term for term, far in near.items() if far == closest <= most]


def distance(one: str, other: str) -> int:
    """Return how many letters have to be added, left out, changed or swapped with the next."""
    before: list[int] = []
    above = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        row = [at]
        for to, wanted in enumerate(other, 1):
            cost = min(above[to] + 1, row[-1] + 1, above[to - 1] + (letter != wanted))
            if at > 1 and to > 1 and letter == other[to - 2] and one[at - 2] == wanted:
                cost = min(cost, before[to - 2] + 1)
            row.append(cost)
        before, above = above, row
    return above[-1]


def _is_latin(word: str) -> bool:
    return all(letter < "\u0250" for letter in word)


@lru_cache(maxsize=20_000)
def _stem(language: str, word: str) -> str:
    return _stemmer(language)(word)


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    # Loaded when a search needs it: a module for each language. The package has no types.
    module = importlib.import_module(f"snowballstemmer.{language}_stemmer")
    made: Any = getattr(module, f"{language.title()}Stemmer")()
    stem: Callable[[str], str] = made.stemWord
    return stem
