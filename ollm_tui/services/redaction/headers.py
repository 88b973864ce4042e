"""Secrets in headers and addresses: Authorization, cookies, user:password@ and signatures."""

from __future__ import annotations

import re

from ollm_tui.services.redaction.rule import SPACE, Rule, Span, compiled
from ollm_tui.services.redaction.values import is_secret, is_stand_in, looks_random

_COOKIES = r"[^\n\"'\\]{0,400}+"
"""As many characters of a header are looked at; one that is secret is hidden further."""
_COOKIE_REST = r"[^\n\"'\\]{0,1000}+"
_COOKIE_VALUE = rf"=([^{SPACE};,]{{8,200}})"
_MIXED_CASE = r".[A-Z]|[0-9+/=_.-]"
_NO_ADDRESS = r"\x00-\x20\"'`<>\\\x7f-\U0010ffff"
_SCHEMES = (
    "bearer|basic|token|negotiate|apikey|api-key|key|bot|ssws|oauth|jwt|pat|hmac"
    "|zoho-oauthtoken|genie(?:key)?|snowflake|sso-key"
)


def _credentials(match: re.Match[str]) -> Span | None:
    """A known scheme leaves little doubt; without one the value must speak for itself."""
    value = match["secret"]
    if is_stand_in(value):
        return None
    if match["scheme"]:
        known = len(value) >= 6 and compiled(_MIXED_CASE).search(value)
    else:
        known = is_secret(value, "secret", "bare")
    return match.span("secret") if known else None


def _bearer(match: re.Match[str]) -> Span | None:
    return match.span("secret") if looks_random(match["secret"]) else None


def _cookies(match: re.Match[str]) -> Span | None:
    text = match.string
    looked_at = compiled(_COOKIES).match(text, match.end())
    end = looked_at.end() if looked_at else match.end()
    values = compiled(_COOKIE_VALUE).findall(text, match.start("secret"), end)
    if not any(map(_identifies, values)):
        return None
    rest = compiled(_COOKIE_REST).match(text, match.end())
    return match.start("value"), rest.end() if rest else end


def _identifies(value: str) -> bool:
    """Whether the value of a cookie could stand for a user."""
    return looks_random(value) or (value.isalnum() and len(value) >= 20)


def _password(match: re.Match[str]) -> Span | None:
    """Behind a user's name, or a token in its place."""
    if match["token"]:
        return match.span("token") if looks_random(match["token"]) else None
    value = match["secret"]
    if len(value) < 3 or value == match["user"] or is_stand_in(value):
        return None
    return match.span("secret")


def _option(match: re.Match[str]) -> Span | None:
    known = is_secret(match["secret"], "password", "quoted")
    return match.span("secret") if known else None


def _signature(match: re.Match[str]) -> Span | None:
    return None if is_stand_in(match["secret"]) else match.span("secret")


HEADERS: tuple[Rule, ...] = (
    Rule(
        "authorization",
        ("authorization",),
        r"authorization[\\\"'\]]{0,3}[ \t]{0,4}(?:[:=,]|=>)[ \t]{0,4}[\\\"'`]{0,3}"
        rf"(?:(?P<scheme>{_SCHEMES})[ \t]{{1,4}})?(?P<secret>[^{SPACE}\"'`\\,;<>]{{4,4000}}+)",
        _credentials,
        any_case=True,
        unfinished=(
            r"authorization[\\\"'\]]{0,3}[ \t]{0,4}(?:[:=,]{0,1}>?[ \t]{0,4}[\\\"'`]{0,3}"
            rf"(?:[a-z-]{{0,20}}[ \t]{{0,4}})?[^{SPACE}\"'`\\,;<>]{{0,4000}}+)?\Z"
        ),
    ),
    Rule(
        "bearer",
        ("bearer",),
        r"(?<![a-z])bearer(?:[ \t]{1,4}|%20|\+)(?P<secret>[A-Za-z0-9_.~+/=\-]{16,4000}+)",
        _bearer,
        any_case=True,
        unfinished=r"bearer[ \t]{0,4}[A-Za-z0-9_.~+/=\-]{0,4000}+\Z",
    ),
    Rule(
        "cookie",
        ("cookie",),
        r"cookie2?[\\\"']{0,3}[ \t]{0,3}[:=,][ \t]{0,3}[\\\"']{0,3}"
        rf"(?P<secret>[\w.\-]{{1,64}}=(?P<value>[^{SPACE};,\"'\\]{{1,200}}))",
        _cookies,
        any_case=True,
        unfinished=(
            r"cookie2?[\\\"']{0,3}[ \t]{0,3}(?:[:=,][ \t]{0,3}[\\\"']{0,3}"
            r"(?:[\w.\-]{1,64}(?:=[^\n\"'\\]{0,4300}+)?)?)?\Z"
        ),
    ),
    Rule(
        "url",
        ("://",),
        rf"://(?:(?P<token>[A-Za-z0-9_.\-]{{20,200}}+)(?::x-oauth-basic|:)?@"
        rf"|(?P<user>[^/:@\[{_NO_ADDRESS}]{{0,128}}+):(?![0-9]{{1,5}}/)"
        rf"(?P<secret>[^@{_NO_ADDRESS}]{{1,256}}+(?:@[^@/{_NO_ADDRESS}]{{1,64}}+(?=@))?)@)",
        _password,
    ),
    Rule(
        "signature",
        ("sig=", "signature=", "response="),
        r"(?:sig|signature|response)=[\"']?(?P<secret>[A-Za-z0-9%+/_\-]{20,400}+={0,2})",
        _signature,
        any_case=True,
    ),
    Rule(
        "key",
        ("?key=", "&key="),
        r".key=(?P<secret>[A-Za-z0-9_\-]{6,200}+)",
        _signature,
        any_case=True,
    ),
    Rule(
        "password",
        ("-u ", "--user "),
        r"(?<=[ \t])-(?:u|-user) {1,4}[\"']?[^\s:\"'/@]{1,60}:(?P<secret>[^\s\"'`\\]{5,200}+)",
        _option,
        unfinished=r"-(?:u|-user) {0,4}[\"']?[^\s\"'`\\]{0,300}+\Z",
    ),
    Rule(
        "password",
        ("sshpass",),
        r"sshpass[ \t]{1,3}-p[ \t]{0,3}[\"']?(?P<secret>[^\s\"'`\\]{4,200}+)",
        _signature,
        unfinished=r"sshpass[ \t]{0,3}(?:-p?[ \t]{0,3}[\"']?[^\s\"'`\\]{0,200}+)?\Z",
    ),
    Rule(
        "password",
        ("identified",),
        r"identified[ \t]{1,4}by[ \t]{1,4}(?:password[ \t]{1,4})?[\"'](?P<secret>[^\"'\n]{4,200}+)",
        _signature,
        any_case=True,
        unfinished=(
            r"identified[ \t]{0,4}(?:b|by[ \t]{0,4}(?:[a-z]{0,8}[ \t]{0,4})?"
            r"(?:[\"'][^\"'\n]{0,200}+)?)?\Z"
        ),
    ),
)
