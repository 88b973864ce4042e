"""Ranks messages by how well their words answer a question: BM25, raised by nearness."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from heapq import nlargest
from typing import NamedTuple

from ollm_tui.core.search import Query, Term
from ollm_tui.services.search.snippets import SAYS_NOTHING, SHORTEST, WORDS, fold
from ollm_tui.services.search.word_forms import WordForms
from ollm_tui.storage.search.message_index import Candidate, MessageIndex
from ollm_tui.storage.search.message_matching import is_unspaced

MOST_WORDS = 12
"""Words of a question that are looked for; the longest say the most."""
MOST_WITH_WORD = 3_000
"""The latest messages with a word that are looked at: more have it only if it says little."""
COMPARED = 120
"""Messages that are read and compared with each other."""
COMPARED_CHARACTERS = 4_000
"""Characters of each of them that are read."""
BESIDE = 0.4
"""What a word counts in reasoning, attachments and tools, where it counts 1 in what was said."""
SATURATION, LENGTH_SHARE, USUAL_LENGTH = 1.2, 0.5, 400
"""The usual constants of BM25; the length in characters."""
BEGINNING, BEGINNING_FROM = 0.6, 4
"""What the beginning of a word counts, and the letters that it needs."""
NEAR_CHARACTERS, NEARNESS = 24, 0.3
"""Words of the question that stand so near to each other raise a message by this share."""


class WordGroup(NamedTuple):
    """A word of a question with its other forms."""

    forms: dict[str, float]
    terms: tuple[Term, ...]
    """The forms as terms of the index."""


class RankedMessage(NamedTuple):
    """A message, how well it answers, and the share of the question's words that it has: a rare
    word counts more, and one that no message has counts the most."""

    number: int
    score: float
    covered: float


class Question:
    """The words of a query that say what it is about, with their forms."""

    def __init__(self, query: Query, forms: WordForms) -> None:
        self.query = query
        plain = [term for term in query.terms if not term.exact and term.has_word]
        words = [fold(term.text) for term in plain]
        languages = forms.languages(words)
        told = [at for at, word in enumerate(words) if is_telling(word)] or list(range(len(words)))
        told.sort(key=lambda at: -len(words[at]))
        told = sorted(told[:MOST_WORDS])
        self.groups = [
            _group(plain[at], words[at], forms, languages, at == len(words) - 1) for at in told
        ]
        self._typed = tuple(plain[at] for at in told)

    @property
    def marked(self) -> tuple[Term, ...]:
        """What to mark in what is found: the forms, and the words as typed, with which others may
        begin."""
        exact = tuple(term for term in self.query.terms if term.exact)
        forms = tuple(term for group in self.groups for term in group.terms)
        return (*exact, *dict.fromkeys(forms + self._typed))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """Finds any form; the number of the group that matched is the number of its word."""
        return re.compile("|".join(f"({'|'.join(_patterns(group))})" for group in self.groups))

    def rank(self, index: MessageIndex) -> list[RankedMessage] | None:
        """Return the best messages, the best first; None if the search was interrupted."""
        required = self.query._replace(terms=tuple(t for t in self.query.terms if t.exact))
        total = max(index.count(), 1)
        weights: list[float] = []
        scores: dict[int, float] = {}
        for group in self.groups:
            numbers = index.having(group.terms, required, MOST_WITH_WORD)
            if numbers is None:
                return None
            weight = math.log(1 + (total - len(numbers) + 0.5) / (len(numbers) + 0.5))
            weights.append(weight)
            for number in numbers:
                scores[number] = scores.get(number, 0.0) + weight
        best = [
            number for _, number in nlargest(COMPARED, zip(scores.values(), scores, strict=True))
        ]
        ranked = [
            self._ranked(candidate, weights)
            for candidate in index.candidates(best, COMPARED_CHARACTERS)
        ]
        # What has its words only further down keeps the little it got for having them.
        return sorted(ranked, key=lambda each: (-each.score, -each.number))

    def _ranked(self, candidate: Candidate, weights: Sequence[float]) -> RankedMessage:
        counts = [0.0] * len(self.groups)
        nearness = 0.0
        seen: set[tuple[int, int]] = set()
        for text, share in ((candidate.said, 1.0), (candidate.beside, BESIDE)):
            last, end = -1, -NEAR_CHARACTERS
            for start, stop, group, worth in self._matches(text):
                counts[group] += worth * share
                pair = (last, group)
                if start - end < NEAR_CHARACTERS and last not in (-1, group) and pair not in seen:
                    seen.add(pair)
                    nearness += share * NEARNESS * min(weights[last], weights[group])
                last, end = group, stop
        length = len(candidate.said) + BESIDE * len(candidate.beside)
        norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length / USUAL_LENGTH)
        score = nearness + sum(
            weight * count * (SATURATION + 1) / (count + norm)
            for weight, count in zip(weights, counts, strict=True)
        )
        has = [weight for weight, count in zip(weights, counts, strict=True) if count > 0]
        covered = sum(has) / (sum(weights) or 1.0)
        return RankedMessage(candidate.number, score, covered)

    def _matches(self, text: str) -> Iterator[tuple[int, int, int, float]]:
        """Yield start, end, number of the word and worth of each form in a text."""
        for found in self._pattern.finditer(fold(text)):
            group = (found.lastindex or 1) - 1
            forms = self.groups[group].forms
            yield found.start(), found.end(), group, forms.get(found[0], BEGINNING)


def is_telling(word: str) -> bool:
    """Return whether a word says what a text is about; a Chinese one may be short."""
    return (len(word) >= SHORTEST or not word.isascii()) and word not in SAYS_NOTHING


def _group(
    term: Term, word: str, forms: WordForms, languages: tuple[str, ...], is_last: bool
) -> WordGroup:
    if is_unspaced(term.text) or WORDS.fullmatch(word) is None:
        return WordGroup({word: 1.0}, (term,))  # several words in a row, or symbols
    # The last word may still be typed.
    may_go_on = is_last and not term.whole and len(word) >= BEGINNING_FROM
    found = forms.of(word, languages, may_go_on=may_go_on)
    terms = [Term(form, whole=True) for form in found]
    if may_go_on:
        terms.append(Term(word))
    return WordGroup(found, tuple(terms))


def _patterns(group: WordGroup) -> Iterable[str]:
    for term in group.terms:
        text = fold(term.text)
        words = r"[\W_]+".join(map(re.escape, WORDS.findall(text) or [text]))
        # A border is looked for behind the first letter: patterns that begin with a letter are
        # found much faster.
        if is_unspaced(term.text):
            yield words
        else:
            border = rf"(?<![^\W_]{re.escape(text[0])})" if text[0].isalnum() else ""
            tail = r"(?![^\W_])" if term.whole else r"[^\W_]*"
            yield f"{words[:1]}{border}{words[1:]}{tail}" if border else words + tail
