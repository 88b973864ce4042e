"""Other forms of the words of a search: with other endings, or as they were meant.

The index knows words as they were written. Which of them belong together is found when somebody
searches, among the words of the index: that costs the index nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection
from functools import cache, cached_property, lru_cache
from itertools import takewhile
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
LONGEST_WORD = 30
RARE = 2
"""A word that more messages have is meant as it is."""
LONGEST_ENDING = 6
MOST_COMPARED = 80
MOST_FORMS = 12
ENGLISH = ("english",)
LATIN = {
    "english": ("the", "and", "for"),
    "german": ("und", "nicht", "ist"),
    "french": ("avec", "pour", "dans"),
    "spanish": ("los", "pero", "como"),
    "portuguese": ("uma", "nao", "voce"),
    "italian": ("che", "della", "sono"),
    "dutch": ("het", "een", "niet"),
    "swedish": ("och", "inte", "att"),
    "danish": ("ikke", "jeg", "det"),
    "norwegian": ("ikke", "jeg", "det"),
    "finnish": ("mutta", "olen", "etta"),
    "romanian": ("este", "pentru", "sunt"),
    "turkish": ("bir", "icin", "degil"),
    "polish": ("nie", "jest", "sie"),
    "czech": ("neni", "jsem", "ktery"),
    "hungarian": ("nem", "egy", "hogy"),
}
"""The languages in Latin letters, each with words that hardly any text does without."""
OTHERS = ("russian", "serbian", "greek", "arabic", "hindi")
MANY = 1_000
"""From so many English messages on, an index tells which other languages are written in it."""


class WordForms:
    """Finds the other forms of words among those of an index.

    Words that may be meant by a misspelt one are remembered: they are looked for with each key.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._by_beginning: dict[str, list[str]] = {}

    def languages(self, words: Collection[str]) -> tuple[str, ...]:
        """Return the languages that a search may be in.

        A word such as "the" says that it is English; otherwise it may be any of the same script.
        """
        if any(word in SAYS_NOTHING for word in words):
            return ENGLISH
        return self._written if all(map(_is_latin, words)) else OTHERS

    @cached_property
    def _written(self) -> tuple[str, ...]:
        """The languages that the index may be in: stemming each word in all of them is slow."""
        common = {name: [self._count(word) for word in words] for name, words in LATIN.items()}
        if max(common["english"]) < MANY:
            return tuple(LATIN)
        # Two of its three words: one alone may be a name, or a piece of code.
        return tuple(name for name, counts in common.items() if sorted(counts)[1] > RARE)

    def _count(self, word: str) -> int:
        return sum(count for _, count in self._vocabulary(word, (len(word), len(word))))

    def of(
        self, word: str, languages: tuple[str, ...], *, may_go_on: bool = False
    ) -> dict[str, float]:
        """Return the forms of a word, itself first, and what each counts.

        The word is in lower case and without accents, as the index has it. One that `may_go_on`
        is not misspelt if words begin with it.
        """
        forms = {word: 1.0}
        if len(word) >= STEMMED_FROM and word.isalpha():
            forms |= dict.fromkeys(self._with_other_endings(word, languages), SAME_STEM)
        if len(forms) == 1 and len(word) >= MISTYPED_FROM and word.isalpha():
            longest = LONGEST_WORD if may_go_on else len(word)
            known = sum(count for _, count in self._vocabulary(word, (len(word), longest)))
            if known <= RARE:
                forms |= dict.fromkeys(self._as_meant(word), MISTYPED)
        return dict(list(forms.items())[:MOST_FORMS])

    def _with_other_endings(self, word: str, languages: tuple[str, ...]) -> list[str]:
        stems = {name: _stem(name, word) for name in languages}
        # Stemming is slow: words that begin in another way are ruled out first.
        beginnings = {name: _beginning(word, stem) for name, stem in stems.items()}
        shortest = min(map(len, stems.values()))
        first = min(beginnings.values(), key=len)
        lengths = (max(3, shortest - 1), len(word) + LONGEST_ENDING)
        near = [term for term, _ in self._vocabulary(first, lengths) if term != word]
        near.sort(key=lambda term: abs(len(term) - len(word)))
        return [
            term
            for term in near[:MOST_COMPARED]
            if term.isalpha()
            and any(
                term.startswith(beginnings[name]) and _stem(name, term) == stem
                for name, stem in stems.items()
            )
        ]

    def _as_meant(self, word: str) -> list[str]:
        """Return the words that this one may be a misspelling of, the nearest only."""
        most = 1 if len(word) < FAR_FROM else 2
        letters = set(word)
        near: dict[str, int] = {}
        # Where the first letter is wrong, it is one too many, or has changed places.
        for first in dict.fromkeys((word[0], word[1:3], word[1] + word[0])):
            for term in self._beginning_with(first):
                is_as_long = abs(len(term) - len(word)) <= most
                if (
                    is_as_long
                    and term != word
                    and len(letters.symmetric_difference(term)) <= 2 * most
                ):
                    near[term] = distance(word, term)
        closest = min(near.values(), default=most + 1)
        return [term for term, far in near.items() if far == closest <= most]

    def _beginning_with(self, first: str) -> list[str]:
        known = self._by_beginning.get(first)
        if known is None:
            found = self._vocabulary(first, (MISTYPED_FROM - 1, LONGEST_WORD))
            known = self._by_beginning[first] = [term for term, _ in found if term.isalpha()]
        return known


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


def _beginning(word: str, stem: str) -> str:
    """Return what all words with the same stem begin with; retry, retries: retr."""
    same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(word, stem, strict=False))))
    return word[: max(3, same - word[:same].endswith(("i", "y")))]


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
