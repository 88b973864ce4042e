"""Tells what a value looks like, and whether that is enough for a secret where it stands."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import Literal

Name = Literal["password", "secret", "key"]
"""What a name says about the value beside it. `password`: people choose it, so a word may be one.
`secret`: tokens and API keys, made by machines. `key`: any other key, which may be that of a
table, too."""

Place = Literal["value", "quoted", "handed", "code", "said", "loose"]
"""What else could be where a value is. `value`: nothing, as in NAME=…, an option or a query.
`quoted`: a label or a message, in quotes. `handed`: any other text in a call or a list. `code`: a
variable or a type, without quotes. `said`: a word of the sentence that tells what the secret is.
`loose`: any word that happens to follow."""


class Look(IntEnum):
    """What a value looks like, from what is no secret to what can hardly be anything else."""

    OTHER = 0
    """A placeholder, a path, an address, a type, the name of another secret."""
    WORD = 1
    """A word or a number."""
    NAME = 2
    """Words and numbers with separators: correcthorse-42, but also release-2.3.1."""
    CHOSEN = 3
    """A word and something that makes it a password: kiwi9, Grapefruit_9."""
    MARKED = 4
    """Symbols, digits and capitals where words have none: s3cr3tP@ss!"""
    RANDOM = 5
    """Long, and made by a machine."""
    NEVER = 6
    """What no value looks like."""


_NEEDED: dict[Name, dict[Place, Look]] = {
    "password": {
        "value": Look.WORD,
        "quoted": Look.NAME,
        "handed": Look.NAME,
        "code": Look.NAME,
        "said": Look.CHOSEN,
        "loose": Look.MARKED,
    },
    "secret": {
        "value": Look.NAME,
        "quoted": Look.CHOSEN,
        "handed": Look.CHOSEN,
        "code": Look.MARKED,
        "said": Look.MARKED,
        "loose": Look.RANDOM,
    },
    "key": {
        "value": Look.RANDOM,
        "quoted": Look.RANDOM,
        "handed": Look.RANDOM,
        "code": Look.RANDOM,
        "said": Look.RANDOM,
        "loose": Look.NEVER,
    },
}
"""The surer the name and the place, the less a value has to show."""
_SHORTEST: dict[Name, int] = {"password": 5, "secret": 8, "key": 16}

_WORDS = (
    "none null nil undefined true false yes no on off empty unset missing unknown default"
    " string str text bytes byte int integer uint number float bool boolean object array any void"
    " char varchar required optional nullable invalid valid expired incorrect wrong confirmed"
    " hidden masked removed disabled enabled generated encrypted hashed plain raw"
    " passphrase password passwd pass pwd pw secret token apikey api key credential auth bearer"
    " basic digest hash salt login user username admin root guest account postgres mysql localhost"
    " csrf session access refresh client encryption authentication authorization confirmation"
    " test testing demo todo fixme tbd your my the some new old current confirm repeat forgot reset"
    " change me it replace insert enter placeholder redacted example sample here goes is has show"
    " hide in are was be been have must should cannot can will db value type field input output"
    " private public automatic internal external anonymous"
    " identifier await async return function self this import from with args arg param var val tmp"
    " temp step col row item data line name obj opt option part group match node ctx req res foo"
    " bar baz version level page passwort kennwort contraseña contrasena senha hasło parola пароль"
)
_ANY_WORD = "|".join(sorted(_WORDS.split(), key=len, reverse=True))
_MADE_OF_WORDS = re.compile(
    rf"(?:(?:{_ANY_WORD})s?(?:[-_. ]|[0-9]{{1,3}}(?=[a-z]))?)++[0-9]{{0,2}}\Z"
)
"""What documents and programs write in place of a secret, or for its type, or to refer to it."""
_REFERENCE = re.compile(
    r"(?i)pass|secret|token|key|cred|pwd|field|input|text|valid|hash|label|type|string|env|config"
)
"""What names of variables, types and labels have in them."""
_FILLER = re.compile(
    r"xxxx|\*\*\*|\.\.\.|••|####|\{\{|\$\{|your|change[-_ ]?(?:me|it)|placeholder"
    r"|replace(?:[-_ ]|me)|insert[-_ ]|example|sample|redacted|goes[-_ ]?here|[-_]here\Z"
    r"|process\.env|os\.environ|(?:min|max)(?:length|:)|\{[a-z_][\w.]*\}|<[a-z_][\w -]*>|%\(\w+\)s"
)
"""What is only found in placeholders, unless the rest is random."""
_ADDED = re.compile(r"[0-9]{2}[!@#$%^&*]\Z")
"""What somebody adds to a placeholder who is told to choose a stronger password."""
_SHAPE = re.compile(
    r"""
    id= | [<{[] | \$[({] | \$[a-z_]\w*\Z | \$\d\Z | \$env: | %[a-z_]\w*%\Z | %[sdrv]\Z | %env\(
    | @?[*&!][a-z_][\w-]*\Z | \#[0-9a-f]{3,8}\Z | 0x[0-9a-f]{1,16}\Z | \.\. | … | (.)\1*\Z
    | (?: (?:sha|md|hs|rs|es|ps|aes|rsa|ed|utf|base|http|oauth|oidc|argon|tls|ssl|secp|hmac|pbkdf
        |uuid|curve|ecdsa|blake|crc|u?int) [-_]? \d{1,5} [a-z]{0,6}\d? | [xpv]\d{1,4} )
        (?:[-_/:.][a-z0-9]{1,12}){0,8} \Z
    | (?:~|\.{1,2})?/[\w.-]+/ | \.{1,2}/ | ~/ | [a-z]:[\\/] | /[\w.-]+\Z | [\w.-]+:// | /[\^(]
    | [\w-]+:[x*!]?:\d+: | arn:aws
    | [\w./-]+\.(?:txt|json|ya?ml|toml|pem|key|crt|env|py|js|ts|md|html?|conf|ini)\Z
    """,
    re.VERBOSE,
)
"""Variables, formats, colours, algorithms, paths, addresses and file names, in lower case."""

_CALL = re.compile(r"[\w.$:>?!-]*[()\[\]{}]")
_CODE_PATH = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*[!?]?)+;?")
_CONSTANT = re.compile(
    r"[A-Z]+(?:_[A-Z]+)+|[A-Za-z_-]*[a-z_-](?:Pass(?:word|phrase)|Secret|Token|Key)"
)
"""A constant or a variable, which only refers to a secret."""
_HUMPS = re.compile(r"[A-Za-z]*[a-z][_-]?[A-Z][A-Za-z_-]*")
"""Words that are told apart by capitals: TangerineDream, Blue_Heron."""
_PHRASE = re.compile(r"[a-z]{1,12}(?:-[a-z]{1,12}){3,11}")
"""Four words and more, as people are told to make passwords."""
_GROUPS = re.compile(r"[a-z]{4}(?: [a-z]{4}){3}")
"""A password that is shown in groups, so that people can type it."""
_MOST_WORDS = 3
"""Words of a password that has spaces in it; with more it is a sentence about passwords."""
_PART = re.compile(r"[-_./:, |@+]+")
_WORDLIKE = re.compile(r"(?i)[a-z]*[0-9]{0,2}|[0-9]{1,8}[a-z]{0,2}|[a-z][0-9]{1,2}[a-z]")
_NUMBERED = re.compile(r"[^_]*_.*[0-9]|(?=.*[A-Z]).{8,}[0-9]{2}")
_MARK = re.compile(r"(?<!\A)[#$%^&~!](?!\Z)|[0-9]!\Z|(?<!\A)[@*+=](?=.*[0-9])(?!\Z)|[0-9].*[@*+=].")
"""Symbols that neither URLs nor code have inside of a word."""
_SYMBOL = re.compile(r"(?<!\A)[@#$%^&*+=~!](?!\Z)")
_DIGIT = re.compile("[0-9]")
_LETTER = re.compile("[A-Za-z]")
_SWITCH = re.compile("(?=[0-9][A-Za-z]|[A-Za-z][0-9]|[a-z][A-Z])")
"""Where letters, digits and cases change as between words, or as in no word at all."""
_CASED_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]")


@lru_cache(maxsize=1024)
def look_of(value: str) -> Look:
    """What a value looks like, wherever it is."""
    if len(value) < 5:
        return Look.OTHER
    if not value.isalnum() and (parts := value.split()) != [value]:
        return _look_of_words(value, parts)
    switches = len(_SWITCH.findall(value))
    lower = value.lower()
    if _is_other(value, lower, switches):
        return Look.OTHER
    has_letter = _LETTER.search(value) is not None
    is_mixed = has_letter and _DIGIT.search(value) is not None
    if _is_readable(value):
        if (is_mixed and _NUMBERED.fullmatch(value)) or _PHRASE.fullmatch(value):
            return Look.CHOSEN
        return Look.NAME if is_mixed or _is_joined(value) else _word(value)
    if _is_cased_wildly(value, 20) or (is_mixed and _is_long(value, switches)):
        return Look.RANDOM
    if has_letter and (switches > 2 or _MARK.search(value) or _is_cased_wildly(value, 10)):
        return Look.MARKED if len(value) > 6 else Look.CHOSEN
    if is_mixed or (has_letter and _SYMBOL.search(value)):
        return Look.CHOSEN
    return Look.NAME if _is_joined(value) else _word(value)


@lru_cache(maxsize=1024)
def is_secret(value: str, name: Name, place: Place) -> bool:
    """Whether the value beside a name is a secret."""
    if len(value) < _SHORTEST[name]:
        return False
    if " " in value and place not in ("value", "quoted"):
        return False  # between two apostrophes of a sentence
    look = look_of(value)
    if place == "quoted" and look == Look.WORD and name == "password":
        return len(value) > 7 and value.islower()  # labels begin with a capital
    if look < _NEEDED[name][place]:
        return False
    return place != "code" or not (is_code(value) or _is_identifier(value))


def is_code(value: str) -> bool:
    """Whether a value without quotes is a call, an index or a path of names."""
    if _CALL.match(value):
        return True
    return _CODE_PATH.fullmatch(value) is not None and look_of(value) < Look.RANDOM


def is_reference(value: str) -> bool:
    """Whether a value has in it what the names of variables and fields have."""
    return _REFERENCE.search(value) is not None


def is_phrase(value: str, *, is_sure: bool, is_quoted: bool) -> bool:
    """Whether several words are a password together, and no label or message."""
    parts = value.split()
    if len(parts) < 3 or is_stand_in(value):
        return False
    if is_sure and is_quoted:
        return True
    if any(_MADE_OF_WORDS.match(part.lower()) for part in parts):
        return False
    return is_sure or all(len(part) > 2 and part.isalpha() and part.islower() for part in parts)


def is_stand_in(value: str) -> bool:
    """Whether a value is a placeholder for a secret, or only a word for one."""
    return _is_other(value, value.lower(), len(_SWITCH.findall(value)))


def looks_random(value: str) -> bool:
    """Whether a value mixes letters and digits as no word or name does."""
    has_both = _DIGIT.search(value) is not None and _LETTER.search(value) is not None
    return has_both and look_of(value) >= Look.CHOSEN and not _is_readable(value)


def _look_of_words(value: str, words: list[str]) -> Look:
    """What a text with spaces looks like: a password if one of its few words is nothing else."""
    if _GROUPS.fullmatch(value):
        return Look.CHOSEN
    if len(words) > _MOST_WORDS or value != " ".join(words) or is_stand_in(value):
        return Look.OTHER
    is_marked = any(look_of(word.rstrip(",.;:")) == Look.MARKED for word in words)
    return Look.CHOSEN if is_marked else Look.OTHER


def _is_other(value: str, lower: str, switches: int) -> bool:
    if _MADE_OF_WORDS.match(lower) or _CONSTANT.fullmatch(value):
        return True
    if _FILLER.search(lower):
        rest = re.sub(_FILLER.pattern, "", value, flags=re.IGNORECASE)
        return not (_is_random(rest) or _ADDED.search(rest))
    if _SHAPE.match(lower) is None:
        return False
    # Base64 has slashes, too.
    return not (value[:1] == "/" and switches > 3 and any(map(_is_random, value.split("/"))))


def _is_random(value: str) -> bool:
    return len(value) > 7 and len(_SWITCH.findall(value)) > 3


def _is_long(value: str, switches: int) -> bool:
    # The long name of something has digits and capitals, too, but few of them.
    least = 4 if len(value) < 20 else 2
    return len(value) >= 12 and switches >= least and switches * 14 > len(value)


def _is_joined(value: str) -> bool:
    """Whether a value is several words that name nothing a program has."""
    return _HUMPS.fullmatch(value) is not None and not _REFERENCE.search(value)


def _word(value: str) -> Look:
    if len(value) < 6:
        return Look.OTHER
    return Look.NAME if value.isdigit() else Look.WORD


def _is_readable(value: str) -> bool:
    """Whether a value is words and numbers with separators: a name, not a secret."""
    parts = [part for part in _PART.split(value) if part]
    return len(parts) > 1 and all(
        _WORDLIKE.fullmatch(part) and not _is_cased_wildly(part, 7) for part in parts
    )


def _is_cased_wildly(value: str, least: int) -> bool:
    """Whether small and capital letters are mixed as in no name, such as in `jOTtLf2`."""
    return (
        len(value) >= least
        and not value.islower()
        and len(_CASED_WORD.findall(value)) * 3 > len(value)
    )


def _is_identifier(value: str) -> bool:
    return "_" not in value and "-" not in value and _HUMPS.fullmatch(value) is not None
