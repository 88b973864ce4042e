"""Which names say that the value beside them is secret, and how sure that is."""

from __future__ import annotations

import re
from typing import NamedTuple

from ollm_tui.services.redaction.rule import words
from ollm_tui.services.redaction.values import Name


class Kind(NamedTuple):
    """One kind of name: what a find is called, the class, its anchors, and the name itself."""

    kind: str
    name: Name
    anchors: tuple[str, ...]
    pattern: str


_PASSWORDS = words(
    "kennwort contraseña contrasena senha wachtwoord hasło haslo parola lösenord salasana heslo"
    " adgangskode şifre пароль 密码 密碼 口令 パスワード 비밀번호"
)
_SHORT = ("pass", "pwd", "pw", "psk", "mdp", "clave", "auth", "pat", "otp", "pin")
"""Names that are also other words, or parts of them."""
_OF = (
    r"(?:[_-](?:prod(?:uction)?|dev(?:elopment)?|stag(?:e|ing)|test|live|db|old|new|v?[0-9]{1,2}))?"
)
"""An ending that tells one of several from the others: API_KEY_PROD."""
_TAIL = (
    r"(?P<tail>(?!_(?:id|hash|digest|fingerprint|checksum|version|name)s?\b)"
    r"(?:_[a-z0-9]{1,20}){1,2})?"
)
"""Any other ending says what the secret is for, or that it is something else: only a value that
can hardly be another thing counts beside it."""

KINDS: tuple[Kind, ...] = (
    Kind(
        "password",
        "password",
        ("pass", "pw", "psk", "mdp", "clave", "phrase", "mnemonic", "community", *_PASSWORDS),
        rf"(?:pass(?:word|wort|wd|ord|phrase|code)?s?[0-9]{{0,2}}|(?<=de[ _-])passe|(?<=otde)passe"
        r"|pwd?|psk|mdp|community|mnemonic|(?<=seed[ _-])phrase|(?<=recovery[ _-])phrase"
        rf"|clave(?![_-]api)|(?:{'|'.join(_PASSWORDS)})(?:et)?)",
    ),
    Kind(
        "secret",
        "secret",
        ("secret", "otp"),
        r"(?:secrets?(?:[_-]?(?:access[_-]?key|key(?:[_-]?base)?|token|value|id|salt|seed|string|code))?"
        r"|otp(?:[ _-]?(?:seed|code))?)",
    ),
    Kind("token", "secret", ("token",), r"token(?:[_-]?(?:value|secret))?"),
    Kind(
        "key",
        "secret",
        ("schl", "clave_api", "chave_api", "cle_api", "clé_api"),
        "schl(?:ue|ü)ssel|(?:clave|chave|cle|clé)_api",
    ),
    Kind("key", "key", ("key",), r"(?<=[A-Za-z0-9_.\- ])key(?:[_-]?(?:value|data))?"),
    Kind(
        "secret",
        "secret",
        ("code",),
        r"(?:(?<=recovery[ _-])|(?<=backup[ _-])|(?<=access[ _-])|(?<=activation[ _-]))codes?",
    ),
    Kind("credential", "key", ("credential", "auth", "_pat"), "credentials?|auth|_pat"),
)

_NETWORKS = words("wifi wlan wpa wpa2 wpa3")
"""Whose keys people choose as they choose passwords."""
_OTHER_KEY = words(
    "public publishable primary foreign cache sort partition group index row object unique hash"
    " routing shard composite idempotency translation i18n pub mon don tur hot tab map s3 dedupe"
    " lookup search host from by"
)
_SURE_KEYS = words("api access secret private license")
_OTHER_TOKEN = words(
    "public next continuation page pagination idempotency cancellation change lock tik publickey"
)
_OTHER_PASS = words("by com over sur tres under im")
"""Beginnings of the words that end in pass."""
_SEPARATORS = re.compile("[-_. ]")
_ARN = re.compile(r":[0-9]{12}:\Z")
"""The account number in an ARN of AWS; what follows it is the name of a resource."""


def pattern_of(kind: Kind) -> str:
    """A pattern for a name of this kind."""
    return rf"(?i:(?:{kind.pattern}){_OF}{_TAIL})(?![A-Za-z0-9_])"


def certainty(written: str, before: str, name: Name) -> Name | None:
    """What the whole name says about the value; None if it is the name of something else."""
    lower = written.lower()
    if is_short(lower):
        last = before[-1:]
        begins = not last.isalpha() or (written[0].isupper() and last.islower())
        if not begins and lower in ("pass", "pwd", "pw"):
            begins = not before.lower().endswith(_OTHER_PASS)
        return name if begins else None
    if name == "password":
        return name
    if _ends_in(before, _NETWORKS):
        return "password"
    if lower.startswith("key"):
        if _ends_in(before, _OTHER_KEY):
            return None
        is_sure = before[-1:] != " " or _ends_in(before, _SURE_KEYS)
        return "secret" if is_sure else name
    return None if _ends_in(before, _OTHER_TOKEN) or _ARN.search(before) else name


def is_short(written: str) -> bool:
    """Whether a name, in lower case, is also another word, or part of one."""
    return len(written) < 6 and written in _SHORT


def _ends_in(before: str, endings: tuple[str, ...]) -> bool:
    """Whether a text ends in one of the words, whatever separates them."""
    return _SEPARATORS.sub("", before[-24:].lower()).endswith(endings)
