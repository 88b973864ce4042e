"""Decides whether a value is a secret, or only a word, code or a placeholder for one."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Name = Literal["password", "secret", "key"]
"""What a name says about the value beside it. `password`: anything that is no word may be one.
`secret`: tokens and API keys, made by machines. `key`: any other key, where only a value that
looks like nothing else counts."""

Place = Literal["quoted", "assigned", "bare", "variable", "setting", "given", "prose", "mentioned"]
"""Where a value is. `quoted`: in quotes, perhaps as the label of something. `assigned`: in quotes
behind an equals sign. `bare`: without quotes, as in YAML and INI files, but also in code.
`variable`: NAME=value, as in env files and shells. `setting`: name=value without spaces, where no
code is. `given`: in the query of a URL or as the option of a command, which is never code. `prose`:
in a sentence, a list or a call, where a word is only a word. `mentioned`: there, but in quotes of
its own.

Beside the name of a password, nearly anything counts in a place that holds no code and no labels;
elsewhere a value has to show that it is neither."""

_STAND_IN_PARTS = re.compile(
    r"xxxx|\*\*\*|\.\.\.|••|####|\{\{|\$\{|your|change[-_ ]?(?:me|it)|placeholder"
    r"|replace(?:[-_ ]|me)|insert[-_ ]|example|sample|redacted|goes[-_ ]?here|required|optional"
    r"|nullable|varchar"
    r"|process\.env|os\.environ|minlength|maxlength|\|(?:min|max):|\{[a-z_][\w.]*\}"
    r"|<[a-z_][\w -]*>|%\(\w+\)s|-here\Z|_here\Z"
)
_WHOLE = r"""
    id= | < | \{ | \[ | \$\{ | \$\( | \$[a-z_]\w*\Z | \$\d\Z | \$env: | %[a-z_]\w*%\Z | %[sdrv]\Z
    | @?[*&!][a-z_][\w-]*\Z | \#[0-9a-f]{3,8}\Z | 0x[0-9a-f]{1,16}\Z | \.\. | … | enter[-_ ]
    | (.)\1*\Z
    | (?:(?:my|the|new|old|user|db|some|current|confirm|repeat|forgot|reset|access|refresh|api|auth
        |client|login|bearer|csrf|hashed|plain|raw|is|has|show|hide|in)?
      [-_. ]?(?:pass(?:word|wd|phrase)?|pwd|secret|token|key|credential)s?[-_]?\d{0,2}){1,2}\Z
    """
_WORDS = (
    "none null nil undefined true false yes no on off string str text bytes byte int integer"
    " number float bool boolean object array any void char varchar unknown default empty unset"
    " missing invalid valid expired incorrect wrong confirmed hidden masked removed disabled"
    " enabled secret secrets token tokens key keys apikey password passwords passwd passphrase"
    " pass pwd credential credentials auth bearer basic digest test tests testing demo todo fixme"
    " tbd admin root user username login guest postgres mysql localhost value values type await"
    " async return function new self this import from with input output private public generated"
    " automatic internal external anonymous identifier encrypted encryption authentication"
    " authorization confirmation passwort kennwort contraseña contrasena senha hasło parola пароль"
)
_WORD_SET = frozenset(_WORDS.split())
_NO_SECRET = r"""
    (?: (?: (?:sha|md|hs|rs|es|ps|aes|rsa|ed|utf|base|http|oauth|oidc|argon|tls|ssl|int|uint|secp
        |hmac|pbkdf|uuid|curve|ecdsa|blake|crc) [-_]? \d{1,5}
        (?:url|hash|digest|sum|bits?|hex|id|string|array|[kr]\d|[bs])? | [xpv]\d{1,4} )
        (?:[-_/:.][a-z0-9]{1,12}){0,8} \Z )
    | (?:~|\.{1,2})?/[\w.-]+/ | \.{1,2}/ | ~/ | [a-z]:[\\/] | /[\w.-]+\Z | [\w.-]+:// | /[\^(]
    | [\w-]+:[x*!]?:\d+: | %env\(
    | arn:aws | [\w./-]+\.(?:txt|json|ya?ml|toml|pem|key|crt|env|py|js|ts|md|html?|conf|ini)\Z
    """
"""Names of algorithms, paths, addresses, lines of /etc/passwd and file names, in lower case."""
_STAND_IN_WHOLE = re.compile(_WHOLE, re.VERBOSE)
_NO_SECRET_AT_ALL = re.compile(_NO_SECRET, re.VERBOSE)
_LEAST_RANDOM = 8
_LEAST_CASED = 7
_LEAST_SWITCHES = 4
"""Characters, and changes between letters, digits and cases, of what no name or path has."""
_HOLDS_VALUES = ("variable", "setting", "given", "assigned")
"""Places that hold neither code nor labels."""
_IN_QUOTES = ("quoted", "assigned", "setting")
_LEAST_WORD = 6
"""Characters of a password that is nothing but a word."""
_LEAST_NUMBER = 6
"""Digits of a password that is nothing but a number."""
_CODE_WORD = re.compile(
    r"(?i)(?:args?|param|var|val|value|tmp|temp|user|str|string|u?int|float|test|step|col|field"
    r"|row|item|data|input|line|name|obj|opt|option|part|group|match|node|self|this|ctx|req|res|foo"
    r"|bar|baz|pass(?:w(?:or)?d|phrase)?|pwd|pw|secret|token|key|hash|salt|version|level|page|char"
    r"|[a-z]{1,2})(?:_[a-z_]*)?[0-9_]*"
)
"""Names that programs number: arg1, user_name2."""
_REFERENCE = re.compile(
    r"(?i)pass|secret|token|key|cred|pwd|field|input|text|valid|hash|label|type|string|env|config"
)
"""What names of variables, types and labels have in them."""
_NAME_OF_ANOTHER = re.compile(
    r"[A-Z]+(?:_[A-Z]+)+|[A-Za-z_-]*[a-z_-](?:Pass(?:word|phrase)|Secret|Token|Key)"
)
"""A constant or a variable, which only refers to a secret."""
_HUMPS = re.compile(r"[A-Za-z]*[a-z][_-]?[A-Z][A-Za-z_-]*")
"""Words that are told apart by capitals: TangerineDream, Blue_Heron."""
_CODE_PATH = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*[!?]?)+;?")
_CALL = re.compile(r"[\w.$:>?!-]*[()\[\]{}]")
_PART = re.compile(r"[-_./:, |@+]+")
_WORDLIKE = re.compile(
    r"(?i)[a-z]*[0-9]{0,2}|[0-9]{1,8}[a-z]{0,2}|[a-z][0-9]{1,2}[a-z]|(?:sha|md|utf|aes|x)[0-9]{1,3}"
)
_SYMBOL = re.compile(r"(?<!\A)[@#$%^&*+=~!]")
_MARK = re.compile(r"(?<!\A)[#$%^&~!](?!\Z)|[A-Za-z0-9]!\Z")
"""Symbols that neither URLs nor code have inside of a word."""
_DIGIT = re.compile("[0-9]")
_MIXED = re.compile(r"(?=[^0-9]*+[0-9])[^A-Za-z]*+[A-Za-z]")
_LETTER = re.compile("[A-Za-z]")
_SWITCH = re.compile(r"[0-9][A-Za-z]|[A-Za-z][0-9]|[a-z][A-Z]")
_EVERY_SWITCH = re.compile(f"(?={_SWITCH.pattern})")
_CASED_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]")
_CASED_OR_SPLIT = re.compile(
    r"[0-9][A-Za-z].*[0-9]|[a-z].*[A-Z].*[0-9]|[A-Z].*[a-z].*[0-9]|[0-9].*[A-Z]"
)
_HYPHENATED = re.compile(r"[a-z]{3,12}(?:-[a-z]{3,12}){3,5}")
_AWS_SECRET = re.compile(r"(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])(?=[^0-9]*[0-9])[A-Za-z0-9+/]{40}")


@lru_cache(maxsize=256)
def is_stand_in(value: str) -> bool:
    """Whether a value is a placeholder for a secret, or only a word."""
    lower = value.lower()
    return (
        lower in _WORD_SET
        or _has_stand_in_part(value, lower)
        or _STAND_IN_WHOLE.match(lower) is not None
    )


def _has_stand_in_part(value: str, lower: str) -> bool:
    """Whether a placeholder's word is in a value, and no random rest beside it."""
    if _STAND_IN_PARTS.search(lower) is None:
        return False
    return not _is_random(re.sub(_STAND_IN_PARTS.pattern, "", value, flags=re.IGNORECASE))


def _is_random(value: str) -> bool:
    """Whether a value is long and changes between letters, digits and cases as no name does."""
    return len(value) >= _LEAST_RANDOM and len(_EVERY_SWITCH.findall(value)) >= _LEAST_SWITCHES


@lru_cache(maxsize=256)
def is_secret(value: str, name: Name, place: Place) -> bool:
    """Whether the value beside a name is a secret."""
    if len(value) < 5 or (not value.isalnum() and len(value.split()) != 1):
        return False
    if not _FITS[name](value, place):
        return False
    if len(value) == 40 and _AWS_SECRET.fullmatch(value):
        return True
    if place == "bare" and _is_code(value, name):
        return False
    if place in ("variable", "setting") and _CALL.match(value):
        return False
    if place == "setting" and _CODE_PATH.fullmatch(value):
        return False
    if _NAME_OF_ANOTHER.fullmatch(value):
        return False
    lower = value.lower()
    # Not by is_stand_in, for speed: this runs for every value of a hostile text.
    if lower in _WORD_SET or _has_stand_in_part(value, lower) or _STAND_IN_WHOLE.match(lower):
        return False
    return _NO_SECRET_AT_ALL.match(lower) is None or _is_random_path(value)


def _is_random_path(value: str) -> bool:
    """Whether a value is no path although it begins like one: base64 has slashes, too."""
    return value[0] == "/" and any(map(_is_random, value.split("/")))


def looks_random(value: str) -> bool:
    """Whether a value mixes letters and digits as no word or name does."""
    return is_mixed(value) and not _is_readable(value) and not is_stand_in(value)


def is_mixed(value: str) -> bool:
    """Whether a value has both letters and digits."""
    return _MIXED.match(value) is not None


def is_wild(value: str) -> bool:
    """Whether a value is letters only, with small and capital ones mixed as in no identifier."""
    if len(value) < 10 or not value.isalpha() or value.islower():
        return False
    return len(_CASED_WORD.findall(value)) * 3 > len(value)


def needs_no_name(value: str) -> bool:
    """Whether a value can hardly be anything but a secret, even with only a space before it."""
    if len(value) < 8 or not looks_random(value) or _CALL.match(value):
        return False
    if _MARK.search(value):
        return True
    return len(value) >= 12 and len(_SWITCH.findall(value)) >= 4


def is_chosen(value: str) -> bool:
    """Whether people choose such passwords, and hardly anything else is written so."""
    if len(value) < 7 or not looks_random(value) or _CALL.match(value):
        return False
    # One word with a number behind it may be the name of anything: sha256, field2.
    return _MARK.search(value) is not None or _CASED_OR_SPLIT.search(value) is not None


def is_hyphenated(value: str) -> bool:
    """Whether a value is made of four to six plain words, as people are told to make passwords."""
    return _HYPHENATED.fullmatch(value) is not None


def _may_be_password(value: str, place: Place) -> bool:
    if _MIXED.match(value):
        return place != "prose" or not _is_readable(value) or _is_numbered_name(value)
    if len(value) < _LEAST_WORD:
        return False
    if place in _HOLDS_VALUES or is_hyphenated(value):
        return True
    if _SYMBOL.search(value):
        return _LETTER.search(value) is not None
    if "_" in value and _is_made_of_words(value):
        return True
    if value.isdigit():
        return len(value) >= _LEAST_NUMBER
    if place in ("quoted", "mentioned") and value.isascii():
        if value.islower() and place == "quoted":
            return len(value) >= 8 and "." not in value and value.count("-") in (0, 3, 4)
        return _is_made_of_words(value)
    return is_wild(value)


def _is_made_of_words(value: str) -> bool:
    """Whether a value is words joined by capitals and names nothing that a program has."""
    return _HUMPS.fullmatch(value) is not None and not _REFERENCE.search(value)


def _is_numbered_name(value: str) -> bool:
    """Whether a value is words and a number, as people make up passwords: Blue-Cheese-66."""
    if not value[-1].isdigit() or _CODE_WORD.fullmatch(value):
        return False
    return "_" in value or (len(value) >= 10 and value[-2].isdigit() and not value.islower())


def _may_be_made(value: str, place: Place) -> bool:
    """Whether a machine may have made this value as a token."""
    if place == "given":
        return len(value) >= 6
    if len(value) < 8:
        return False
    if is_mixed(value):
        if place == "prose":
            return len(value) >= 12 and not _is_readable(value)
        if place == "variable" or (place in _IN_QUOTES and len(_DIGIT.findall(value)) >= 2):
            return True
        if place == "assigned" and len(value) >= 10 and "_" in value:
            return _CODE_WORD.fullmatch(value) is None
        return not _is_readable(value) or (len(value) >= 10 and _has_symbol(value))
    if place == "variable" and not _PART.search(value):
        return True
    if place in _IN_QUOTES or place == "variable":
        return len(value) >= 12 and "_" in value and _is_made_of_words(value)
    return len(value) >= 20 and len(_SWITCH.findall(value)) >= 5


def _may_be_key(value: str, place: Place) -> bool:
    if len(value) < 16 or _is_readable(value):
        return False
    return is_mixed(value) or (place != "prose" and _changes_case_wildly(value))


_FITS = {"password": _may_be_password, "secret": _may_be_made, "key": _may_be_key}


def _changes_case_wildly(value: str) -> bool:
    """Whether the words of a value would be too short for an identifier."""
    return len(value) >= 20 and len(_CASED_WORD.findall(value)) * 3.5 > len(value)


def _has_symbol(value: str) -> bool:
    return _SYMBOL.search(value) is not None


def _is_readable(value: str) -> bool:
    """Whether a value is words and numbers with separators: a name, not a secret."""
    parts = [part for part in _PART.split(value) if part]
    return len(parts) > 1 and all(
        _WORDLIKE.fullmatch(part) and not _is_cased_wildly(part) for part in parts
    )


def _is_cased_wildly(part: str) -> bool:
    """Whether small and capital letters are mixed as in no name, such as in `jOTtLf2`."""
    return len(part) >= _LEAST_CASED and len(_CASED_WORD.findall(part)) * 3 > len(part)


def _is_code(value: str, name: Name) -> bool:
    """Whether a value looks like code without quotes: a variable, a call, an index."""
    if not value.isalnum():
        if _CALL.match(value):
            return True
        if _CODE_PATH.fullmatch(value):
            return len(_SWITCH.findall(value)) < 6
        if not value.rstrip(";").replace("_", "").isalnum():
            return False
    if value[0].isdigit():
        return False
    if name == "password":
        return _CODE_WORD.fullmatch(value) is not None and len(_EVERY_SWITCH.findall(value)) < 3
    if len(value) >= 20 and value.islower() and "_" not in value and _MIXED.match(value):
        return False
    return len(_DIGIT.findall(value)) < 4 and len(_SWITCH.findall(value)) < 3
