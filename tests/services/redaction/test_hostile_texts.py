"""Hostile texts: whatever is repeated a hundred thousand times, the work grows with the length."""

from __future__ import annotations

import time

import pytest

from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.redaction.rule import compiled
from ollm_tui.services.redaction.scan import RULES
from ollm_tui.services.redaction.stream import StreamRedactor

UNITS = (
    *("a", "-", " ", "=", ":", '"', "\\", "0", "A1b2", "字", "\x1b[", ".", "_", "%41", "\n"),
    *("password", "password=", 'password="', "password: ", "token:a1", "token:a1b2c3d4|", "key="),
    *("api_key='", "secret  ", "pwd:abcdef ", "authorization: bearer ", "bearer a", "cookie: a=b "),
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
    *(" ".join(rule.anchors) + " " for rule in RULES[::9]),
)
SMALL, LARGE = 30_000, 240_000


def cost(text: str) -> float:
    """CPU seconds, the least of a few: other work on the machine only adds to it."""
    seconds: list[float] = []
    for _ in range(3):
        start = time.process_time()
        Redactor().redact(text)
        seconds.append(time.process_time() - start)
    return min(seconds)


@pytest.mark.parametrize("unit", UNITS)
def test_eight_times_the_text_takes_about_eight_times_the_work(unit: str) -> None:
    small, large = (cost(unit * (size // len(unit))) for size in (SMALL, LARGE))
    # Quadratic work would be 64 times as much.
    assert large <= 24 * small + 0.05


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.anchors[0])
def test_no_pattern_repeats_without_a_bound(rule: object) -> None:
    for source in (getattr(rule, "pattern", ""), getattr(rule, "unfinished", "")):
        assert compiled(source)
        assert "*" not in source.replace("&*", "").replace("[*", "").replace("^*", "")


def test_a_stream_of_tiny_chunks_is_not_looked_at_again_and_again() -> None:
    stream = StreamRedactor(Redactor())
    text = "Ab1x" * 15_000
    start = time.process_time()
    for at in range(0, len(text), 5):
        stream.feed(text[at : at + 5])
    stream.end()
    assert time.process_time() - start < 60
