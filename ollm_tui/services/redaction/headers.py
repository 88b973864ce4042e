"""Rules for secrets in headers and in queries of URLs: Authorization, cookies, signatures."""

from __future__ import annotations

import re

from ollm_tui.services.redaction.rule import SPACE, Rule, Span, compiled
from ollm_tui.services.redaction.values import is_secret, is_stand_in, looks_random

_COOKIES = r"[^\n\"'\\]{0,400}+"
"""The part of a header in which cookies are looked for."""
_COOKIE_REST = r"[^\n\"'\\]{0,1000}+"
"""The part of a header that is hidden if one of its cookies is secret."""
_COOKIE_VALUE = rf"=([^{SPACE};,]{{8,200}})"
_MIXED_CASE = r".[A-Z]|[0-9+/=_.-]"
_GLUE = r"[\"'`][ \t]{0,2}(?:\+|\.{1,2})[ \t]{0,2}[\"'`]"
"""The place where code joins two texts."""
_SCHEMES = (
    "bearer|basic|token|negotiate|apikey|api-key|key|bot|ssws|oauth|jwt|pat|hmac"
    "|zoho-oauthtoken|genie(?:key)?|snowflake|sso-key"
)
_ANY_SCHEME = r"[a-z][a-z0-9-]{0,19}"
_PART = rf"[^{SPACE}\"'`\\,;<>]"


def _credentials(match: re.Match[str]) -> Span | None:
    """The credentials of a match; without a known scheme only a value that looks like a secret."""
    value = match["secret"]
    if is_stand_in(value) or value.startswith("realm="):
        return None
    if match["scheme"]:
        known = len(value) >= 6 and compiled(_MIXED_CASE).search(value)
    else:
        known = is_secret(value, "secret", "code")
    return match.span("secret") if known else None


def _random(match: re.Match[str]) -> Span | None:
    return match.span("secret") if looks_random(match["secret"]) else None


def _cookies(match: re.Match[str]) -> Span | None:
    """All cookies of a header from the first value on, if one of them may identify a user."""
    text = match.string
    looked_at = compiled(_COOKIES).match(text, match.end())
    end = looked_at.end() if looked_at else match.end()
    values = compiled(_COOKIE_VALUE).findall(text, match.start("secret"), end)
    if not any(map(_identifies, values)):
        return None
    rest = compiled(_COOKIE_REST).match(text, match.end())
    return match.start("value"), rest.end() if rest else end


def _identifies(value: str) -> bool:
    """Whether the value of a cookie may identify a user."""
    return looks_random(value) or (value.isalnum() and len(value) >= 20)


def _signature(match: re.Match[str]) -> Span | None:
    return None if is_stand_in(match["secret"]) else match.span("secret")


HEADERS: tuple[Rule, ...] = (
    Rule(
        "authorization",
        ("authorization",),
        r"(?i)authorization[\\\"'\]]{0,3}[ \t]{0,4}(?:[:=,]|=>)[ \t]{0,4}[\\\"'`]{0,3}"
        rf"(?:(?P<scheme>{_SCHEMES})[ \t]{{1,4}}(?:{_GLUE})?|{_ANY_SCHEME}[ \t](?={_PART}{{16}}))?"
        rf"(?P<secret>{_PART}{{4,4000}}+)",
        _credentials,
        any_case=True,
        unfinished=(
            r"(?i)authorization[\\\"'\]]{0,3}[ \t]{0,4}(?:[:=,]{0,1}>?[ \t]{0,4}[\\\"'`]{0,3}"
            rf"(?:{_ANY_SCHEME}?[ \t]{{0,4}}[\"'`]?[ \t]{{0,2}}[+.]{{0,2}}[ \t]{{0,2}}[\"'`]?)?"
            rf"{_PART}{{0,4000}}+)?\Z"
        ),
    ),
    Rule(
        "bearer",
        ("bearer",),
        r"(?i)(?<![a-z])bearer(?:[ \t]{1,4}|%20|\+)(?P<secret>[A-Za-z0-9_.~+/=\-]{16,4000}+)",
        _random,
        any_case=True,
        unfinished=r"(?i)bearer[ \t]{0,4}[A-Za-z0-9_.~+/=\-]{0,4000}+\Z",
    ),
    Rule(
        "cookie",
        ("cookie",),
        r"(?i)cookie2?[\\\"']{0,3}[ \t]{0,3}[:=,][ \t]{0,3}[\\\"']{0,3}"
        rf"(?P<secret>[\w.\-]{{1,64}}=(?P<value>[^{SPACE};,\"'\\]{{1,200}}))",
        _cookies,
        any_case=True,
        unfinished=(
            r"(?i)cookie2?[\\\"']{0,3}[ \t]{0,3}(?:[:=,][ \t]{0,3}[\\\"']{0,3}"
            r"(?:[\w.\-]{1,64}(?:=[^\n\"'\\]{0,4300}+)?)?)?\Z"
        ),
    ),
    Rule(
        "cookie",
        ("-b ", "--cookie "),
        r"(?<=[ ])(?:-b|--cookie)[ ][\"']?"
        rf"(?P<secret>[\w.\-]{{1,64}}=(?P<value>[^{SPACE};,\"'\\]{{16,200}}))",
        _cookies,
        unfinished=(r"(?:-b|--cookie)[ ][\"']?(?:[\w.\-]{1,64}(?:=[^\n\"'\\]{0,4300}+)?)?\Z"),
    ),
    Rule(
        "signature",
        ("sig=", "signature=", "response="),
        r"(?i)(?:sig|signature|response)=[\"']?(?P<secret>[A-Za-z0-9%+/_\-]{20,400}+={0,2})",
        _signature,
        any_case=True,
    ),
    Rule(
        "key",
        ("?key=", "&key="),
        r"(?i).key=(?P<secret>[A-Za-z0-9_\-]{6,200}+)",
        _signature,
        any_case=True,
    ),
    Rule(
        "key",
        ("?code=", "&code="),
        r"(?i).code=(?P<secret>[A-Za-z0-9_./\-]{20,400}+(?:=|%3D){0,2})",
        _random,
        any_case=True,
    ),
)
