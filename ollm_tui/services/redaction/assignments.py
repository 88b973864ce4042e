"""Rules for secrets that are known only by their name: password = …, "api_key": "…", --token …"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from ollm_tui.services.redaction.beside import JUDGED, REACH_AFTER, read, rest_of
from ollm_tui.services.redaction.names import KINDS, Kind, pattern_of
from ollm_tui.services.redaction.rule import REACH_BACK, SPACE, Reading, Rule, Span, compiled, whole
from ollm_tui.services.redaction.values import Look, Name, look_of


def _reading(name: Name, match: re.Match[str], is_all: bool) -> Reading:
    """What is beside a name; `is_all` says that no text will follow."""
    start, end = match.span()
    text = match.string
    offset = start - REACH_BACK if start > REACH_BACK else 0
    window = text[offset : end + REACH_AFTER]
    # A window that is full is all that will ever be looked at.
    is_full = is_all or len(text) > end + REACH_AFTER
    named = (match.start("tail") if match["tail"] else end) - offset
    seen = read(window, start - offset, named, end - offset, name, final=is_full)
    if seen.found is None:
        return Reading(None, seen.is_unfinished, seen.effort)
    until = rest_of(text, seen.found, offset)
    is_open = not is_all and until == len(text)
    return Reading((seen.found.start + offset, until), is_open, seen.effort)


def _rule(kind: Kind) -> Rule:
    return Rule(
        kind.kind,
        kind.anchors,
        pattern_of(kind),
        whole,
        any_case=True,
        reads=partial(_reading, kind.name),
    )


ASSIGNMENTS: tuple[Rule, ...] = tuple(map(_rule, KINDS))

_ANY_NAME = "|".join(re.escape(anchor) for kind in KINDS for anchor in kind.anchors)
_ASSIGNS = (
    rf"(?i:{_ANY_NAME})[\w-]{{0,20}}+[\\\"'`\]*]{{0,4}}+[ \t]{{0,4}}+(?:=>|:=|[:=：＝是为]|%3[Dd])"
    r"[ \t]{0,8}+[\\\"'`]{0,4}+"
)
_LONGEST_NAME = 64
"""Characters of the longest match of this pattern."""
_ASSIGNED = rf"[^{SPACE}\"'`,;&<>\\]{{5,4000}}+"
HASTY_REACH = 8_192
"""Characters: neither in haste nor with care a name is told from further ones."""


def assigned(text: str, start: int, stop: int) -> Iterator[Span]:
    """What is assigned to a name between `start` and `stop` and looks like nothing but a secret.

    This is for texts too full of names to read what is beside each.
    """
    while name := compiled(_ASSIGNS).search(text, start, stop + _LONGEST_NAME):
        if name.start() >= stop:
            return
        value = compiled(_ASSIGNED).match(text, name.end())
        start = value.end() if value else name.end()
        if value and look_of(value[0][:JUDGED].rstrip(").]}")) >= Look.MARKED:
            yield value.span()
