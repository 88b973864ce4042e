"""Rules for passwords beside a user's name, as in user:password@host, and for password hashes."""

from __future__ import annotations

import re

from ollm_tui.services.redaction.rule import REACH_BACK, Rule, Span, compiled, token
from ollm_tui.services.redaction.values import is_secret, is_stand_in, looks_random

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


_NO_ADDRESS = r"\x00-\x20\"'`<>\\\x7f-\U0010ffff"
_PGPASS = (
    rf"(?::[^:{_NO_ADDRESS}]{{1,63}}){{2}}:(?P<secret>[^:,{_NO_ADDRESS}]{{4,90}}+)(?![:,\"'`])"
)
"""What follows the port in a .pgpass file: database, user, password."""
_QUOTES = "[\"'`]"


def _password(match: re.Match[str]) -> Span | None:
    """The password in a URL, or a token in place of user and password."""
    if match["token"]:
        return match.span("token") if looks_random(match["token"]) else None
    value = match["secret"]
    if len(value) < 3 or value == match["user"] or is_stand_in(value):
        return None
    return match.span("secret")


def _option(match: re.Match[str]) -> Span | None:
    known = is_secret(match["secret"], "password", "quoted")
    return match.span("secret") if known else None


def _of_user(match: re.Match[str]) -> Span | None:
    """The password behind a user's name, of several words if they are in quotes."""
    if match["words"] is None:
        return _option(match)
    return None if is_stand_in(match["words"]) else match.span("words")


def _pair(match: re.Match[str]) -> Span | None:
    """The password of a match, of which anything but a word counts."""
    known = is_secret(match["secret"], "password", "value")
    return match.span("secret") if known else None


def _said(match: re.Match[str]) -> Span | None:
    known = is_secret(match["secret"], "password", "code")
    return match.span("secret") if known else None


def _before_host(match: re.Match[str]) -> Span | None:
    """The password before the match, in user:password@tcp(host) as Go writes it."""
    at = match.start()
    before = match.string[max(0, at - REACH_BACK) : at]
    if ":" not in before:
        return None
    words = before.split()
    login = compiled(_QUOTES).split(words[-1])[-1] if words else ""
    secret = login.partition(":")[2]
    if len(secret) < 3 or not login.isascii() or is_stand_in(secret):
        return None
    return at - len(secret), at


def _identified(match: re.Match[str]) -> Span | None:
    """The password in a statement of SQL, which only few write without quotes."""
    if match["bare"] is None:
        return _unless_stand_in(match)
    known = is_secret(match["bare"], "password", "said")
    return match.span("bare") if known else None


def _unless_stand_in(match: re.Match[str]) -> Span | None:
    return None if is_stand_in(match["secret"]) else match.span("secret")


def _used(match: re.Match[str]) -> Span | None:
    """The password in a sentence that names it only afterwards: use … as the password."""
    group = "secret" if match["secret"] else "bare"
    known = is_secret(match[group], "password", "quoted" if match["secret"] else "said")
    return match.span(group) if known else None


_CREDENTIALS = (
    *("credentials", "creds", "login", "log in with", "zugangsdaten", "anmeldedaten"),
    *("identifiants", "credenciales"),
)
_USING = ("use ", "using ", "try ", "enter ", "verwende ", "nimm ", "utilise ", "utilisez ", "usa ")
_AS = r"(?:as|als|comme|como)"

LOGINS: tuple[Rule, ...] = (
    Rule(
        "url",
        ("://",),
        rf"://(?:(?P<token>[A-Za-z0-9_.\-]{{16,200}}+)(?::x-oauth-basic|:)?@"
        rf"|(?P<user>[^/:@\[{_NO_ADDRESS}]{{0,128}}+):(?![0-9]{{1,5}}/|:?//)"
        rf"(?P<secret>[^@{_NO_ADDRESS}]{{1,256}}+(?:@[^@/{_NO_ADDRESS}]{{1,64}}+(?=@))?)@)",
        _password,
    ),
    Rule(
        "password",
        _USING,
        r"(?i)[a-z]{3,9}[ ](?:[\"'`](?P<secret>[^\s\"'`]{5,60})[\"'`]|(?P<bare>[^\s\"'`]{5,60}+))"
        rf"[ ]{_AS}[ ](?:the[ ]|your[ ]|my[ ]|mot[ ]de[ ])?"
        r"(?:pass(?:word|wort|phrase|e)|kennwort|contraseña|senha)"
        r"(?![\w-]|[ ](?:hash|algorithm|field))",
        _used,
        any_case=True,
        unfinished=(
            r"(?i)[a-z]{3,9}[ ](?:[\"'`]?[^\s\"'`]{0,60}+[\"'`]?"
            rf"(?:[ ](?:[ac]\w{{0,4}}|{_AS}(?:[ ][a-zñ]{{0,10}}){{0,3}})?)?)?\Z"
        ),
    ),
    Rule("password", ("@tcp(", "@unix("), r"(?<=[!-~]{5})@(?:tcp|unix)\(", _before_host),
    Rule(
        "password",
        ("jdbc:oracle:", "sqlplus "),
        r"(?:jdbc:oracle:[a-z0-9]{1,5}:|sqlplus[ \t]{1,4}(?:-[A-Z]{1,2}[ \t]{1,4})?)"
        rf"[A-Za-z0-9_$]{{1,40}}/(?P<secret>[^@/{_NO_ADDRESS}]{{3,90}})@",
        _unless_stand_in,
        unfinished=r"sqlplus[ \t]{1,4}(?:-[A-Z]{1,2}[ \t]{0,4})?[!-~]{0,140}+\Z",
    ),
    Rule(
        "password",
        (":5432:", ":5433:", ":6432:"),
        rf":[0-9]{{4}}{_PGPASS}",
        _pair,
    ),
    Rule(
        "password",
        ("*:",),
        rf"(?<![^\s\"'`])\*:(?:\*|[0-9]{{2,5}}){_PGPASS}",
        _pair,
    ),
    Rule(
        "password",
        (
            "auth=(",
            "twilio(",
            "basicauth(",
            "basic_auth(",
            "credential(",
            "credentials(",
            ".auth(",
            ".login(",
        ),
        r"(?i)[a-z_.]{4,11}=?\([ \t]{0,2}[\"'][^\"'\n]{1,60}[\"'],"
        r"[ \t]{0,2}[\"'](?P<secret>[^\"'\n]{4,200}+)",
        _option,
        any_case=True,
        unfinished=r"(?i)[a-z_.]{4,11}=?\([^\n]{0,270}+\Z",
    ),
    Rule(
        "password",
        ("getconnection(", "mysqli_connect(", "mysqli(", "pdo("),
        r"(?i)[a-z_]{3,14}\([^()\n,]{1,120}+,[ \t]{0,2}[\"'][^\"'\n]{1,60}[\"'],"
        r"[ \t]{0,2}[\"'](?P<secret>[^\"'\n]{4,200}+)",
        _option,
        any_case=True,
        unfinished=r"(?i)[a-z_]{3,14}\([^\n]{0,400}+\Z",
    ),
    Rule(
        "password",
        _CREDENTIALS,
        rf"(?i)(?:{'|'.join(_CREDENTIALS)})(?:[ \t]?[:=]|[ \t](?:are|is|sind|sont|son):?|[ \t]as)?"
        r"[ \t]{1,3}[\w.@\-]{1,60}+"
        r"(?:[ \t]/[ \t]|[/:])(?P<secret>[^\s\"'`/]{5,90}+)",
        _said,
        any_case=True,
        unfinished=(
            rf"(?i)(?:{'|'.join(_CREDENTIALS)})[ \t]?(?:[:=]|[a-z]{{1,4}}:?)?"
            r"[ \t]{0,3}[\w.@\-]{0,60}+"
            r"[ \t]?[/:]?[ \t]?[^\s\"'`/]{0,90}+\Z"
        ),
    ),
    Rule(
        "password",
        ("-u ", "--user "),
        r"(?<=[ \t])-(?:u|-user) {1,4}(?:[\"'][^\s:\"'/@]{1,60}:(?P<words>[^\s\"'`\\]{1,60}"
        r"(?:[ ][^\s\"'`\\]{1,60}){1,5})[\"']"
        r"|[\"']?[^\s:\"'/@]{1,60}:(?P<secret>[^\s\"'`\\]{5,200}+))",
        _of_user,
        unfinished=r"-(?:u|-user) {0,4}(?:[\"'][^\n\"'`\\]{0,400}+|[^\s\"'`\\]{0,300}+)?\Z",
    ),
    Rule(
        "password",
        ("sshpass",),
        r"sshpass[ \t]{1,3}-p[ \t]{0,3}[\"']?(?P<secret>[^\s\"'`\\]{4,200}+)",
        _unless_stand_in,
        unfinished=r"sshpass[ \t]{0,3}(?:-p?[ \t]{0,3}[\"']?[^\s\"'`\\]{0,200}+)?\Z",
    ),
    Rule(
        "password",
        ("identified", "set password", "pragma key"),
        r"(?i)(?:identified[ \t]{1,4}(?:with[ \t]{1,4}\S{1,40}[ \t]{1,4})?"
        r"by[ \t]{1,4}(?:password[ \t]{1,4})?"
        r"|pragma[ ]key[ ]?=[ ]?|set[ ]password(?:[ ]for[ ]\S{1,80})?[ ]?=[ ]?(?:password\()?)"
        r"(?:[\"'](?P<secret>[^\"'\n]{4,200}+)|(?P<bare>[^\s\"'`;,]{4,200}+))",
        _identified,
        any_case=True,
        unfinished=(
            r"(?i)(?:identified[ \t]{0,4}(?:w[ith]{0,3}(?:[ \t]{1,4}\S{0,40})?[ \t]{0,4})?"
            r"(?:b|by[ \t]{0,4}(?:[a-z]{0,8}[ \t]{0,4})?)?"
            r"|pragma[ ]key[ ]?=?[ ]?"
            r"|set[ ]password(?:[ ][for]{0,3}[ ]?\S{0,80})?[ ]?=?[ ]?(?:password\(?)?)"
            r"(?:[\"'][^\"'\n]{0,200}+|[^\s\"'`;,]{0,200}+)?\Z"
        ),
    ),
)
