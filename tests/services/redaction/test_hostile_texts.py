"""Hostile texts: whatever is repeated many thousands of times, the work grows with the length."""

from __future__ import annotations

import re
from random import Random

from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.redaction.rule import Rule
from ollm_tui.services.redaction.scan import RULES, Allowance
from ollm_tui.services.redaction.stream_redactor import StreamRedactor
from tests.cases import every
from tests.conftest import LONG

UNITS = (
    *("a", "-", " ", "=", ":", '"', "\\", "0", "A1b2", "字", "\x1b[", ".", "_", "%41", "\n"),
    *("password", "password=", 'password="', "password: ", "token:a1", "token:a1b2c3d4|", "key="),
    *(
        "token=",
        "secret=token=pass=",
        "api_key='",
        "secret  ",
        "pwd:abcdef ",
        "authorization: bearer ",
        "bearer a",
        "cookie: a=b ",
    ),
    *("cookie:a=bcdefgh1;", "://a:", "://", ":AA", "12345678:AA", "eyJ", "eyJaaaaaaaaaa.", "-eyJ"),
    *("-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "-----END ", "Private-Lines: 3\nAAAA\n"),
    *("sk-", "-sk-a1b2c3d4", "ghp_", "-ghs_your", "-ghs_a1", "xoxb-", "SK", " -u a:", "sig=a"),
    *(
        "password: a = ",
        "identified by '",
        "name=password,value=",
        "LS0tLS1CRUdJTi",
        "fm2_,",
        "dp.a.",
    ),
    *(
        "@tcp(",
        "a:b@tcp(",
        "pass* ",
        "密码:a1b2c3 ",
        "pdo(",
        "echo a|",
        "password for a b ",
        "mysql a ",
    ),
    *("creds: a:b1234 ", ":5432:a:", "*:*:", "$6$a$", "M-", "password - ", "**password:** `"),
    *("token,\n", "token,a\n", "token=a ", "TOKEN=abc\n", "token = ", "password 1: ", "key 1: "),
    *(
        "passphrase: a b ",
        "password for a (b) ",
        "password(a, ",
        "<password a=",
        "password: a.b || ",
    ),
    *("pwd:", "pw:", "pw:$(", "token {type=a\n", '"d":"', "12345678:", "deadbeef-", " -b a=b"),
    *(" ".join(rule.anchors) + " " for rule in RULES[::9]),
)
CHARACTERS = 100_000 if LONG else 30_000
"""So many that work which grows with the square of them would not end, or take minutes."""


def streamed(text: str) -> str:
    stream = StreamRedactor(Redactor(["abcd1234efgh"]))
    pieces = [stream.feed(text[at : at + 999]) for at in range(0, len(text), 999)]
    return "".join(pieces) + stream.end()


@every("unit", UNITS)
def test_a_flood_of_anything_is_read_in_linear_time(unit: str) -> None:
    flood = unit * (CHARACTERS // len(unit))
    assert Redactor(["abcd1234efgh"]).redact(flood) == streamed(flood)


@every("rule", RULES)
def test_no_pattern_repeats_without_a_bound(rule: Rule) -> None:
    for source in (rule.pattern, rule.unfinished):
        without_classes = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "c", source)
        assert not re.search(r"[*]|[c)]\+|\{\d+,\}", without_classes), without_classes


NAMES = ("pw ", "pass: ", "otp\n", "token=", "auth,", "key is ", "密码：", "secret(", "a1b2c3", '"')
SECRET = "kT7#mQ2x9vLp4"


def in_any_order(characters: int) -> str:
    """Names of secrets so dense, and each time between others, that all must be read anew."""
    return "".join(Random(7).choices(NAMES, k=characters // 5))


def test_what_reading_may_cost_comes_back_only_with_the_text() -> None:
    allowed = Allowance()
    characters, reads = 10 * CHARACTERS, 0
    for at in range(characters):
        if allowed.lasts(at):
            allowed.spend(50)
            reads += 1
    assert reads * 50 <= Allowance.AT_ONCE + characters * Allowance.A_CHARACTER + 50
    assert reads * 50 >= characters * Allowance.A_CHARACTER


def test_text_too_full_of_names_is_hidden_the_same_however_it_is_cut() -> None:
    text = in_any_order(4 * CHARACTERS)
    stream = StreamRedactor(Redactor())
    rng, at, pieces = Random(3), 0, list[str]()
    while at < len(text):
        step = rng.choice((1, 7, 80, 999, 20_000))
        pieces.append(stream.feed(text[at : at + step]))
        at += step
    assert "".join(pieces) + stream.end() == Redactor().redact(text)


def test_a_long_log_with_a_key_on_each_line_is_left_alone() -> None:
    log = "the key: is=here, and some words\nsession token: reused for upload\n" * (
        CHARACTERS // 20
    )
    assert Redactor().find(log) == []


def test_in_text_too_full_of_names_what_is_surely_a_secret_is_hidden() -> None:
    flood = in_any_order(4 * CHARACTERS)
    hidden = Redactor().redact(f'{flood}\ntoken_x = "{SECRET}"\n{flood}{"x " * 5000}pw: {SECRET}\n')
    assert SECRET not in hidden


def test_a_stream_of_tiny_chunks_is_not_looked_at_again_and_again() -> None:
    stream = StreamRedactor(Redactor())
    text = "Ab1x" * (CHARACTERS // 4)
    pieces = [stream.feed(text[at : at + 5]) for at in range(0, len(text), 5)]
    assert "".join(pieces) + stream.end() == text
