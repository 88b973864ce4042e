"""Secrets that only their name gives away: password = …, "api_key": "…", --token …"""

from __future__ import annotations

import re

from ollm_tui.services.redaction.rule import Rule, Span, compiled
from ollm_tui.services.redaction.values import Name, Place, is_secret, is_stand_in

_VALUE_CHARACTERS = 256
"""As many are looked at; a value that is a secret is followed to its end."""
_LONGEST = 4000

_CLOSE = r"[\\\"'`\]]{0,4}+[ \t]{0,30}+"
_TYPE = r"[ \t]{0,4}[A-Za-z_&][\w.\[\]<>|&*?]{0,40}[ \t]{0,4}"
_JOIN = (
    r"(?P<join>[\s,]{0,40}[\\\"']{0,2}value[\\\"']{0,2}[ \t]{0,8}[:=]"
    rf"|=>|:=|->|!?={{1,3}}|:{_TYPE}=(?![=>])|::?(?!/)"
    r"|,(?=[ \t]{0,8}[\\\"'`])|\((?=[ \t]{0,4}[\"'`])|(?<=[ \t])(?:is|was)(?=[ \t])|>"
    r"|(?<=[ \t]))[ \t]{0,30}"
)
_STOP = r"\s\"'`,;&<>\\"
_GOES_ON = r"[,;&](?=[^\sA-Za-z_\"'`<>\\\[{])"
_LIMIT = f"{{0,{_VALUE_CHARACTERS}}}+"
_VALUE = (
    rf"(?:[bBrRuUfF@$]{{0,2}}(?:\"(?P<double>(?=[^\"\n])[^\"\\\n]{_LIMIT}(?:\\.[^\"\\\n]{_LIMIT}){{0,6}}+)"
    rf"|'(?P<single>(?=[^'\n])[^'\\\n]{_LIMIT}(?:\\.[^'\\\n]{_LIMIT}){{0,6}}+)"
    rf"|`(?P<tick>[^`\n]{{1,{_VALUE_CHARACTERS}}}+))"
    rf"|\\{{1,3}}[\"'](?P<escaped>[^\"'\\\n]{{1,{_VALUE_CHARACTERS}}}+)"
    rf"|(?:&quot;|&\#3[49];|%22)(?P<entity>[^\s&%\"'`<>\\]{{1,{_VALUE_CHARACTERS}}}+)"
    rf"|(?P<bare>(?:[^{_STOP}]|{_GOES_ON})[^{_STOP}]{_LIMIT}(?:{_GOES_ON}[^{_STOP}]{_LIMIT}){{0,6}}+))"
)
_REST = {
    "double": rf"[^\"\\\n]{{0,{_LONGEST}}}+(?:\\.[^\"\\\n]{_LIMIT}){{0,20}}+",
    "single": rf"[^'\\\n]{{0,{_LONGEST}}}+(?:\\.[^'\\\n]{_LIMIT}){{0,20}}+",
    "tick": rf"[^`\n]{{0,{_LONGEST}}}+",
    "escaped": rf"[^\"'\\\n]{{0,{_LONGEST}}}+",
    "entity": rf"[^\s&%\"'`<>\\]{{0,{_LONGEST}}}+",
    "bare": rf"[^{_STOP}]{{0,{_LONGEST}}}+",
}
_OPEN_VALUE = (
    r"(?:[bBrRuUfF@$]{0,2}(?:\"(?:[^\"\\\n]{1,99}+|\\.){0,9999}+\\?"
    r"|'(?:[^'\\\n]{1,99}+|\\.){0,9999}+\\?|`[^`\n]{0,9999}+)"
    r"|\\{1,3}(?:[\"'][^\"'\\\n]{0,9999}+)?|[^\s\"'`<>\\]{0,9999}+<?)?"
)
_OPEN_JOIN = (
    rf"(?:[=:!>-][=:>]{{0,2}}(?:{_TYPE}=?)?|,|\(|[iw]|is|was?"
    r"|[\s,]{0,40}[\\\"']{0,2}(?:v|va|val|valu|value[\\\"']{0,2}[ \t]{0,8}[:=]?)?)?[ \t]{0,30}"
)

_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_LEFT_CHARACTERS = 48
_SURE_KEY = (
    r"(?:api|access|account|secret|private|auth|authentication|encryption|encrypt|signing|sign|master"
    r"|storage|license|shared|admin|service|deploy|app|application|client|consumer|session|jwt|hmac"
    r"|webhook|subscription|decryption|root|wallet|bot|server)[_.\- ]?\Z"
)
_OTHER_KEY = (
    r"(?:public|publishable|primary|foreign|cache|sort|partition|group|index|row|object|unique|hash"
    r"|routing|shard|composite|idempotency|translation|i18n|pub|mon|don|tur|hot|tab|map|s3|dedupe"
    r"|lookup|search|storage_object|host)[_.\- ]?\Z"
)
_OTHER_TOKEN = (
    r"(?:public|next|continuation|page|pagination|idempotency|cancellation|change|lock|tik)"
    r"[_.\- ]?\Z"
)
_NO_WORD = r"[0-9@#$%^&*+=~!]"
_SHORT = ("pass", "pwd", "auth")
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
    _rule("password", "pass", r"pass(?:word|wort|wd|phrase|code)?s?[0-9]{0,2}", Name.PASSWORD),
    _rule("password", "pwd", r"pwd", Name.PASSWORD),
    _rule(
        "secret",
        "secret",
        r"secrets?(?:[_-]?(?:access[_-]?key|key(?:[_-]?base)?|token|value))?",
        Name.SECRET,
    ),
    _rule("token", "token", r"token(?:[_-]?(?:value|secret))?", Name.SECRET),
    _rule("key", "key", r"(?<=[A-Za-z0-9_.\- ])key(?:[_-]?(?:value|data))?", Name.KEY),
    _rule("auth", "auth", r"auth", Name.KEY),
    _rule("credential", "credential", r"credentials?", Name.KEY),
)


def _secret_part(match: re.Match[str], name: Name) -> Span | None:
    group = match.lastgroup or "bare"
    start, end = match.span(group)
    if _is_plainly_none(match, group, name):
        return None
    before = match.string[max(0, match.start() - _LEFT_CHARACTERS) : match.start()]
    prefix = before[len(before.rstrip(_NAME_CHARACTERS)) :]
    known = _certainty(match["name"], before, name)
    place = _place(match, group, before[: len(before) - len(prefix)], prefix)
    if known is None or place is None:
        return None
    if group == "bare":
        end -= _surplus(match[group])
    value = match.string[start:end]
    if not (is_secret(value, known, place) or _is_phrase(value, match["name"], known)):
        return None
    if len(value) >= _VALUE_CHARACTERS:
        rest = compiled(_REST[group]).match(match.string, match.end())
        end = rest.end() if rest else end
    return start, end


def _is_plainly_none(match: re.Match[str], group: str, name: Name) -> bool:
    """The cases that are by far the most frequent, without looking at what stands around."""
    start, end = match.span(group)
    if name is Name.KEY:
        return end - start < 8 or not compiled("[0-9]").search(match.string, start, end)
    if group == "bare" and match["join"] != "=":
        return end - start < 20 and not compiled(_NO_WORD).search(match.string, start, end)
    return not match["join"] and match["name"].lower() in _SHORT


def _certainty(written: str, before: str, name: Name) -> Name | None:
    """What the whole name says; None if it is the name of something else."""
    if written.lower() in _SHORT:
        last = before[-1:]
        begins = not last.isalpha() or (written[0].isupper() and last.islower())
        return name if begins else None
    if name is Name.KEY and written[:3].lower() == "key":
        if compiled(_SURE_KEY, True).search(before):
            return Name.SECRET
        return None if before[-1:] == " " or compiled(_OTHER_KEY, True).search(before) else name
    return None if compiled(_OTHER_TOKEN, True).search(before) else name


def _place(match: re.Match[str], group: str, before: str, prefix: str) -> Place | None:
    join = match["join"]
    if join in ("is", "was", ",", "("):
        return None if match["name"].lower() in _SHORT else Place.PROSE
    given = prefix.startswith("-") or before[-1:] in ("?", "&")
    if join == "":
        if group != "bare":
            return Place.PROSE
        # A word after an option may be the next word of a sentence about it.
        option = prefix.startswith("--")
        return Place.PROSE if option or _follows_login(match["name"], before) else None
    if given:
        return Place.GIVEN
    glued = match.start(group) - match.end("name") <= 2  # only = and perhaps a quote
    if join == "=" and glued and match["name"].isupper() and prefix == prefix.upper():
        return Place.VARIABLE
    if join == ">":
        follows = match.string[match.end() : match.end() + 2]
        return Place.QUOTED if follows == "</" and before[-1:] == "<" else None
    return Place.BARE if group == "bare" else Place.QUOTED


def _follows_login(name: str, before: str) -> bool:
    return name.lower() == "password" and compiled(_LOGIN).search(before) is not None


def _is_phrase(value: str, name: str, known: Name) -> bool:
    """Words that make a password together; a label or a message has short ones among them."""
    words = value.split(" ")
    if known is not Name.PASSWORD or len(words) < 3 or is_stand_in(value):
        return False
    return "phrase" in name.lower() or all(
        len(w) > 3 and w.isalpha() and w.islower() for w in words
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
