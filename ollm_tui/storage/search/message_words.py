"""Text as an index of words takes it, and terms as the index is asked for them."""

from __future__ import annotations

import re

from ollm_tui.core.search import Term

TOKENIZER = "unicode61 remove_diacritics 2"
"""Words are runs of letters and digits; case and accents make no difference."""

# Scripts that put no spaces between words, and Korean, whose words grow endings: each character
# counts as a word there, so that any part of a sentence is found.
_UNSPACED = re.compile(
    "([\u0e00-\u0edf\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff])"
)


def as_words(text: str) -> str:
    """The text with a space on both sides of each character that is a word."""
    return text if text.isascii() else _UNSPACED.sub(r" \1 ", text)


def has_unspaced(text: str) -> bool:
    """Whether there are characters in a text that are words."""
    return not text.isascii() and _UNSPACED.search(text) is not None


def is_unspaced(text: str) -> bool:
    """Whether a text begins in a script whose words have no spaces between them."""
    return _UNSPACED.match(text) is not None


def match_expression(terms: tuple[Term, ...], *, any_of: bool = False) -> str:
    """What FTS5 is asked for; in its quotes nothing but a quote means anything to it."""
    either = " OR " if any_of else " "
    return either.join(_phrase(term) for term in terms if term.has_word)


def like_pattern(term: Term) -> str:
    """The pattern for LIKE, with a backslash before what would mean something to it."""
    return "%" + re.sub(r"([%_\\])", r"\\\1", term.text) + "%"


def _phrase(term: Term) -> str:
    quoted = as_words(term.text).replace('"', '""')
    ends = term.whole or not term.text[-1:].isalnum()
    return f'"{quoted}"' + ("" if ends else "*")
