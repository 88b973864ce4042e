"""Secrets that are known by their value, also as they look inside addresses and headers."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

from ollm_tui.core.intake import clean

SHORTEST = 8
"""A shorter value is more likely a word than a key."""
_FEWEST_CHARACTERS = 4
_SHORTEST_ENCODED = 12


def forms_of(values: Iterable[str]) -> tuple[str, ...]:
    """Every string to look for, the longest first."""
    forms: set[str] = set()
    for value in map(clean, values):
        plain = value.strip()
        if len(plain) >= SHORTEST and len(set(plain)) >= _FEWEST_CHARACTERS:
            forms |= {plain, quote(plain, safe=""), quote_plus(plain), json.dumps(plain)[1:-1]}
            forms |= _encoded(plain.encode("utf-8", "replace"))
    return tuple(sorted(forms, key=len, reverse=True))


def _encoded(data: bytes) -> set[str]:
    """Base64 of texts that contain it: what no neighbour changes, in each of three positions."""
    forms: set[str] = set()
    for before, contaminated in ((0, 0), (1, 2), (2, 3)):
        whole = (before + len(data)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            core = encode(bytes(before) + data).decode()[contaminated:whole]
            if len(core) >= _SHORTEST_ENCODED:
                forms.add(core)
    return forms


def begins_at(text: str, start: int, forms: Iterable[str]) -> int:
    """Where from `start` on a form begins that the end of the text cuts off; else its length."""
    earliest = len(text)
    for form in forms:
        at = text.find(form[0], max(start, len(text) - len(form) + 1), earliest)
        while at != -1:
            if form.startswith(text[at:]):
                earliest = at
                break
            at = text.find(form[0], at + 1, earliest)
    return earliest
