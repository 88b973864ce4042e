"""Secrets that only their name gives away: password = …, "api_key": "…", --token …"""

from __future__ import annotations

from functools import partial

from ollm_tui.services.redaction.assignment_grammar import UNFINISHED_AFTER_NAME, after_name
from ollm_tui.services.redaction.assignment_judge import secret_beside
from ollm_tui.services.redaction.rule import Rule, words
from ollm_tui.services.redaction.values import Name

_PASSWORDS = words(
    "kennwort contraseña contrasena senha wachtwoord hasło haslo parola lösenord salasana heslo"
    " şifre пароль 密码 密碼 口令 パスワード 비밀번호"
)
_SHORT_PASSWORDS = words("pwd pw psk mdp clave")
_KEYS = words("schluessel schlüssel clave_api chave_api cle_api clé_api")
_OF = (
    r"(?:[_-](?:prod(?:uction)?|dev(?:elopment)?|stag(?:e|ing)|test|live|db|old|new|v?[0-9]{1,2}))?"
)
"""Of several, which one: API_KEY_PROD."""


def _rule(kind: str, anchor: str, tail: str, name: Name) -> Rule:
    tail += _OF
    return Rule(
        kind,
        (anchor,),
        f"(?P<name>(?i:{tail})){after_name(with_digit=name == 'key')}",
        partial(secret_beside, name),
        any_case=True,
        unfinished=f"(?i:{tail}){UNFINISHED_AFTER_NAME}",
    )


ASSIGNMENTS: tuple[Rule, ...] = (
    _rule("password", "pass", r"pass(?:word|wort|wd|ord|phrase|code)?s?[0-9]{0,2}", "password"),
    # Not as values: a flood of them would be looked at from each one to the end.
    *(_rule("password", word, f"(?<![:=]){word}", "password") for word in _SHORT_PASSWORDS),
    _rule("password", "passe", r"(?:(?<=de[ _-])|(?<=otde))passe", "password"),
    *(_rule("password", word, word, "password") for word in _PASSWORDS),
    *(_rule("key", word, word, "secret") for word in _KEYS),
    _rule(
        "secret",
        "secret",
        r"secrets?(?:[_-]?(?:access[_-]?key|key(?:[_-]?base)?|token|value|id))?",
        "secret",
    ),
    _rule("token", "token", r"token(?:[_-]?(?:value|secret))?", "secret"),
    _rule("key", "key", r"(?<=[A-Za-z0-9_.\- ])key(?:[_-]?(?:value|data))?", "key"),
    _rule("auth", "auth", r"auth", "key"),
    _rule("token", "_pat", r"_pat", "key"),
    _rule("credential", "credential", r"credentials?", "key"),
)
