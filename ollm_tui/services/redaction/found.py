"""What a search for secrets finds."""

from __future__ import annotations

from typing import NamedTuple


class Found(NamedTuple):
    """One secret: where it is in the cleaned text, and what it is."""

    start: int
    end: int
    kind: str
