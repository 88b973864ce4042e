"""The words that stand in an output where it was cut for the model, and what they say."""

from __future__ import annotations

import re

_NOTE = re.compile(r"^\[(\d+) of (\d+) (lines|characters) cut[;\]]", re.MULTILINE)


def gap_mark(what: str) -> str:
    """The line in place of what is not there, such as "lines 10-90"."""
    return f"[… {what} cut …]"


def cut_note(gone: int, total: int, unit: str, how_to_read: str = "") -> str:
    """The line before the first mark: how much is missing in all, and how to read it."""
    return f"[{gone} of {total} {unit} cut{'; ' if how_to_read else ''}{how_to_read}]"


def cut_words(output: str) -> str:
    """How much of an output was cut, in a few words for the user; empty for one that is whole."""
    found = _NOTE.search(output)
    return f"cut {int(found[1]):,} of {int(found[2]):,} {found[3]}" if found else ""
