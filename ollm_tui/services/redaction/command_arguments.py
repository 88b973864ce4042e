"""Rules for secrets without a name among the words of a command or a line of settings."""

from __future__ import annotations

import re

from ollm_tui.services.redaction.rule import SPACE, Rule, Span
from ollm_tui.services.redaction.values import is_secret, looks_random

_WORD = rf"[^{SPACE}\"'`\\]"
_NAME = r"[A-Za-z0-9_]"
_GAP = r"[ \t]{1,4}"
_WORD_OR_QUOTE = rf"[^{SPACE}]"
_ASKS = (
    r"(?:--password-stdin|--with-token|--stdin\b|[ \t]login\b|sudo[ \t]{1,4}-[A-Za-z]{0,4}S\b"
    r"|passwd\b|kinit\b|cryptsetup\b|--passphrase-fd)"
)
"""Commands that read a password from their input."""
_OPEN = rf"[\"']?{_WORD}{{0,200}}+"
"""The beginning of a value that may go on."""


def _password(match: re.Match[str]) -> Span | None:
    known = is_secret(match["secret"], "password", "given")
    return match.span("secret") if known else None


def _chosen(match: re.Match[str]) -> Span | None:
    """A password behind an option that means other things, too: ports, projects, paths."""
    known = is_secret(match["secret"], "password", "prose")
    return match.span("secret") if known else None


def _token(match: re.Match[str]) -> Span | None:
    known = is_secret(match["secret"], "secret", "prose")
    return match.span("secret") if known else None


def _random(match: re.Match[str]) -> Span | None:
    return match.span("secret") if looks_random(match["secret"]) else None


def _after(
    kind: str, anchor: str, between: str, *, is_token: bool = False, gap: str = _GAP
) -> Rule:
    """A rule for a secret that follows the word `anchor`, with the pattern `between` before it."""
    return Rule(
        kind,
        (anchor,),
        rf"{anchor}{gap}{between}[\"']?(?P<secret>{_WORD}{{5,200}}+)",
        _token if is_token else _password,
        # The words so far may still become those between: any words are held back.
        unfinished=(
            rf"{anchor}{_WORD}{{0,10}}+(?:{_GAP}{_WORD_OR_QUOTE}{{0,200}}+){{0,7}}"
            rf"[ \t]{{0,4}}{_OPEN}\Z"
        ),
    )


def _option(anchor: str, option: str, joint: str = _GAP) -> Rule:
    """A rule for a password behind an option that means one only for the command `anchor`."""
    others = rf"(?:(?!{option}){_WORD_OR_QUOTE}{{1,60}}+{_GAP}){{0,6}}"
    return _after("password", anchor, f"{others}{option}{joint}", gap=rf"[a-z]{{0,6}}{_GAP}")


COMMAND_ARGUMENTS: tuple[Rule, ...] = (
    _after("password", "requirepass", ""),
    _after("password", "masterauth", ""),
    _after("password", "rabbitmqctl", rf"(?:add_user|change_password){_GAP}{_WORD}{{1,60}}+{_GAP}"),
    *(
        _after(
            "password", sets, rf"{_NAME}{{0,40}}(?:PASS|PWD|SECRET|TOKEN|KEY){_NAME}{{0,20}}{_GAP}"
        )
        for sets in ("setenv", "setx", "set -x", "set -gx", "set -Ux", "ENV")
    ),
    _after("password", "http", rf"(?:-a|--auth){_GAP}[A-Za-z0-9_.@\-]{{1,60}}:"),
    _after("password", "SecureString", rf"(?:-String{_GAP})?(?=[\"'])"),
    _after(
        "password",
        "htpasswd",
        rf"-[a-zA-Z]{{0,4}}b[a-zA-Z]{{0,4}}{_GAP}(?:{_WORD}{{1,60}}+{_GAP}){{2}}",
    ),
    _after("password", "net user", rf"{_WORD}{{1,60}}+{_GAP}(?!/)"),
    Rule(
        "password",
        ("-u", "-U", "--user", "/u:"),
        rf"(?<=[ \t])(?:-[uU][ \t=]{{0,3}}|--user(?:name)?(?:{_GAP}|=)|/u:)"
        rf"(?!-){_WORD}{{1,60}}+{_GAP}"
        rf"(?:-{{0,2}}[a-z]{{1,20}}[ \t=]{{1,3}}{_WORD}{{1,60}}+{_GAP}){{0,2}}?"
        rf"(?:-[pPwW](?:{_GAP}|=)?|/p:)[\"']?(?P<secret>{_WORD}{{6,200}}+)",
        _chosen,
        unfinished=r"(?:-[uU]|--user|/u:)[^\n|;]{0,300}+\Z",
    ),
    _option("smbclient", "-U", rf"{_GAP}{_NAME}{{1,40}}%"),
    _option("mysql", "-p", ""),
    _option("mariadb", "-p", ""),
    _option("login", "-p", rf"(?:{_GAP}|=)"),
    _option("redis-cli", "-a"),
    _option("zip", "-P"),
    _option("7z", "-p", ""),
    _option("openssl", "-k"),
    _option("ldapsearch", "-w"),
    Rule(
        "token",
        ("login ",),
        rf"login{_GAP}(?:--relogin{_GAP})?(?P<secret>[A-Za-z0-9_\-]{{16,200}}+)(?![.:/@])",
        _random,
        unfinished=rf"login{_GAP}(?:[a-z\-]{{0,9}}{_GAP})?[A-Za-z0-9_\-]{{0,200}}+\Z",
    ),
    Rule(
        "password",
        ("echo", "printf"),
        rf"(?:echo(?:{_GAP}-n?e?)?|printf(?:{_GAP}[\"']?%s(?:\\n)?[\"']?)?){_GAP}[\"']?"
        rf"(?:[A-Za-z0-9_.@-]{{1,60}}:(?=[^\n|]{{6,220}}\|[ \t]{{0,4}}(?:sudo{_GAP})?chpasswd))?"
        rf"(?P<secret>{_WORD}{{5,200}}+)[\"']?"
        rf"[ \t]{{0,4}}\|[^\n|]{{1,120}}?{_ASKS}",
        _password,
        unfinished=rf"(?:echo|printf){_GAP}[^\n|]{{0,240}}+(?:\|[^\n|]{{0,150}}+)?\Z",
    ),
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
