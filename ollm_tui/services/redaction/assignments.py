"""Secrets that only their name gives away: password = …, "api_key": "…", --token …"""

from __future__ import annotations

from functools import partial

from ollm_tui.services.redaction.assignment_grammar import UNFINISHED_AFTER_NAME, after_name
from ollm_tui.services.redaction.assignment_judge import secret_beside
from ollm_tui.services.redaction.rule import Rule
from ollm_tui.services.redaction.values import Name

_OTHER_LANGUAGES = ("kennwort", "contraseña", "senha", "пароль", "密码", "パスワード")


def _rule(kind: str, anchor: str, tail: str, name: Name) -> Rule:
    return Rule(
        kind,
        (anchor,),
        f"(?P<name>(?i:{tail})){after_name(with_digit=name == 'key')}",
        partial(secret_beside, name),
        any_case=True,
        unfinished=f"(?i:{tail}){UNFINISHED_AFTER_NAME}",
    )


ASSIGNMENTS: tuple[Rule, ...] = (
    _rule("password", "pass", r"pass(?:word|wort|wd|phrase|code)?s?[0-9]{0,2}", "password"),
    _rule("password", "pwd", r"pwd", "password"),
    _rule("password", "psk", r"psk", "password"),
    _rule("password", "passe", r"(?<=de )passe", "password"),
    *(_rule("password", word, word, "password") for word in _OTHER_LANGUAGES),
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
