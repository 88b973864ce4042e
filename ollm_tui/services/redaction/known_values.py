"""Secrets that are known by their value, also encoded as in URLs, JSON and headers."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

from ollm_tui.core.intake import clean

SHORTEST = 8
"""A shorter value is more likely a word than a key."""
_FEWEST_CHARACTERS = 4
"""How many different characters a value must have."""
_SHORTEST_ENCODED = 12
"""The shortest piece of base64 that is looked for."""


def forms_of(values: Iterable[str]) -> tuple[str, ...]:
    """Every text to look for, plain and encoded, the longest first."""
    forms: set[str] = set()
    for value in map(clean, values):
        plain = value.strip()
        if len(plain) >= SHORTEST and len(set(plain)) >= _FEWEST_CHARACTERS:
            forms |= {plain, quote(plain, safe=""), quote_plus(plain), json.dumps(plain)[1:-1]}
            forms |= _encoded(plain.encode("utf-8", "replace"))
    return tuple(sorted(forms, key=len, reverse=True))


def _encoded(data: bytes) -> set[str]:
    """The base64 of a secret inside of other text: the part that does not depend on its neighbours.

    It has three forms, by where in a group of three bytes the secret begins.
    """
    forms: set[str] = set()
    for before, contaminated in ((0, 0), (1, 2), (2, 3)):
        whole = (before + len(data)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            core = encode(bytes(before) + data).decode()[contaminated:whole]
            if len(core) >= _SHORTEST_ENCODED:
                forms.add(core)
    return forms


def begins_at(text: str, start: int, forms: Iterable[str]) -> int:
    """Where, from `start` on, a form begins that the end of the text cuts off; else its length."""
    earliest = len(text)
    for form in forms:
        at = text.find(form[0], max(start, len(text) - len(form) + 1), earliest)
        while at != -1:
            if form.startswith(text[at:]):
                earliest = at
                break
            at = text.find(form[0], at + 1, earliest)
    return earliest
