"""Patterns for names of environment variables: letters, digits and _, with * ? and [sets]."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PATTERN = re.compile(r"(?:[A-Za-z0-9_.*?%-]|\[!?[A-Za-z0-9_-]+\])+")


def split_patterns(given: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the patterns that can be used, and those that cannot."""
    patterns = tuple(given)
    bad = tuple(pattern for pattern in patterns if not _PATTERN.fullmatch(pattern))
    return tuple(pattern for pattern in patterns if pattern not in bad), bad
