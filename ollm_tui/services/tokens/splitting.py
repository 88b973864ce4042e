"""How vocabularies cut text into words before they look for tokens, by llama.cpp's names.

Classes of letters stand in brackets everywhere, so that others can take their place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

_SHORT_FORMS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LEAD = r"[^\r\n\p{L}\p{N}]?"
_BLANKS = r"\s*[\r\n]+|\s+(?!\S)|\s+"

GPT_2 = r"'(?:[sdmt]|ll|ve|re)| ?[\p{L}]++| ?[\p{N}]++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
GPT_4O = (
    rf"{_LEAD}{_UPPER}*{_LOWER}+{_SHORT_FORMS}?|{_LEAD}{_UPPER}+{_LOWER}*{_SHORT_FORMS}?"
    rf"|[\p{{N}}]{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_BLANKS}"
)
_DIGITS_APART = (
    # Blanks before a digit stay together: the digits were taken out before the words are cut.
    r"[\p{N}]|'(?:[sdmt]|ll|ve|re)| ?[\p{L}]++| ?[^\s\p{L}\p{N}]++|\s++(?=[\p{N}]|$)|\s+(?!\S)|\s"
)
_LLAMA_3 = (
    rf"{_SHORT_FORMS}|{_LEAD}[\p{{L}}]+|[\p{{N}}]{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_BLANKS}"
)
_QWEN_2 = rf"{_SHORT_FORMS}|{_LEAD}[\p{{L}}]+|[\p{{N}}]| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_BLANKS}"
_TEKKEN = (
    rf"{_LEAD}{_UPPER}*{_LOWER}+|{_LEAD}{_UPPER}+{_LOWER}*"
    rf"|[\p{{N}}]| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_BLANKS}"
)

SPLITTING: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("gpt-2", "mpt", "olmo", "jais", "phi-2", "roberta-bpe"), GPT_2),
        **dict.fromkeys(("smollm", "starcoder", "refact", "command-r", "codeshell"), _DIGITS_APART),
        **dict.fromkeys(("llama-bpe", "llama3", "llama-v3", "falcon3", "pixtral"), _LLAMA_3),
        **dict.fromkeys(("qwen2", "deepseek-r1-qwen", "stablelm2", "megrez"), _QWEN_2),
        **dict.fromkeys(("gpt-4o", "llama4"), GPT_4O),
        "tekken": _TEKKEN,
    }
)

OTHER_LETTERS = re.compile("[^\0-\x7f\u2010-\u2027\u2030-\u205e\u2190-\u22ff\u2500-\u26ff]")
"""Whatever may be a letter, a digit or a blank beyond ASCII; dashes, quotes, arrows and the like
are none."""
_ASCII_LETTERS: Mapping[str, str] = MappingProxyType(
    {
        r"\p{L}": "A-Za-z",
        r"\p{Lu}": "A-Z",
        r"\p{Ll}": "a-z",
        r"\p{N}": "0-9",
        **dict.fromkeys((r"\p{Lt}", r"\p{Lm}", r"\p{Lo}", r"\p{M}"), ""),
    }
)


def with_ascii_letters(splitting: str) -> re.Pattern[str]:
    """The same for texts without other letters, as a pattern of Python's own: far faster."""
    for letters, ascii_letters in _ASCII_LETTERS.items():
        splitting = splitting.replace(letters, ascii_letters)
    return re.compile(splitting, re.ASCII)
