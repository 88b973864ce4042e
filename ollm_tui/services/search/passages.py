"""Texts as they are compared by meaning: messages in pieces, and what a query asks."""

from __future__ import annotations

from ollm_tui.core.intake import clean
from ollm_tui.core.search import Query, Term
from ollm_tui.services.search.snippets import SAYS_NOTHING, WORDS, fold
from ollm_tui.services.search.word_ranking import is_telling

PIECE_CHARACTERS = 450
"""Characters of a piece: some sentences, since small models know what those mean best."""
MOST_PIECES = 8
"""Pieces of a long message that are compared; what comes after them is found by words only."""
LEAST_LETTERS = 12
"""A text with fewer letters ("yes", "go on") means too little to be found by meaning."""
FOREIGN_FROM = 8
"""A question of so many words without an English one such as "the" is in another language."""
ENGLISH = SAYS_NOTHING | frozenset(
    ("at", "be", "by", "if", "is", "it", "my", "of", "on", "to", "we")
)
"""Words that hardly any English sentence does without."""
CHARACTERS_READ = 4_000
"""Characters of a prompt from which the words of a query are taken."""
MOST_TERMS = 12


def pieces_of(text: str) -> list[str]:
    """Return a text in pieces to be compared by meaning; none if it is not in Latin letters."""
    text = clean(text[: 2 * PIECE_CHARACTERS * MOST_PIECES])
    letters = sum(map(str.isalpha, text))
    if letters < LEAST_LETTERS or sum(_is_plain(each) for each in text) < letters * 0.8:
        return []
    pieces: list[str] = []
    rest = " ".join(text.split())
    while rest and len(pieces) < MOST_PIECES:
        end = _border(rest)
        pieces.append(rest[:end].strip())
        rest = rest[end:].strip()
    return pieces


def asked_text(query: Query) -> str:
    """Return what a query asks, to be compared by meaning; empty if all of it is in quotes."""
    return "" if query.is_exact else " ".join(term.text for term in query.terms)


def means_something(text: str) -> bool:
    """Return whether a text can be compared by meaning.

    The models are English ones: in other languages, words have to do.
    """
    words = WORDS.findall(fold(text[:PIECE_CHARACTERS]))
    is_foreign = len(words) >= FOREIGN_FROM and ENGLISH.isdisjoint(words)
    return any(map(is_telling, words)) and all(map(str.isascii, words)) and not is_foreign


def query_about(text: str) -> Query:
    """Return a query for messages about the same subject as a prompt."""
    words = dict.fromkeys(fold(word) for word in WORDS.findall(clean(text[:CHARACTERS_READ])))
    telling = sorted(filter(is_telling, words), key=len, reverse=True)[:MOST_TERMS]
    return Query(terms=tuple(Term(word) for word in words if word in telling))


def _border(text: str) -> int:
    """Return where a piece ends: after a sentence, or at least after a word."""
    if len(text) <= PIECE_CHARACTERS:
        return len(text)
    for mark in (". ", "? ", "! ", " "):
        at = text.rfind(mark, PIECE_CHARACTERS // 2, PIECE_CHARACTERS)
        if at > 0:
            return at + 1
    return PIECE_CHARACTERS


def _is_plain(letter: str) -> bool:
    return letter.isascii() and letter.isalpha()
