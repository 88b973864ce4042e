"""Secrets that only their name gives away: password = …, "api_key": "…", --token …"""

from __future__ import annotations

import re

from ollm_tui.services.redaction.rule import SPACE, Rule, Span, compiled, words
from ollm_tui.services.redaction.values import Name, Place, is_secret, is_stand_in

_VALUE_CHARACTERS = 128
"""As many are looked at; a value that is a secret is followed to its end."""
_LONGEST = 4000

_CLOSE = r"[\\\"'`\]]{0,4}+[ \t]{0,30}+"
_TYPE = r"[ \t]{0,4}[A-Za-z_&][\w.\[\]<>|&*?]{0,40}[ \t]{0,4}"
_TAG = r"(?:!!?[a-z]{1,12}[ \t]{1,4})?"
"""Of YAML: what kind of value follows."""
_JOIN = (
    r"(?P<join>[\s,]{0,40}[\\\"']{0,2}value[\\\"']{0,2}[ \t]{0,8}[:=]"
    rf"|=>|:=|->|!?={{1,3}}|:{_TYPE}=(?![=>])|::?(?!/)"
    r"|,(?=[ \t]{0,8}[\\\"'`])|\((?=[ \t]{0,4}[\"'`])|(?<=[ \t])(?:is|was)(?=[ \t])|>|\|(?=[ \t])"
    rf"|(?<=[ \t]))[ \t]{{0,30}}{_TAG}"
)
_STOP = rf"{SPACE}\"'`,;&<>\\"
_GOES_ON = rf"[,;&](?=[^{SPACE}A-Za-z_\"'`<>\\\[{{])"
_LIMIT = f"{{0,{_VALUE_CHARACTERS}}}+"
_VALUE = (
    rf"(?:[bBrRuUfF@$]{{0,2}}(?:\"(?P<double>(?=[^\"\n])[^\"\\\n]{_LIMIT}(?:\\.[^\"\\\n]{_LIMIT}){{0,6}}+)"
    rf"|'(?P<single>(?=[^'\n])[^'\\\n]{_LIMIT}(?:\\.[^'\\\n]{_LIMIT}){{0,6}}+)"
    rf"|`(?P<tick>[^`\n]{{1,{_VALUE_CHARACTERS}}}+))"
    rf"|\\{{1,3}}[\"'](?P<escaped>[^\"'\\\n]{{1,{_VALUE_CHARACTERS}}}+)"
    rf"|(?:&quot;|&\#3[49];|%22)(?P<entity>[^{SPACE}&%\"'`<>\\]{{1,{_VALUE_CHARACTERS}}}+)"
    rf"|(?P<bare>(?:[^{_STOP}]|{_GOES_ON})[^{_STOP}]{_LIMIT}(?:{_GOES_ON}[^{_STOP}]{_LIMIT}){{0,6}}+))"
)
_REST = {
    "double": rf"[^\"\\\n]{{0,{_LONGEST}}}+(?:\\.[^\"\\\n]{_LIMIT}){{0,20}}+",
    "single": rf"[^'\\\n]{{0,{_LONGEST}}}+(?:\\.[^'\\\n]{_LIMIT}){{0,20}}+",
    "tick": rf"[^`\n]{{0,{_LONGEST}}}+",
    "escaped": rf"[^\"'\\\n]{{0,{_LONGEST}}}+",
    "entity": rf"[^{SPACE}&%\"'`<>\\]{{0,{_LONGEST}}}+",
    "bare": rf"[^{_STOP}]{{0,{_LONGEST}}}+",
}
_OPEN_VALUE = (
    r"(?:[bBrRuUfF@$]{0,2}(?:\"(?:[^\"\\\n]{1,99}+|\\.){0,9999}+\\?"
    r"|'(?:[^'\\\n]{1,99}+|\\.){0,9999}+\\?|`[^`\n]{0,9999}+)"
    rf"|\\{{1,3}}(?:[\"'][^\"'\\\n]{{0,9999}}+)?|[^{SPACE}\"'`<>\\]{{0,9999}}+<?)?"
)
_OPEN_JOIN = (
    rf"(?:[=:!>-][=:>]{{0,2}}(?:{_TYPE}=?)?|,|\(|\||[iw]|is|was?"
    r"|[\s,]{0,40}[\\\"']{0,2}(?:v|va|val|valu|value[\\\"']{0,2}[ \t]{0,8}[:=]?)?)?[ \t]{0,30}"
    rf"{_TAG}"
)

_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_LEFT_CHARACTERS = 48
_SURE_KEY = words(
    "api access account secret private auth authentication encryption encrypt signing sign master"
    " storage license shared admin service deploy app application client consumer session jwt hmac"
    " webhook subscription decryption root wallet bot server"
)
_OTHER_KEY = words(
    "public publishable primary foreign cache sort partition group index row object unique hash"
    " routing shard composite idempotency translation i18n pub mon don tur hot tab map s3 dedupe"
    " lookup search storage_object host"
)
_OTHER_TOKEN = words(
    "public next continuation page pagination idempotency cancellation change lock tik"
)
_NO_WORD = r"[0-9@#$%^&*+=~!]"
_OTHER_LANGUAGES = ("kennwort", "contraseña", "senha", "пароль", "密码", "パスワード")
_SHORT = ("pass", "pwd", "psk", "auth")
"""Names that are also words or parts of words."""
_LOGIN = r"(?:\blogin[ \t]+\S{1,30}[ \t]+|\n[ \t]*|\A[ \t]*)\Z"
_TRAILING = ")]},;."
_OPENING = {")": "(", "]": "[", "}": "{"}


def _rule(kind: str, anchor: str, tail: str, name: Name) -> Rule:
    def judge(match: re.Match[str]) -> Span | None:
        return _secret_part(match, name)

    return Rule(
        kind,
        (anchor,),
        f"(?P<name>{tail}){_CLOSE}{_JOIN}{_VALUE}",
        judge,
        any_case=True,
        unfinished=rf"{tail}{_CLOSE}{_OPEN_JOIN}{_OPEN_VALUE}\Z",
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
        r"secrets?(?:[_-]?(?:access[_-]?key|key(?:[_-]?base)?|token|value))?",
        "secret",
    ),
    _rule("token", "token", r"token(?:[_-]?(?:value|secret))?", "secret"),
    _rule("key", "key", r"(?<=[A-Za-z0-9_.\- ])key(?:[_-]?(?:value|data))?", "key"),
    _rule("auth", "auth", r"auth", "key"),
    _rule("credential", "credential", r"credentials?", "key"),
)


def _secret_part(match: re.Match[str], name: Name) -> Span | None:
    group = match.lastgroup or "bare"
    is_bare = group == "bare"
    written, join, value = match.group("name", "join", group)
    if _is_plainly_none(written, join, value, name, is_bare):
        return None
    text, at = match.string, match.start()
    before = text[max(0, at - _LEFT_CHARACTERS) : at]
    known = _certainty(written, before, name)
    if known is None:
        return None
    place = _place(match, written, join, before, is_bare)
    if place is None:
        return None
    if is_bare and value[-1] in _TRAILING:
        value = value[: len(value) - _surplus(value)]
    if not (is_secret(value, known, place) or _is_phrase(value, written, known)):
        return None
    start = match.start(group)
    end = start + len(value)
    if len(value) >= _VALUE_CHARACTERS:
        rest = compiled(_REST[group]).match(text, match.end())
        end = rest.end() if rest else end
    return start, end


def _is_plainly_none(written: str, join: str, value: str, name: Name, is_bare: bool) -> bool:
    """The cases that are by far the most frequent, without looking at what stands around."""
    if name == "key":
        return len(value) < 8 or not compiled("[0-9]").search(value)
    if is_bare and join != "=":
        return len(value) < 20 and not compiled(_NO_WORD).search(value)
    return not join and written.lower() in _SHORT


def _certainty(written: str, before: str, name: Name) -> Name | None:
    """What the whole name says; None if it is the name of something else."""
    if written.lower() in _SHORT:
        last = before[-1:]
        begins = not last.isalpha() or (written[0].isupper() and last.islower())
        return name if begins else None
    if name == "key" and written[:3].lower() == "key":
        if _ends_in(before, _SURE_KEY):
            return "secret"
        return None if before[-1:] == " " or _ends_in(before, _OTHER_KEY) else name
    return None if _ends_in(before, _OTHER_TOKEN) else name


def _ends_in(before: str, words: tuple[str, ...]) -> bool:
    """Whether one of the words stands at the end, perhaps with a joint behind it."""
    lower = before.lower()
    return lower.endswith(words) or (lower[-1:] in "_.- " and lower[:-1].endswith(words))


def _place(
    match: re.Match[str], written: str, join: str, before: str, is_bare: bool
) -> Place | None:
    if join in ("is", "was", ",", "(", "|"):
        return None if written.lower() in _SHORT else "prose"
    around = before.rstrip(_NAME_CHARACTERS)
    prefix = before[len(around) :]
    if join == "":
        if not is_bare:
            return "prose"
        # A word after an option may be the next word of a sentence about it.
        option = prefix.startswith("--")
        return "prose" if option or _follows_login(written, around) else None
    if prefix[:1] == "-" or around[-1:] in ("?", "&"):
        return "given"
    if join == "=" and written.isupper() and prefix == prefix.upper():
        glued = match.start(match.lastgroup or "bare") - match.end("name") <= 2
        if glued:  # only = and perhaps a quote
            return "variable"
    if join == ">":
        follows = match.string[match.end() : match.end() + 2]
        return "quoted" if follows == "</" and around[-1:] == "<" else None
    return "bare" if is_bare else "quoted"


def _follows_login(name: str, before: str) -> bool:
    return name.lower() == "password" and compiled(_LOGIN).search(before) is not None


def _is_phrase(value: str, name: str, known: Name) -> bool:
    """Words that make a password together; a label or a message has short ones among them."""
    parts = value.split(" ")
    if known != "password" or len(parts) < 3 or is_stand_in(value):
        return False
    return "phrase" in name.lower() or all(
        len(part) > 3 and part.isalpha() and part.islower() for part in parts
    )


def _surplus(value: str) -> int:
    """How many characters at the end belong to the text around and not to the value."""
    kept = value
    while kept and kept[-1] in _TRAILING:
        opening = _OPENING.get(kept[-1])
        if opening and kept.count(opening) >= kept.count(kept[-1]):
            break
        kept = kept[:-1]
    return len(value) - len(kept)
