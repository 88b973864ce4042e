"""Names in a conversation: words whose form shows that they name something, and which of them
are most likely to be needed again."""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_NAMES = 600
LONGEST_NAME = 100
READ_CHARACTERS = 40_000
"""Characters of one message in which names are looked for, half from its end."""
HALF_LIFE = 12
"""Messages after which a mention counts half."""

_NAME = re.compile(r"[A-Za-z0-9_$@~./][\w$@~./:-]{2,}")
_FORM = re.compile(r"[^\W\d]\d|\d[^\W\d]|\d{3}|[a-z][A-Z]|[A-Z]{2}|\w[_/.:@-]\w|^/\w")
_AROUND = ".:-/$@~"


class Names:
    """Collects names message by message, oldest first."""

    def __init__(self) -> None:
        self._scores: dict[str, tuple[float, int, str]] = {}
        """The score of a name at its last mention, the number of that message, and its id."""
        self._left_out: set[str] = set()
        self._number = 0

    def leave_out(self, text: str) -> None:
        """Leave out the names in a text that the model sees anyway."""
        self._left_out.update(names_in(text))

    def read(self, source: str, text: str) -> None:
        """Read the next message. A name counts more the more messages, and the newer, have it."""
        self._number += 1
        for name in names_in(text):
            score, number, _ = self._scores.get(name, (0.0, self._number, ""))
            aged = score * 0.5 ** ((self._number - number) / HALF_LIFE)
            self._scores[name] = (aged + 1, self._number, source)

    def best(self) -> list[tuple[str, str]]:
        """Return the names with the message each was last in, the most useful last."""

        def now(name: str) -> float:
            score, number, _ = self._scores[name]
            return score * 0.5 ** ((self._number - number) / HALF_LIFE)

        found = sorted((name for name in self._scores if name not in self._left_out), key=now)
        return [(name, self._scores[name][2]) for name in found[-MOST_NAMES:]]


def names_in(text: str) -> set[str]:
    """Return the names in a text."""
    if len(text) > READ_CHARACTERS:
        half = READ_CHARACTERS // 2
        text = f"{text[:half]}\n{text[-half:]}"
    return set(_names(text))


def _names(text: str) -> Iterator[str]:
    for word in set(_NAME.findall(text)):
        name = word.rstrip(_AROUND).lstrip(".:-")
        if 3 < len(name) <= LONGEST_NAME and _FORM.search(name):
            yield name
