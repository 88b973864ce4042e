"""Quotes: what was said, word for word on one line, with a mark where something is left out."""

from __future__ import annotations

import re

from ollm_tui.core.session.compression import GAP
from ollm_tui.engine.compression.summary.summary_syntax import quotable

QUOTE_CHARACTERS = 4000
"""Characters that are kept of one message until it is known how much room there is."""

_BLANKS = re.compile(r"\s+")
_GAPS = re.compile(rf"\s*{GAP.strip()}(?:\s*{GAP.strip()})+\s*")


def quoted(text: str, most: int = QUOTE_CHARACTERS) -> str:
    """Return foreign text on one line, without call syntax and orders to the model; of a long
    one the beginning and the end."""
    if len(text) > most * 2:
        text = f"{text[:most]}\n{GAP}\n{text[-most:]}"
    return one_line(_GAPS.sub(GAP, quotable(text)), most)


def one_line(text: str, most: int = QUOTE_CHARACTERS) -> str:
    """Return a text on one line; of a long one the beginning and the end."""
    return ends(_BLANKS.sub(" ", text).strip(), most)


def ends(line: str, most: int, head_share: float = 0.6) -> str:
    """Return the beginning and the end of a line, cut between words where that is possible."""
    if len(line) <= most:
        return line
    room = most - len(GAP)
    if room < len(GAP):
        return ""
    head = line[: int(room * head_share)]
    tail = line[len(line) - (room - len(head)) :] if room > len(head) else ""
    if head and not line[len(head)].isspace() and (cut := head.rfind(" ")) > len(head) // 2:
        head = head[:cut]
    if (
        tail
        and not line[-len(tail) - 1].isspace()
        and -1 < (cut := tail.find(" ")) < len(tail) // 2
    ):
        tail = tail[cut + 1 :]
    return f"{head.rstrip()}{GAP}{tail.lstrip()}".strip()
