"""Passwords as systems keep them: whoever has the hash can guess at leisure."""

from __future__ import annotations

from ollm_tui.services.redaction.rule import Rule, token

_SALTED = r"[./A-Za-z0-9]"

_ROUNDS_AND_SALT = rf"(?:rounds=[0-9]{{1,9}}\$)?{_SALTED}{{1,16}}\$"

PASSWORD_HASHES: tuple[Rule, ...] = (
    token("password-hash", "$2a$ $2b$ $2x$ $2y$", rf"\$2[abxy]\$[0-9]{{2}}\${_SALTED}{{53}}"),
    token(
        "password-hash",
        "$1$ $5$ $6$ $apr1$",
        rf"\$(?:[156]|apr1)\${_ROUNDS_AND_SALT}{_SALTED}{{22,86}}+",
    )._replace(opening=_ROUNDS_AND_SALT),
    token(
        "password-hash",
        "$y$ $7$ $gy$",
        rf"\$(?:y|7|gy)\${_SALTED}{{1,16}}\${_SALTED}{{1,86}}\${_SALTED}{{43}}",
    ),
    token(
        "password-hash",
        "$argon2",
        r"\$argon2(?:id|i|d)\$(?:v=[0-9]{1,3}\$)?[a-z0-9=,]{5,40}\$[A-Za-z0-9+/]{8,90}"
        r"\$[A-Za-z0-9+/]{16,180}+",
    ),
    token(
        "password-hash",
        "$scrypt$",
        r"\$scrypt\$[a-z0-9=,]{5,40}\$[A-Za-z0-9+/]{8,90}\$[A-Za-z0-9+/]{16,180}+",
    ),
    token(
        "password-hash",
        "pbkdf2_sha pbkdf2:sha",
        r"pbkdf2[_:]sha[0-9]{1,3}[:$][0-9]{3,8}\$[A-Za-z0-9+/]{4,64}\$[A-Za-z0-9+/]{32,180}+={0,2}",
    ),
    token(
        "password-hash", "{SSHA} {SHA} {SSHA512}", r"\{S?SHA(?:512)?\}[A-Za-z0-9+/]{20,200}+={0,2}"
    ),
)
