"""Finding secrets: hostile text must not take long, and chunks not much longer than the whole."""

from __future__ import annotations

import time
from pathlib import Path

from bench.measure import Outcome, Promise, interleaved, milliseconds
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.redaction.stream_redactor import StreamRedactor

CHARACTERS = 1_000_000
CHUNK = 80
ROUNDS = 3
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
)
WORST = Promise("1 MB of the worst hostile text, CPU", "one second", 1)
STREAM = Promise(f"1 MB of code in chunks of {CHUNK}, CPU", "at once", 12)
PROMISES = (WORST, STREAM)


def main() -> list[Outcome]:
    """Measure hostile texts, then our own code as a whole and as a stream."""
    redactor = Redactor()
    costs = {
        unit: min(_cost_of(redactor, _filled(unit)) for _ in range(ROUNDS)) for unit in HOSTILE
    }
    worst = max(costs, key=lambda unit: costs[unit])
    print(f"the worst of {len(HOSTILE)} hostile texts repeats {worst!r}: {_speed(costs[worst])}")
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
