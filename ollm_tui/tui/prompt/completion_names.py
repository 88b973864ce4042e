"""Names of files in a text: @ and a path, in quotes if it has blanks."""

from __future__ import annotations

import re
from typing import NamedTuple

_AT = r"""(?:^|(?<=[\s("']))@"""
_BEGUN = re.compile(rf"""{_AT}(?:"(?P<quoted>[^"]*)"?|(?P<plain>[^\s"]*))$""")
_NAMED = re.compile(rf"""{_AT}(?:"(?P<quoted>[^"\n]+)"|(?P<plain>[^\s"]+))""", re.MULTILINE)
_AFTER = ".,;:!?)'"
"""What may follow a name without being part of it."""


class Mention(NamedTuple):
    """A name that is being typed: from the @ to the cursor."""

    row: int
    start: int
    end: int
    query: str


class Named(NamedTuple):
    """A name in a text, and where it stands, with its @."""

    start: int
    end: int
    name: str


def mention_at(line: str, row: int, column: int) -> Mention | None:
    """What is being named where the cursor is."""
    found = _BEGUN.search(line[:column])
    if found is None:
        return None
    return Mention(row, found.start(), column, found["quoted"] or found["plain"] or "")


def names_in(text: str) -> list[Named]:
    """Everything in a text that is written like the name of a file."""
    found: list[Named] = []
    for match in _NAMED.finditer(text):
        name = match["quoted"] or match["plain"].rstrip(_AFTER)
        if name:
            end = match.end() if match["quoted"] else match.start() + 1 + len(name)
            found.append(Named(match.start(), end, name))
    return found


def as_typed(name: str) -> str:
    """How a name is written so that it is understood as one."""
    return f'@"{name}"' if re.search(r"\s", name) else f"@{name}"
