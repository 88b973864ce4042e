"""Warnings about settings, as lines that are safe for a terminal whatever the files hold."""

from __future__ import annotations

import re

import msgspec

SHOWN_CHARACTERS = 60

_SECRET_NAME = re.compile(
    r"key(?!map)|token(?!s$)|secret|passw|credential|auth|header|url|hook", re.IGNORECASE
)
"""Names whose values may be secrets. `keymap` and counts of tokens are none; an address, a header
or a hook may contain one."""


class SettingsWarning(msgspec.Struct, frozen=True):
    """One thing that could not be used. Every text in it is already printable."""

    source: str
    """The file, or the name of a source that is none."""
    line: int | None
    """The line of the file, where one can be named."""
    key: str
    """The key as it was written; empty when the whole file is meant."""
    problem: str
    """What is wrong and what is done instead."""

    def __str__(self) -> str:
        parts = (place(self.source, self.line), self.key, self.problem)
        return ": ".join(part for part in parts if part)


def place(source: str, line: int | None) -> str:
    """Return FILE:LINE, or only the source where there is no line."""
    return source if line is None else f"{source}:{line}"


def printable(text: str) -> str:
    """Escape everything in a text that a terminal would act on."""
    if text.isprintable():
        return text
    return "".join(
        mark if mark.isprintable() else mark.encode("unicode_escape").decode("ascii")
        for mark in text
    )


def quoted(text: str) -> str:
    """Put foreign text into quotes, escaped and cut."""
    cut = text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
    return repr(cut)


def dotted(path: tuple[str, ...]) -> str:
    """Return a key as it is shown: parts joined by dots, unusual names in quotes."""
    return ".".join(
        part if re.fullmatch(r"[A-Za-z0-9_-]{1,60}", part) else quoted(part) for part in path
    )


def holds_secret(path: tuple[str, ...]) -> bool:
    """Whether the value of a key may be a secret and must not be shown."""
    return any(_SECRET_NAME.search(part) for part in path)
