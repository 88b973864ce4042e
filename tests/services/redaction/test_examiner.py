"""The hold-out of a second examiner: what is hidden, what is left alone, also in streams."""

from __future__ import annotations

import re

from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.redaction.stream_redactor import StreamRedactor
from tests.conftest import GATES, LONG, Tell
from tests.services.redaction.examiner_contextual import CONTEXTUAL
from tests.services.redaction.examiner_harmless import HARMLESS
from tests.services.redaction.examiner_structured import STRUCTURED

PART = 8
"""So many characters of a secret in a row are a leak."""


def leaks(text: str, secret: str) -> bool:
    """Whether the redacted text still holds a part of the secret."""
    hidden = re.sub(r"\[REDACTED:[^\]]*\]", "\0", Redactor().redact(text))
    length = min(PART, len(secret))
    return any(secret[at : at + length] in hidden for at in range(len(secret) - length + 1))


def streamed(text: str, cut: int) -> str:
    """The text as a stream that comes in two pieces."""
    stream = StreamRedactor(Redactor())
    return stream.feed(text[:cut]) + stream.feed(text[cut:]) + stream.end()


def test_the_hold_out_is_as_large_as_promised() -> None:
    assert len(STRUCTURED) >= 120
    assert len(CONTEXTUAL) >= 100
    assert len(set(HARMLESS)) >= 150


def test_every_official_format_is_hidden_to_the_last_part(record_property: Tell) -> None:
    missed = [name for name, text, secret in STRUCTURED if leaks(text, secret)]
    record_property("structured", f"{len(STRUCTURED) - len(missed)}/{len(STRUCTURED)}")
    assert missed == []


def test_what_only_the_words_around_it_give_away_is_hidden(record_property: Tell) -> None:
    missed = [name for name, text, secret in CONTEXTUAL if leaks(text, secret)]
    record_property("contextual", f"{len(CONTEXTUAL) - len(missed)}/{len(CONTEXTUAL)}")
    assert len(missed) <= len(CONTEXTUAL) * 0.05, missed


def test_look_alikes_are_left_alone(record_property: Tell) -> None:
    alarmed = [text for text in HARMLESS if Redactor().find(text)]
    record_property("false", f"{len(alarmed)}/{len(HARMLESS)}")
    assert len(alarmed) <= len(HARMLESS) * 0.02, alarmed


def test_a_stream_cut_anywhere_hides_the_same() -> None:
    texts = [text for _, text, _ in (*STRUCTURED, *CONTEXTUAL) if len(text) <= PART * 25]
    step = 1 if LONG or GATES else 3
    for number, text in enumerate((*texts, *HARMLESS)):
        whole = Redactor().redact(text)
        for cut in range(1 + number % step, len(text), step):
            assert streamed(text, cut) == whole, (text, cut)
