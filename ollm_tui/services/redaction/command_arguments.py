"""Rules for secrets without a name among the words of a command or a line of settings."""

from __future__ import annotations

import re
from itertools import starmap

from ollm_tui.services.redaction.rule import REACH_BACK, SPACE, Rule, Span, compiled
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
_SHARE = rf"(?:/user:)?[^{SPACE}\"'`/]"
_OPEN = rf"[\"']?{_WORD}{{0,200}}+"
"""The beginning of a value that may go on."""


def _password(match: re.Match[str]) -> Span | None:
    known = is_secret(match["secret"], "password", "value")
    return match.span("secret") if known else None


def _chosen(match: re.Match[str]) -> Span | None:
    """A password behind an option that means other things, too: ports, projects, paths."""
    known = is_secret(match["secret"], "password", "said")
    return match.span("secret") if known else None


def _token(match: re.Match[str]) -> Span | None:
    known = is_secret(match["secret"], "secret", "said")
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
    return _after("password", anchor, f"{others}{option}{joint}", gap=rf"[a-z_]{{0,10}}{_GAP}")


def _fed(match: re.Match[str]) -> Span | None:
    """A password that a command which asks for one is fed, such as passwd --stdin bob <<< …"""
    at = match.start()
    asks = compiled(_ASKS).search(match.string, max(0, at - REACH_BACK), at)
    return _password(match) if asks else None


_PASSWORD_OPTIONS = (
    *(("mysql", "-p", ""), ("mariadb", "-p", ""), ("7z", "-p", ""), ("rar", "-hp", "")),
    *(("login", "-p", rf"(?:{_GAP}|=)"), ("redis-cli", "-a"), ("zip", "-P"), ("openssl", "-k")),
    *(("openssl", "-pass(?:in|out)?", rf"{_GAP}pass:"), ("ldap", "-w"), ("useradd", "-p")),
    *(("sqlcmd", "-P"), ("bcp", "-P"), ("ipmitool", "-P"), ("mosquitto", "-P"), ("mongo", "-p")),
    *(("cqlsh", "-p"), ("rdesktop", "-p"), ("psexec", "-p"), ("snmp", "-[AX]"), ("cifs", "-p")),
    *(("curl", "-u", r"[^\s:\"'/@]{1,60}:"), ("lftp", "-u", rf"{_GAP}[\w.@-]{{1,60}},")),
    *(("generic-password", "-w"), ("internet-password", "-w"), ("xfreerdp", "/p:", "")),
    *(("htpasswd", "-[a-zA-Z]{0,4}nb[a-zA-Z]{0,4}", rf"{_GAP}{_WORD}{{1,60}}+{_GAP}"),),
)
"""Beginnings of commands, their option before a password, and what joins the two."""

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
    _option("smbclient", "-U", rf"{_GAP}[\"']?[A-Za-z0-9_.\\/@-]{{1,60}}%"),
    *starmap(_option, _PASSWORD_OPTIONS),
    _after("password", "wpa_passphrase", rf"{_WORD}{{1,60}}+{_GAP}"),
    _after("password", "net use", rf"(?:{_SHARE}{{1,90}}+{_GAP}){{1,3}}(?!/)"),
    _after("password", "rclone", rf"obscure{_GAP}"),
    _after("token", "vault", rf"login{_GAP}(?!-)", is_token=True),
    Rule(
        "password",
        ("<<<",),
        rf"(?<=[ \t])<<<{_GAP}?[\"']?(?P<secret>{_WORD}{{5,200}}+)",
        _fed,
        unfinished=rf"<<<[ \t]{{0,4}}{_OPEN}\Z",
    ),
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
    ),
)
