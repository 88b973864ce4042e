"""Rules for secrets that are known only by their name: password = …, "api_key": "…", --token …"""

from __future__ import annotations

import re
from functools import partial

from ollm_tui.services.redaction.beside import REACH_AFTER, Beside, read, rest_of
from ollm_tui.services.redaction.names import KINDS, Kind, pattern_of
from ollm_tui.services.redaction.rule import REACH_BACK, Rule, Span
from ollm_tui.services.redaction.values import Name


def _beside(name: Name, match: re.Match[str]) -> Span | None:
    found, offset = _read(name, match, final=True)
    if not isinstance(found, Beside):
        return None
    return found.start + offset, rest_of(match.string, found, offset)


def _is_open(name: Name, match: re.Match[str]) -> bool:
    found, offset = _read(name, match, final=False)
    if isinstance(found, Beside):
        return rest_of(match.string, found, offset) == len(match.string)
    return found


def _read(name: Name, match: re.Match[str], *, final: bool) -> tuple[Beside | bool, int]:
    """What is beside a name, and where the window begins in which it was read."""
    start, end = match.span()
    offset = start - REACH_BACK if start > REACH_BACK else 0
    window = match.string[offset : end + REACH_AFTER]
    # A window that is full is all that will ever be looked at.
    is_full = final or len(match.string) > end + REACH_AFTER
    named = match.start("tail") if match["tail"] else end
    return read(window, start - offset, named - offset, end - offset, name, final=is_full), offset


def _rule(kind: Kind) -> Rule:
    return Rule(
        kind.kind,
        kind.anchors,
        pattern_of(kind),
        partial(_beside, kind.name),
        any_case=True,
        is_open=partial(_is_open, kind.name),
    )


ASSIGNMENTS: tuple[Rule, ...] = tuple(map(_rule, KINDS))
