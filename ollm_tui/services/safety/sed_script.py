"""Scripts for sed that only print, drop and replace lines: no w, e, r, R, W, and no labels."""

from __future__ import annotations

import re

_DELIMITERS = "/|#,:@!%"


def _between(end: str) -> str:
    """Text up to a delimiter. In brackets versions of sed differ: there it may not stand."""
    sign = re.escape(end)
    bracket = rf"\[\^?+\]?+(?:\[:[a-z]+:\]|[^\]\[{sign}\\\n]|\\[a-zA-Z])*+\]"
    return rf"(?:[^{sign}\\\[\n]|\\[^\nc]|{bracket})*+"


def _replacing(end: str) -> str:
    sign = re.escape(end)
    new = rf"(?:[^{sign}\\\n]|\\[^\n])*"
    return rf"s{sign}{_between(end)}{sign}{new}{sign}[gpiI0-9]*"


_ADDRESS = rf"(?:\d+~\d+|\d+|\$|/{_between('/')}/I?)"
_WHERE = rf"(?:{_ADDRESS}(?:\s*,\s*(?:{_ADDRESS}|[+~]\d+))?\s*!?\s*)?"
_TRANSLATING = r"y/[^/\\\n]*/[^/\\\n]*/"
_WHAT = rf"(?:[pdDPnNhHgGxl=]|[qQ]\d*|{'|'.join(map(_replacing, _DELIMITERS))}|{_TRANSLATING})"
_COMMAND = rf"{_WHERE}{_WHAT}"
_ENDS = r"\s*[;\n]\s*"
_SEVERAL = rf"{_COMMAND}(?:{_ENDS}{_COMMAND})*"
_BLOCK = rf"{_WHERE}\{{\s*{_SEVERAL}(?:{_ENDS})?\s*\}}"
_SCRIPT = re.compile(
    rf"\s*(?:{_COMMAND}|{_BLOCK})(?:{_ENDS}(?:{_COMMAND}|{_BLOCK}))*(?:{_ENDS})?\s*"
)
LONGEST = 300
"""Characters; nobody types more to look at a file, and longer ones may take long to match."""


def only_prints(script: str) -> bool:
    """Whether a script does nothing but write lines to the terminal."""
    return len(script) <= LONGEST and bool(_SCRIPT.fullmatch(script))
