"""The colours of a job's output: only they are kept of all that steers a terminal."""

from __future__ import annotations

import re

from ollm_tui.core.intake import clean
from ollm_tui.core.job import JobOutput

_COLOUR = re.compile(r"\x1b\[[0-9;]{0,40}m")
_FIRST, _LAST = 0xF0000, 0xFFFFD
"""Characters for private use: they stand for sequences while everything else is filtered."""
_STANDING_IN = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]")


def coloured(output: JobOutput, safe: str) -> str:
    """The text `safe` with its colours; empty if it has none, or if they cannot be kept.

    They cannot be where two streams were joined, where a secret was taken out, or where the
    output has characters of the kind that stands in for colours here.
    """
    parts = [part for part in (output.stdout, output.stderr) if part.data]
    if len(parts) != 1 or parts[0].truncated:
        return ""
    raw = parts[0].data.decode("utf-8", "replace")
    if "\x1b[" not in raw or _STANDING_IN.search(raw):
        return ""
    found: list[str] = []

    def stand_in(sequence: re.Match[str]) -> str:
        found.append(sequence[0])
        return chr(_FIRST + len(found) - 1)

    marked = _COLOUR.sub(stand_in, raw)
    if not 0 < len(found) <= _LAST - _FIRST:
        return ""
    filtered = clean(marked)
    if _STANDING_IN.sub("", filtered) != safe:
        return ""
    return _STANDING_IN.sub(lambda mark: found[ord(mark[0]) - _FIRST], filtered)
