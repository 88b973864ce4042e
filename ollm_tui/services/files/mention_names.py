"""The names of files that stand after an @ in a text."""

from __future__ import annotations

import re
from typing import NamedTuple

AT = r"""(?:^|(?<=[\s("']))@"""
"""An @ that begins a name, as a pattern: not the one in an address of mail."""
_NAMED = re.compile(rf"""{AT}(?:"(?P<quoted>[^"\n]+)"|(?P<plain>[^\s"]+))""", re.MULTILINE)
_AFTER = ".,;:!?)'"
"""Characters that may follow a name without being part of it."""


class Named(NamedTuple):
    """A name in a text, and where it stands together with its @."""

    start: int
    end: int
    name: str


def names_in(text: str) -> list[Named]:
    """Return everything in a text that is written like the name of a file."""
    found: list[Named] = []
    for match in _NAMED.finditer(text):
        name = match["quoted"] or match["plain"].rstrip(_AFTER)
        if name:
            end = match.end() if match["quoted"] else match.start() + 1 + len(name)
            found.append(Named(match.start(), end, name))
    return found


def as_typed(name: str) -> str:
    """Return a name as it has to be typed: after an @, in quotes if it has blanks."""
    return f'@"{name}"' if re.search(r"\s", name) else f"@{name}"
