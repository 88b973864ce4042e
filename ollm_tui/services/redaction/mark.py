"""The mark in place of a secret: its kind, and four digits that are equal for equal secrets."""

from __future__ import annotations

import os
import re
from typing import NamedTuple


class Found(NamedTuple):
    """A secret that was found: its place in the cleaned text, and its kind."""

    start: int
    end: int
    kind: str


# Without a key the digits would let anybody who reads an export test guesses of a password.
_KEY = os.urandom(16).hex()
_MARK = re.compile(r"\[REDACTED:[a-z0-9-]{1,30}:[0-9a-f]{4}\]")


def mark_for(secret: str, kind: str) -> str:
    """The mark of a secret; its digits are the same as long as this process runs."""
    # hash() is SipHash and takes a third of the time of hashlib; a flood has 100,000 secrets.
    return f"[REDACTED:{kind}:{hash(_KEY + secret) & 0xFFFF:04x}]"


def carries_mark(text: str) -> bool:
    """Whether something was redacted in a text, which must then not be written back to a file."""
    return "[REDACTED:" in text and _MARK.search(text) is not None
