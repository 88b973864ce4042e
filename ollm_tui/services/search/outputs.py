"""What of a tool's output is searched: what the model was given, and what was cut away for it."""

from __future__ import annotations

import re

END_CHARACTERS = 64_000
"""So much of the beginning of an output is searched, and of its end."""
_MARK = re.compile(r"\s*\[… [^\n]* …\]\s*")
"""The line that stands for what was cut away."""


def searched_output(given: str, whole: str | None = None) -> list[str]:
    """The texts to be found. What the model was given is usually the whole output without its
    middle: then it is there already. Other programs have another text for the eye."""
    if whole is None:
        return [_ends(given)]
    if _is_cut(given, whole):
        return [_ends(whole)]
    return [_ends(given), _ends(whole)]


def _is_cut(given: str, whole: str) -> bool:
    """Whether nothing but a mark stands between what is the beginning and the end of the whole."""
    if "[… " not in given:
        return False
    begins = _alike(given, whole)
    ends = min(_alike(given[::-1], whole[::-1]), len(given) - begins)
    return _MARK.fullmatch(given, begins, len(given) - ends) is not None


def _alike(one: str, other: str) -> int:
    """How many characters are the same before the first that is not; found by halving."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _ends(text: str) -> str:
    """All of it, or the beginning and the end, without words that would be cut."""
    if len(text) <= 2 * END_CHARACTERS:
        return text
    first = text[:END_CHARACTERS].rsplit(None, 1)[0]
    last = text[-END_CHARACTERS:].split(None, 1)[-1]
    return f"{first}\n…\n{last}"
