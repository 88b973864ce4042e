"""The words that stand in an output where it was cut for the model, and what they say; and how
the model is told of a text that it reads in parts."""

from __future__ import annotations

import re

_NOTE = re.compile(r"^\[(\d+) of (\d+) (lines|characters) cut[;\]]", re.MULTILINE)


PAGE_LINES = 200
"""How many lines the model is told to read at a time."""
LONGEST_LINE = 400
"""Characters at which a line of a text that is read in parts is broken: a paste may be one line."""
_BROKEN = re.compile(rf".{{1,{LONGEST_LINE}}}(?:\s|$)|.{{{LONGEST_LINE}}}")


def in_lines(text: str) -> str:
    """A text whose long lines are broken, at blanks where there are any."""
    lines = text.split("\n")
    return "\n".join(
        line if len(line) <= LONGEST_LINE else "\n".join(_BROKEN.findall(line)) for line in lines
    )


def reading_note(lines: int, handle: str) -> str:
    """The line that tells the model how to read a text of which it is sent the beginning only."""
    end = min(lines, PAGE_LINES)
    return f"[the beginning of {lines} lines; read_output call={handle} start=1 end={end} reads]"


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
