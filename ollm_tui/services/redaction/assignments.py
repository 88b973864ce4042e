"""Rules for secrets that are known only by their name: password = …, "api_key": "…", --token …"""

from __future__ import annotations

import re
from functools import partial

from ollm_tui.services.redaction.joins import (
    AFTER_NAME,
    BEFORE_QUOTE,
    COPULA,
    OPEN_AFTER_NAME,
    VALUE_CHARACTERS,
)
from ollm_tui.services.redaction.rule import REACH_BACK, SPACE, Rule, Span, compiled, words
from ollm_tui.services.redaction.values import (
    Name,
    Place,
    is_chosen,
    is_hyphenated,
    is_mixed,
    is_secret,
    is_stand_in,
    is_wild,
    needs_no_name,
)

_LONGEST = 4000
"""How far a value is followed."""

_STOP = rf"{SPACE}\"'`,;&<>\\"
_GOES_ON = rf"[,;&](?=[^{SPACE}A-Za-z_\"'`<>\\\[{{])"
_ENCODED = rf"(?:[^{SPACE}&%\"'`<>\\]|%(?!2[26Cc]|7[Dd]|0[AaDd]|3[Bb]))"
"""A character of a value in a text that was encoded for a URL."""
_LIMIT = f"{{0,{VALUE_CHARACTERS}}}+"
_VALUE = (
    rf"(?:{BEFORE_QUOTE}(?:\"(?P<double>(?=[^\"\n])[^\"\\\n]{_LIMIT}(?:\\.[^\"\\\n]{_LIMIT}){{0,6}}+)"
    rf"|'(?P<single>(?=[^'\n])[^'\\\n]{_LIMIT}(?:\\.[^'\\\n]{_LIMIT}){{0,6}}+)"
    rf"|`(?P<tick>[^`\n]{{1,{VALUE_CHARACTERS}}}+))"
    rf"|\\{{1,3}}[\"'](?P<escaped>[^\"'\\\n]{{1,{VALUE_CHARACTERS}}}+)"
    rf"|(?:(?i:&quot;)|&\#3[49];|%22)(?P<entity>[^{SPACE}&%\"'`<>\\]{{1,{VALUE_CHARACTERS}}}+)"
    rf"|(?:(?<=%3[ADad])|(?<=%2[02]))(?P<encoded>{_ENCODED}{{1,{VALUE_CHARACTERS}}}+)"
    rf"|(?!\$[({{]|[{{\[])(?P<bare>(?:[^{_STOP}]|{_GOES_ON})[^{_STOP}]{_LIMIT}(?:{_GOES_ON}[^{_STOP}]{_LIMIT}){{0,6}}+))"
)
REST = {
    "double": rf"[^\"\\\n]{{0,{_LONGEST}}}+(?:\\.[^\"\\\n]{_LIMIT}){{0,20}}+",
    "single": rf"[^'\\\n]{{0,{_LONGEST}}}+(?:\\.[^'\\\n]{_LIMIT}){{0,20}}+",
    "tick": rf"[^`\n]{{0,{_LONGEST}}}+",
    "escaped": rf"[^\"'\\\n]{{0,{_LONGEST}}}+",
    "entity": rf"[^{SPACE}&%\"'`<>\\]{{0,{_LONGEST}}}+",
    "encoded": rf"{_ENCODED}{{0,{_LONGEST}}}+",
    "bare": rf"[^{_STOP}]{{0,{_LONGEST}}}+",
}
_OPEN_VALUE = (
    rf"(?:{BEFORE_QUOTE}"
    r"(?:\"(?:[^\"\\\n]{1,99}+|\\.){0,9999}+\\?"
    r"|'(?:[^'\\\n]{1,99}+|\\.){0,9999}+\\?|`[^`\n]{0,9999}+)"
    rf"|\\{{1,3}}(?:[\"'][^\"'\\\n]{{0,9999}}+)?|[^{SPACE}\"'`<>\\]{{0,9999}}+<?)?"
)
# Beside the name of a key a value without a digit is no secret, so it need not match at all.
_DIGIT_AHEAD = rf"(?=[^0-9\n]{{0,{VALUE_CHARACTERS + 8}}}+[0-9])"
UNFINISHED_AFTER_NAME = rf"{OPEN_AFTER_NAME}{_OPEN_VALUE}\Z"


def after_name(*, with_digit: bool) -> str:
    """A pattern for what follows a name. Its groups are `join`, and one named after the quotes."""
    ahead = _DIGIT_AHEAD if with_digit else ""
    return f"{AFTER_NAME}{ahead}{_VALUE}"


_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_LEFT_CHARACTERS = 48
_SURE_KEY = words(
    "api access account secret private auth authentication encryption encrypt signing sign master"
    " storage license shared admin service deploy app application client consumer session jwt hmac"
    " webhook subscription decryption root wallet bot server wifi wpa network product activation"
    " registration recovery"
)
_NETWORKS = words("wifi wi-fi wlan wpa wpa2 wpa3")
"""Whose keys people choose as they choose passwords."""
_OTHER_KEY = words(
    "public publishable primary foreign cache sort partition group index row object unique hash"
    " routing shard composite idempotency translation i18n pub mon don tur hot tab map s3 dedupe"
    " lookup search storage_object host"
)
_OTHER_TOKEN = words(
    "public next continuation page pagination idempotency cancellation change lock tik publickey"
)
_NO_WORD = re.compile(r"[0-9@#$%^&*+=~!_]")
_DIGIT = re.compile("[0-9]")
_OPTION = r"(?<![A-Za-z0-9])--?[a-z-]{0,20}\Z"
_NEXT_OPTION = r"[ \t]{1,4}--?[a-z]"
_SHORT = ("pass", "pwd", "pw", "psk", "mdp", "clave", "auth")
"""Names of passwords that are also other words, or parts of them."""
_PLAIN_JOINS = (":", "=", "")
_OTHER_PASS = words("by com over sur tres under im")
"""Beginnings of the words that end in pass."""
_ALSO_WORDS = ("pass", "auth", "clave")
"""Those of them that are words of sentences."""
_VERBS = (
    rf"{COPULA}|has|to|remains|equals|becomes|should|must|will|shall|can"
    r"|set|changed|reset|updated|rotated"
)
_SAID = (
    rf"(?i:{_VERBS})\b|(?:[(]|\w{{2,4}}\s)[^\n]{{0,260}}\s(?:{COPULA}|to|[–—→-])\Z"
    r"|[,({|?–—→-]\Z|\|\||\?\?"
)
_USERS = ("user", "login", "uid", "mail", "account")
_PAIRED = (
    r"(?i)(?:user(?:[_ -]?(?:name|id))?|login|uid|e-?mail|account)[\"']?[ \t]{0,4}[:=][ \t]{0,4}"
    r"(?P<user>[^\s(){},]{1,60}?),?[\s;&|]{1,20}[\w.-]{0,20}\Z"
)
"""The name of a user just before that of a password: what follows is no word of a sentence."""
_TO = r"to\Z|(?:for|of|on|at|from)\s[^\n]{0,260}\sto\Z"
_CHANGES = r"(?i)\b(?:set|chang|reset|updat|rotat)[a-z]{0,3}\b[^.\n]{0,40}\Z"
_NETRC = (
    r"(?:\b(?:machine[ \t]+\S{1,60}|default)\s{1,20}|\n[ \t]*)"
    r"login[ \t]+\S{1,40}(?:\s{1,20}account[ \t]+\S{1,40})?\s{1,20}\Z"
)
_LOGIN = r"(?:\blogin[ \t]+\S{1,30}[ \t]+|\n[ \t]*|\A[ \t]*)\Z"
_WITH = (
    r"(?i)(?:\b(?:with|using|use|tried|try|mit(?:[ ]dem)?|avec(?:[ ]le)?|con(?:[ ]la)?|com[ ]a|met)"
    r"(?:[ ]the|[ ]mot[ ]de)?[ \t]{1,4}"
    r"|\b(?:user(?:name)?|login|benutzer|utilisateur|identifiant|usuario|admin|root|wifi[ ]connect)"
    r"[ \t]+(?:[\w.@-]{1,40},?[ \t]+(?:and[ ]|und[ ]|et[ ]|y[ ]|mot[ ]de[ ])?)?)\Z"
)
"""What comes before `password secret1` where no other word would follow."""
_LEAST_GIVEN = 7
_ARN = r":[0-9]{12}:\Z"
"""The account number in an ARN of AWS; what follows it is the name of a resource."""
_NAMED = r"(?:(?:key|name)=[\"']|<[\w.-]{1,30}:)\Z"
"""What comes before a name in the opening tag of its value, other than the < alone."""
_TAG_END = re.compile(r"(?<![=-])>\s*\Z|CDATA\[\Z")
_CLOSING_TAG = r"\s{0,40}(?:\]{0,2}>\s{0,40})?</"
_FIRST_OF_CALL = r"\w\([\"'][\w.#\[@=-]{0,40}\Z"
_SQL = (
    r"(?i)(?:#define[ \t]{1,4}[\w]{0,30}"
    r"|\b(?:with|encrypted|login|(?:user|role)[ \t]+\S{1,40})[ \t]+)\Z"
)
"""What comes before PASSWORD and a value in quotes, in SQL and in C."""
_ASSIGNING = ("=", ":=", "==", "<-")
_IN_CODE = (
    r"(?:[(,][ \t]{0,8}|[({,]\s{0,30}|\b(?:let|const|var|if|for|and|or|not|return)[ \t]{1,4})\Z"
)
"""What comes before a name in a call, a declaration or a condition."""
_SETTING_ENDS = r"[ \t]{0,8}(?:\r?\n|\Z)|[;&\"'][^\r\n]|[ \t]+[\w./-]|,[A-Za-z_]"
"""What follows a setting: nothing else on its line, or the next one. Not the end of a statement."""
_TRAILING = ")]},;."
_OPENING = {")": "(", "]": "[", "}": "{"}


def secret_beside(name: Name, match: re.Match[str]) -> Span | None:
    """The part of a match of `after_name` that is secret, or None."""
    group = match.lastgroup or "bare"
    written, join, value = match.group("name", "join", group)
    is_bare = group == "bare"
    if not join and written.lower() in _SHORT and not (_is_option(match) or _is_with(match)):
        return None
    if is_bare and value[-1] in _TRAILING:
        value = value[: len(value) - _surplus(value)]
    if _is_plainly_none(join, value, name, is_bare) and not (
        name == "password" and _is_paired(match, value)
    ):
        return None
    text, at = match.string, match.start()
    before = text[at - _LEFT_CHARACTERS if at > _LEFT_CHARACTERS else 0 : at]
    known = _certainty(written, before, name)
    if known is None:
        return None
    place = _place(match, known, written, join, before, is_bare)
    if place is None:
        return None
    if not (
        is_secret(value, known, place)
        or _is_phrase(value, written, "password" if place == "variable" else known)
        or (known == "password" and _is_paired(match, value))
    ):
        return None
    start = match.start(group)
    if len(value) < VALUE_CHARACTERS:
        return start, start + len(value)
    rest = compiled(REST[group]).match(text, match.end())
    return start, rest.end() if rest else start + len(value)


def _is_option(match: re.Match[str]) -> bool:
    """Whether the name is that of an option: -pw, -storepass."""
    at = match.start()
    left = at - _LEFT_CHARACTERS if at > _LEFT_CHARACTERS else 0
    if "-" not in match.string[left:at]:
        return False
    return compiled(_OPTION).search(match.string, left, at) is not None


def _is_with(match: re.Match[str]) -> bool:
    """Whether a word that is often another one is a name here: with pw …"""
    return match.string[max(0, match.start() - 6) : match.start()].endswith(("with ", "using "))


def _is_paired(match: re.Match[str], value: str) -> bool:
    """Whether a word is a password because the name of its user is beside it."""
    if not (5 < len(value) < 25 and value.isascii() and value.isalpha()) or is_stand_in(value):
        return False
    at = match.start()
    before = match.string[at - REACH_BACK if at > REACH_BACK else 0 : at].lower()
    if not any(who in before for who in _USERS):  # much faster than the search
        return False
    pair = compiled(_PAIRED).search(match.string, max(0, at - REACH_BACK), at)
    return pair is not None and pair["user"] != value  # else both are of one type


def _is_plainly_none(join: str, value: str, name: Name, is_bare: bool) -> bool:
    """Whether a value is no secret, for the most frequent cases, without looking around it."""
    if name == "key":
        return len(value) < 8 or not _DIGIT.search(value)
    if not is_bare or join == "=" or (len(value) >= 20 and name != "password"):
        return False
    if _TAG_END.search(join):
        return False
    return not (_NO_WORD.search(value) or is_wild(value) or is_hyphenated(value))


def _certainty(written: str, before: str, name: Name) -> Name | None:
    """What the whole name says about the value; None if it is the name of something else."""
    if len(written) < 6 and written.lower() in _SHORT:
        last = before[-1:]
        begins = not last.isalpha() or (written[0].isupper() and last.islower())
        if not begins and written.lower() == "pass":
            begins = not before.lower().endswith(_OTHER_PASS)
        return name if begins else None
    if name == "password":
        return name
    if _ends_in(before, _NETWORKS):
        return "password"
    if name == "key" and written[:3].lower() == "key":
        if _ends_in(before, _SURE_KEY):
            return "secret"
        return None if before[-1:] == " " or _ends_in(before, _OTHER_KEY) else name
    return None if _ends_in(before, _OTHER_TOKEN) or compiled(_ARN).search(before) else name


def _ends_in(before: str, words: tuple[str, ...]) -> bool:
    """Whether a text ends in one of the words, perhaps with a separator behind it."""
    lower = before.lower()
    return lower.endswith(words) or (lower[-1:] in "_.- " and lower[:-1].endswith(words))


def _place(
    match: re.Match[str], known: Name, written: str, join: str, before: str, is_bare: bool
) -> Place | None:
    """Where the value is; None if it does not belong to the name."""
    if join not in _PLAIN_JOINS and compiled(_SAID).match(join):
        return _said(written, join, before, is_bare)
    around = before.rstrip(_NAME_CHARACTERS)
    prefix = before[len(around) :]
    if join == "":
        if is_bare:
            return _beside(match, known, prefix, around)
        if prefix.startswith("-"):
            return "given"
        return "assigned" if compiled(_SQL).search(around) else "mentioned"
    if prefix[:1] == "-" or around[-1:] in ("?", "&"):
        return "given"
    if join == "=":
        # Nothing but = and perhaps a quote in between.
        glued = match.start(match.lastgroup or "bare") - match.end("name") <= 2
        if glued and written.isupper() and prefix == prefix.upper():
            return "variable"
        if glued and is_bare and _is_setting(match, around):
            return "setting"
    elif _TAG_END.search(join) and "</" not in join:
        is_element = around[-1:] == "<" or compiled(_NAMED).search(around)
        is_closed = compiled(_CLOSING_TAG).match(match.string, match.end())
        return "quoted" if is_element and is_closed else None
    if is_bare:
        return "bare"
    return "assigned" if join in _ASSIGNING else "quoted"


def _is_setting(match: re.Match[str], around: str) -> bool:
    """Whether name=value is all there is between spaces or semicolons, as in no call."""
    if compiled(_IN_CODE).search(around):
        return False
    return compiled(_SETTING_ENDS).match(match.string, match.end()) is not None


def _said(written: str, join: str, before: str, is_bare: bool) -> Place | None:
    """Where a value in a sentence, a list or a call is; None if it is not that of the name."""
    if written.lower() in _ALSO_WORDS:
        return None
    if compiled(_TO).match(join) and not compiled(_CHANGES).search(before + join):
        return None
    if is_bare:
        return "prose"
    if join == ",":
        is_pair = compiled(_FIRST_OF_CALL).search(before)
        return "assigned" if written.isupper() else "mentioned" if is_pair else "prose"
    return "mentioned"


def _beside(match: re.Match[str], name: Name, prefix: str, around: str) -> Place | None:
    """Where a value is that has only a space before it; None if it is not that of the name."""
    value = match["bare"]
    if prefix.startswith("-"):
        # A plain word after an option may be part of a sentence about it.
        is_given = is_mixed(value) or compiled(_NEXT_OPTION).match(match.string, match.end())
        return "given" if is_given or (not value.islower() and not value.isupper()) else "prose"
    if match["name"].lower() == "password":
        if compiled(_NETRC).search(match.string, max(0, match.start() - REACH_BACK), match.start()):
            return "given"
        if compiled(_LOGIN).search(around):
            return "prose"
    if name == "password":
        is_given = match["name"].lower() in _SHORT or compiled(_WITH).search(around)
        if is_given and is_mixed(value) and len(value) >= _LEAST_GIVEN:
            return "bare"
        if is_chosen(value) or is_hyphenated(value):
            return "prose"
    return "prose" if needs_no_name(value) else None


def _is_phrase(value: str, name: str, known: Name) -> bool:
    """Whether words make a password together; a label or a message has short ones among them."""
    parts = value.split(" ")
    if known != "password" or len(parts) < 3 or is_stand_in(value):
        return False
    return "phrase" in name.lower() or all(
        len(part) > 3 and part.isalpha() and part.islower() for part in parts
    )


def _surplus(value: str) -> int:
    """How many characters at the end of a value belong to the text around it."""
    kept = value
    while kept and kept[-1] in _TRAILING:
        opening = _OPENING.get(kept[-1])
        if opening and kept.count(opening) >= kept.count(kept[-1]):
            break
        kept = kept[:-1]
    return len(value) - len(kept)


_PASSWORDS = words(
    "kennwort contraseña contrasena senha wachtwoord hasło haslo parola lösenordet lösenord"
    " salasana heslo adgangskode şifre пароль 密码 密碼 口令 パスワード 비밀번호"
)
_SHORT_PASSWORDS = words("psk mdp clave")
_KEYS = words("schluessel schlüssel clave_api chave_api cle_api clé_api")
_OF = (
    r"(?:[_-](?:prod(?:uction)?|dev(?:elopment)?|stag(?:e|ing)|test|live|db|old|new|v?[0-9]{1,2}))?"
)
"""An ending that tells one of several from the others: API_KEY_PROD."""


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
    # Not right after : or =, as a value: a flood of them would be searched to its end from each.
    _rule("password", "pw", "(?<![:=])pwd?", "password"),
    *(_rule("password", word, f"(?<![:=]){word}", "password") for word in _SHORT_PASSWORDS),
    _rule("password", "passe", r"(?:(?<=de[ _-])|(?<=otde))passe", "password"),
    *(_rule("password", word, word, "password") for word in _PASSWORDS),
    *(_rule("key", word, word, "secret") for word in _KEYS),
    _rule(
        "secret",
        "secret",
        r"secrets?(?:[_-]?(?:access[_-]?key|key(?:[_-]?base)?|token|value|id|salt|seed|string|code))?",
        "secret",
    ),
    _rule("token", "token", r"token(?:[_-]?(?:value|secret))?", "secret"),
    _rule("key", "key", r"(?<=[A-Za-z0-9_.\- ])key(?:[_-]?(?:value|data))?", "key"),
    _rule("secret", "otp", r"otp(?:[ _-]?(?:seed|code))?", "secret"),
    _rule(
        "secret",
        "code",
        r"(?:(?<=recovery[ _-])|(?<=backup[ _-])|(?<=access[ _-])|(?<=activation[ _-]))codes?",
        "secret",
    ),
    _rule("auth", "auth", r"auth", "key"),
    _rule("token", "_pat", r"_pat", "key"),
    _rule("credential", "credential", r"credentials?", "key"),
)
