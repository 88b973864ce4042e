"""Secrets that stand without a name among the words of a command or a line of settings."""

from __future__ import annotations

import re

from ollm_tui.services.redaction.rule import SPACE, Rule, Span
from ollm_tui.services.redaction.values import is_secret

_WORD = rf"[^{SPACE}\"'`\\]"
_GAP = r"[ \t]{1,4}"
_OPEN = rf"[\"']?{_WORD}{{0,200}}+"


def _password(match: re.Match[str]) -> Span | None:
    known = is_secret(match["secret"], "password", "given")
    return match.span("secret") if known else None


def _token(match: re.Match[str]) -> Span | None:
    known = is_secret(match["secret"], "secret", "prose")
    return match.span("secret") if known else None


def _after(kind: str, anchor: str, between: str, *, is_token: bool = False) -> Rule:
    """What comes after a word, with other words `between`."""
    return Rule(
        kind,
        (anchor,),
        rf"{anchor}{_GAP}{between}[\"']?(?P<secret>{_WORD}{{5,200}}+)",
        _token if is_token else _password,
        # Every other word may be the next one of those between.
        unfinished=rf"{anchor}(?:{_GAP}{_WORD}{{0,200}}+){{0,6}}[ \t]{{0,4}}{_OPEN}\Z",
    )


COMMAND_ARGUMENTS: tuple[Rule, ...] = (
    _after("password", "requirepass", ""),
    _after("password", "masterauth", ""),
    _after("password", "rabbitmqctl", rf"(?:add_user|change_password){_GAP}{_WORD}{{1,60}}+{_GAP}"),
    _after(
        "secret",
        "configure",
        rf"set{_GAP}[a-z_.\-]{{0,30}}(?:secret|token|key)[a-z_]{{0,20}}{_GAP}",
        is_token=True,
    ),
    _after(
        "secret",
        "secret",
        rf"set{_GAP}{_WORD}{{1,60}}+{_GAP}(?:-b|--body)(?:{_GAP}|=)",
        is_token=True,
    ),
)
