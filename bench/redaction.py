"""Finding secrets: hostile text must not take long, and chunks not much longer than the whole."""

from __future__ import annotations

import random
import time
from pathlib import Path

from bench.measure import Outcome, Promise, interleaved, milliseconds
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.redaction.stream_redactor import StreamRedactor

CHARACTERS = 1_000_000
CHUNK = 80
ROUNDS = 3
LISTED = 8
HOSTILE = (
    *(
        "\x1b[",
        "\x1b",
        "a\x00",
        "a",
        "-",
        " ",
        '"',
        "\\",
        "A1b2",
        ".",
        "%41",
        "字",
        "password",
        "password=",
        'password="',
    ),
    *(
        "token=",
        "token=a ",
        "token = ",
        "token=a1b2c3 ",
        "TOKEN=abc\n",
        "token,\n",
        "token,a\n",
        "secret=token=pass=",
        "passphrase: a b ",
        "password for a (b) ",
        "password: a.b || ",
        "password: ",
        "token:a1b2c3d4|",
        "_key=",
        "pwd:abcdef ",
        "pwd:abc123 ",
        "bearer a",
        "://",
    ),
    *(
        "://a:",
        "12345678:AA",
        "eyJ",
        "eyJaaaaaaaaaa.",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN ",
    ),
    *("sk-", "-sk-a1b2c3d4", "-ghs_your", "-ghs_a1", "SK", "sig=a", "cookie: a=b ", "api_key='"),
    *("密码", "密码：", "口令,", "pw ", "pw\n", "pass ", "key ", "auth: ", "otp ", "a=b;", '{"a":'),
    *('{"password":', '{"token":"a",', "Bearer ", "Authorization: Bearer ", "QUJDREVGR0hJSktM"),
    *("-----BEGIN RSA PRIVATE KEY-----\n", "user,password\n", "| password | token |\n", "-u a -p "),
    *("postgres://a:b@c ", "sshpass -p ", "<password>a</password>", "SG.", "hf_", "--token="),
)
MIXED = (
    "密码 口令 密碼",
    "pw pass pwd psk mdp otp auth",
    "pw, pw. pw\n pw- pw",
    "token= secret= key= pw= pass= otp= auth:",
    "password is the for my token now set",
    """pw" pw' pw=\\" pw` pw=\"""",
    "pw( pw[ pw{ pw|| pw? a,",
    "pw=a1b2c token=abc123d pw:a.b.c secret:foo",
    """<pw> </pw> <pw a="b"> pw>""",
    "pw, user\n a,b\n |pw| \t",
    "sk- ghp_ xoxb- AKIA eyJ . - _ a1",
    "use try login a/ b",
)
"""Their words follow one another in any order, so that no part of the text is like another."""
WORST = Promise("1 MB of the worst hostile text, CPU", "one second", 1)
STREAM = Promise(f"1 MB of code in chunks of {CHUNK}, CPU", "at once", 12)
PROMISES = (WORST, STREAM)


def main() -> list[Outcome]:
    """Measure hostile texts, then our own code as a whole and as a stream."""
    redactor = Redactor()
    texts = {unit: _filled(unit) for unit in HOSTILE} | {words: _mixed(words) for words in MIXED}
    redactor.redact(" ".join(texts))  # compiles most patterns
    roughly = {unit: _cost_of(redactor, text[: CHARACTERS // 5]) for unit, text in texts.items()}
    suspects = sorted(texts, key=lambda unit: -roughly[unit])[:LISTED]
    costs = {unit: min(_cost_of(redactor, texts[unit]) for _ in range(ROUNDS)) for unit in suspects}
    worst = max(costs, key=lambda unit: costs[unit])
    print(f"the worst of {len(texts)} hostile texts repeats {worst!r}: {_speed(costs[worst])}")
    for unit in sorted(costs, key=lambda unit: -costs[unit])[1:]:
        print(f"  then {unit!r}: {_speed(costs[unit])}")
    code = _filled("".join(path.read_text() for path in sorted(Path("ollm_tui").rglob("*.py"))))
    runs = interleaved(
        {
            "whole": lambda: _cost_of(redactor, code),
            "stream": lambda: _cost_of_stream(redactor, code),
        },
        ROUNDS,
    )
    whole, stream = min(runs["whole"]), min(runs["stream"])
    print(f"our own code: {_speed(whole)}; in chunks of {CHUNK}: {_speed(stream)}")
    return [Outcome(WORST, costs[worst]), Outcome(STREAM, stream / whole)]


def _filled(unit: str) -> str:
    return (unit * (CHARACTERS // len(unit) + 1))[:CHARACTERS]


def _mixed(words: str) -> str:
    units = [word + " " * (number % 2) for number, word in enumerate(words.split(" "))]
    return "".join(random.Random(5).choices(units, k=CHARACTERS))[:CHARACTERS]


def _cost_of(redactor: Redactor, text: str) -> float:
    start = time.process_time()
    redactor.redact(text)
    return time.process_time() - start


def _cost_of_stream(redactor: Redactor, text: str) -> float:
    start = time.process_time()
    stream = StreamRedactor(redactor)
    for at in range(0, len(text), CHUNK):
        stream.feed(text[at : at + CHUNK])
    stream.end()
    return time.process_time() - start


def _speed(seconds: float) -> str:
    return f"{milliseconds(seconds)} a MB, {CHARACTERS / seconds / 1e6:.1f} MB/s"
