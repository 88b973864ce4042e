"""A cautious (high) estimate of a text's tokens from its bytes alone, without a vocabulary.

The rates are fitted to a small, English-only vocabulary: such a vocabulary needs the most tokens
for every other kind of text.
"""

from __future__ import annotations

import re
import string

_ENGLISH = frozenset(
    re.findall(
        r"\w+",
        """
        the of and that it for you with are be this have not at or from by if they what when your
        can there all but which will has were how more out up about who them then would could
        should into just like his her their our please write make does
        """,
    )
)
"""Words that are common in English texts and that other languages do not have."""
_ENGLISH_SHARE = 0.08
"""From this share of such words on a text counts as English."""

_UPPER = string.ascii_uppercase.encode()
_DIGITS = string.digits.encode()
_MARKS = string.punctuation.encode()
_LETTERS = string.ascii_letters.encode()
_ACCENTED = bytes(range(0xC3, 0xCA))
"""The first bytes of Latin letters with accents."""
_CASE_CHANGE = re.compile(r"[a-z][A-Z]|[A-Z]{2}(?=[a-z])")
_LONE_BLANK_OR_LETTER = re.compile(r"\s(?=[0-9])|[0-9](?=[A-Za-z])")
"""Blanks and letters next to a digit are tokens of their own, as digits never join them."""

_LETTERS_PER_TOKEN, _FOREIGN_LETTERS_PER_TOKEN, _RANDOM_LETTERS_PER_TOKEN = 3.8, 2.2, 1.5
_LONGEST_WORDS = 20
"""Average letters per word above which the letters are no words but, say, base64."""
_TOKENS_PER_MARK, _TOKENS_PER_ACCENT, _TOKENS_PER_INDENT = 0.8, 1.2, 0.2
_TOKENS_PER_CHARACTER = (
    (b"\xc2" + bytes(range(0xCA, 0xD6)), 1.1),  # Greek, Cyrillic
    (bytes(range(0xD6, 0xE0)), 1.3),  # Hebrew, Arabic
    (b"\xe0", 2.0),  # the scripts of India, Thai
    (b"\xe1", 2.9),  # Georgian, Ethiopian, Vietnamese accents
    (b"\xe2\xef", 2.2),  # punctuation, arrows, joiners
    (bytes(range(0xE3, 0xEA)), 1.9),  # Chinese, Japanese
    (bytes(range(0xEA, 0xEF)), 2.8),  # Korean
    (bytes(range(0xF0, 0xF5)), 2.9),  # emoji, rare scripts
)
"""Tokens per character, by the first byte of its UTF-8 encoding."""


def careful_estimate(text: str) -> float:
    """Return about the most tokens that a common vocabulary needs for this text."""
    # Only operations on the whole text, which run in C: a long history is estimated in the event
    # loop, while the user looks on.
    data = text.encode("utf-8", "replace")
    digits, marks = _number_of(_DIGITS, data), _number_of(_MARKS, data)
    tokens = digits + marks * _TOKENS_PER_MARK + _latin(text, data, marks)
    tokens += data.count(b"\n") + data.count(b"    ") * _TOKENS_PER_INDENT
    if digits:
        tokens += len(_LONE_BLANK_OR_LETTER.findall(text))
    if len(data) > len(text):
        tokens += sum(rate * _number_of(first, data) for first, rate in _TOKENS_PER_CHARACTER)
    return tokens


def _latin(text: str, data: bytes, marks: int) -> float:
    """Return the tokens of the Latin words: few if they are English, or names in code and data."""
    plain, accented = _number_of(_LETTERS, data), _number_of(_ACCENTED, data)
    letters = plain + accented
    if not letters:
        return 0.0
    words = text.lower().split()
    upper = _number_of(_UPPER, data)
    case_changes = len(_CASE_CHANGE.findall(text)) if upper > plain / 10 else 0
    shouting = upper > plain / 2
    in_code = marks >= letters / 5 and case_changes < letters / 10
    english = sum(map(_ENGLISH.__contains__, words)) >= len(words) * _ENGLISH_SHARE
    if (in_code or english) and not shouting:
        return letters / _LETTERS_PER_TOKEN + accented
    random = shouting or letters > len(words) * _LONGEST_WORDS
    rate = _RANDOM_LETTERS_PER_TOKEN if random else _FOREIGN_LETTERS_PER_TOKEN
    return letters / rate + accented * _TOKENS_PER_ACCENT + case_changes


def _number_of(counted: bytes, data: bytes) -> int:
    """Return how many bytes of `data` are one of the `counted` ones."""
    return len(data) - len(data.translate(None, counted))
