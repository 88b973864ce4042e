"""Why an answer took its time, in words."""

from __future__ import annotations

import pytest

from ollm_tui.core.session.message import Usage
from ollm_tui.tui.gauge.gauge_line import speed_of
from ollm_tui.tui.stream.entries.message_entries import (
    cached_words,
    usage_words,
    why_slow,
)

ALL = Usage(
    input_tokens=2000,
    output_tokens=40,
    cached_tokens=1900,
    load_seconds=3.21,
    prompt_seconds=0.5,
    output_seconds=2.0,
)


@pytest.mark.parametrize(
    ("usage", "words"),
    (
        (
            ALL,
            "1,900 of 2,000 cached · loaded in 3.2 s · read 100 in 0.5 s, 200 tok/s · "
            "wrote 40 in 2.0 s, 20 tok/s",
        ),
        (Usage(input_tokens=9, output_tokens=4), "4 tokens"),
        (Usage(input_tokens=9, output_tokens=4, load_seconds=0.01), "4 tokens"),
        (
            Usage(input_tokens=2000, output_tokens=4, prompt_seconds=0.02),
            "read 2,000 at once · 4 tokens",
        ),
        (
            Usage(input_tokens=9, output_tokens=400, output_seconds=200),
            "wrote 400 in 200 s, 2 tok/s",
        ),
    ),
)
def test_below_a_message_stands_what_was_measured(usage: Usage, words: str) -> None:
    assert usage_words(usage) == words


def test_what_took_longest_is_named_first() -> None:
    assert why_slow(ALL).startswith("mostly loading the model: loaded in 3.2 s; read 100")
    reading = Usage(input_tokens=4000, output_tokens=4, prompt_seconds=30, output_seconds=1)
    assert why_slow(reading).startswith(
        "mostly reading the prompt: read 4,000 in 30.0 s, 133 tok/s"
    )
    assert (
        why_slow(Usage(input_tokens=1, output_tokens=4, output_seconds=2))
        == "wrote 4 in 2.0 s, 2 tok/s"
    )
    assert why_slow(Usage(input_tokens=1, output_tokens=4)) == ""


def test_what_was_known_already_is_told_where_the_server_says_so() -> None:
    assert cached_words(ALL) == "1,900 of 2,000 tokens cached"
    assert cached_words(Usage(input_tokens=9, cached_tokens=0)) == "nothing cached"
    assert cached_words(Usage(input_tokens=9)) == ""
    assert speed_of(ALL) == "20 tok/s" and speed_of(None) == ""
