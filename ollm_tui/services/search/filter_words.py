"""The filter words in what is typed into a search: seen, put in and taken out again."""

from __future__ import annotations

import re

from ollm_tui.services.search.query import FILTERS, ROLES, WORD

PERIODS = ("in", "before", "after")
"""The filters that are about time."""


def filter_word(key: str, value: str) -> str:
    """A filter as it is typed."""
    plain = value.replace('"', "")
    return f'{key}:"{plain}"' if re.search(r"\s", plain) else f"{key}:{plain}"


def has_filter(text: str, word: str) -> bool:
    """Whether a filter is among what is typed, however it is spelled."""
    wanted = _meaning(word)
    return any(_meaning(match[0]) == wanted for match in WORD.finditer(text))


def toggled(text: str, word: str) -> str:
    """The text with a filter, or without it if it is there."""
    wanted = _meaning(word)
    kept = [match[0] for match in WORD.finditer(text) if _meaning(match[0]) != wanted]
    return " ".join(kept if has_filter(text, word) else [*kept, word])


def within(text: str, *words: str) -> str:
    """The text with other filters about time in the place of those it has."""
    kept = [match[0] for match in WORD.finditer(text) if _meaning(match[0])[0] not in PERIODS]
    return " ".join((*kept, *words))


def _meaning(word: str) -> tuple[str, str]:
    """Key and value of a filter; any other word means itself."""
    match = WORD.fullmatch(word)
    key = (match["key"] or "").lower() if match else ""
    if match is None or key not in FILTERS:
        return "", word
    value = (match["quoted"] or match["plain"] or "").lower()
    return key, ROLES.get(value, value) if key == "role" else value
